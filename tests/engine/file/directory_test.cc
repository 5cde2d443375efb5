#include "engine/file/directory.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/conformance/conformance.h"
#include "tests/engine/file/data_directory.h"
#include "tests/support/logs.h"
#include "tests/support/status_matchers.h"

namespace engine::file {
namespace {

using support::StatusIs;
using testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

class DirectoryTest : public testing::Test {
 protected:
  DataDirectory data_;
};

TEST_F(DirectoryTest, ASecondOpenerIsRefusedByName) {
  const auto engine = data_.Open();
  EXPECT_THAT(file::Open(conformance::Streams(), data_.options()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       testing::AllOf(HasSubstr(data_.path()), HasSubstr("in use"))));
}

TEST_F(DirectoryTest, TheLockGoesWithTheEngine) {
  data_.Open().reset();
  EXPECT_NE(data_.Open(), nullptr);
}

TEST_F(DirectoryTest, MissingParentsAreMade) {
  Options options = data_.options();
  options.dir += "/deep/er/";
  EXPECT_OK(file::Open(conformance::Streams(), options));
  EXPECT_TRUE(std::filesystem::exists(data_.path() + "/deep/er/head"));
  EXPECT_EQ(ModeOf(data_.path() + "/deep"), 0700U);
}

TEST_F(DirectoryTest, NothingIsOpenToOthers) {
  const mode_t before = umask(0);
  {
    AppendEvent(*data_.Open(), "one");
  }
  umask(before);
  EXPECT_EQ(ModeOf(data_.path()), 0700U);
  for (const auto& [name, bytes] : data_.ReadAll()) {
    EXPECT_EQ(ModeOf(data_.path() + "/" + name), 0600U) << name;
  }
}

TEST_F(DirectoryTest, AccessOfOthersIsTakenAway) {
  {
    AppendEvent(*data_.Open(), "one");
  }
  const std::string head = data_.path() + "/head";
  chmod(data_.path().c_str(), 0755);
  chmod(head.c_str(), 0644);
  data_.Open().reset();
  EXPECT_EQ(ModeOf(data_.path()), 0700U);
  EXPECT_EQ(ModeOf(head), 0600U);
  EXPECT_THAT(support::LogLines(), testing::Contains(HasSubstr("access away")));
}

TEST_F(DirectoryTest, SymbolicLinksInsideAreRefused) {
  {
    AppendEvent(*data_.Open(), "one");
  }
  const std::string segment = data_.path() + "/" + SegmentName(Tx{1});
  std::filesystem::rename(segment, data_.path() + "/elsewhere");
  std::filesystem::create_symlink("elsewhere", segment);
  EXPECT_THAT(file::Open(conformance::Streams(), data_.options()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("symbolic link")));
}

TEST_F(DirectoryTest, APipeInPlaceOfAFileIsRefused) {
  {
    AppendEvent(*data_.Open(), "one");
  }
  const std::string head = data_.path() + "/head";
  std::filesystem::remove(head);
  ASSERT_EQ(mkfifo(head.c_str(), 0600), 0);
  EXPECT_THAT(file::Open(conformance::Streams(), data_.options()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("regular file")));
}

TEST_F(DirectoryTest, TheKnownNetworkFilesystemsAreTold) {
  for (const std::uint64_t type : {0x6969U, 0xFF534D42U, 0x01021997U}) {
    EXPECT_TRUE(IsNetworkFileSystem(type)) << type;
  }
  for (const std::uint64_t type : {0xEF53U, 0x58465342U, 0x9123683EU, 0x01021994U}) {
    EXPECT_FALSE(IsNetworkFileSystem(type)) << type;  // ext4, xfs, btrfs, tmpfs
  }
}

TEST_F(DirectoryTest, SegmentsAreNamedByTheirFirstTx) {
  EXPECT_EQ(SegmentName(Tx{0xABC}), "journal-0000000000000abc");
}

TEST_F(DirectoryTest, OptionsOutOfRangeAreRefused) {
  Options options = data_.options();
  options.segment_bytes = 100;
  EXPECT_THAT(file::Open(conformance::Streams(), options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options = data_.options();
  options.dir = "";
  EXPECT_THAT(file::Open(conformance::Streams(), options),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DirectoryTest, AStreamOfAnotherNameIsRefused) {
  data_.Open().reset();
  Catalogue other = conformance::Streams();
  other[1].name = "renamed";
  EXPECT_THAT(file::Open(other, data_.options()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("renamed")));
}

TEST_F(DirectoryTest, ANewStreamIsAddedAndOneThatIsNotAskedForStays) {
  {
    AppendEvent(*data_.Open(), "one");
  }
  const Catalogue other = {{.id = StreamId{7}, .name = "new", .keyed = true}};
  ASSERT_OK_AND_ASSIGN(const auto engine, file::Open(other, data_.options()));
  ASSERT_OK_AND_ASSIGN(const auto tails, engine->journal().Tails(conformance::Soon()));
  ASSERT_EQ(tails.size(), 4U);
  EXPECT_EQ(tails[3].stream, StreamId{7});
  EXPECT_EQ(tails[1].position, Position{1});
}

TEST_F(DirectoryTest, ReadingOnlyNeedsADirectory) {
  EXPECT_THAT(OpenReadOnly(data_.path()), StatusIs(absl::StatusCode::kNotFound));
  std::filesystem::create_directory(data_.path());
  EXPECT_THAT(OpenReadOnly(data_.path()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(std::filesystem::is_empty(data_.path()));
}

}  // namespace
}  // namespace engine::file
