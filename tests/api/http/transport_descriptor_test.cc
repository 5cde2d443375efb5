// Tasks that wait for other descriptors than those of clients.

#include <array>
#include <atomic>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

#include "tests/api/http/transport_fixture.h"

namespace api {
namespace {

TEST_F(TransportTest, ATaskRunsOnceWhenItsDescriptorCanBeRead) {
  Start();
  for (const bool is_closed_first : {false, true}) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    std::atomic<int> runs = 0;
    std::atomic<bool> watched = false;
    transport_->Post([&] {
      watched = transport_->WhenReadable(pipe[0], [&] {
        EXPECT_TRUE(transport_->OnIoThread());
        ++runs;
      });
    });
    ASSERT_TRUE(Eventually([&] { return watched.load(); }));
    EXPECT_EQ(runs, 0);
    if (is_closed_first) {
      ::close(pipe[0]);  // Another file may have its number now.
      ::close(pipe[1]);
    } else {
      ASSERT_EQ(::write(pipe[1], "xy", 2), 2);
    }
    EXPECT_TRUE(Eventually([&] { return runs == 1; }));
    if (!is_closed_first) {
      ::close(pipe[0]);
      ::close(pipe[1]);
    }
  }
}

TEST_F(TransportTest, WhoeverStillWaitsForADescriptorIsDroppedAtTheEnd) {
  Start();
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  auto held = std::make_shared<int>(1);
  std::atomic<bool> watched = false;
  transport_->Post([&, held] { watched = transport_->WhenReadable(pipe[0], [held] {}); });
  ASSERT_TRUE(Eventually([&] { return watched.load(); }));
  transport_.reset();
  EXPECT_EQ(held.use_count(), 1);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace api
