#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "api/cli/state_json.h"
#include "api/cli/storage.h"
#include "engine/file/file.h"
#include "engine/snapshot.h"
#include "projections/all.h"
#include "schemas/streams.h"
#include "tests/api/cli/kills.h"
#include "tests/support/status_matchers.h"

namespace api::cli {
namespace {

using support::StatusIs;
using testing::HasSubstr;

class CliTest : public KillsTest {
 protected:
  // Changes one byte of the only segment, the first one of the last `text` in it.
  void Damage(const std::string& text) {
    for (const auto& entry : std::filesystem::directory_iterator(flags_.data_dir)) {
      const std::string path = entry.path().string();
      if (entry.path().filename().string().starts_with("journal-")) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        std::stringstream bytes;
        bytes << file.rdbuf();
        const std::size_t at = bytes.str().find(text);
        ASSERT_NE(at, std::string::npos);
        file.clear();
        file.seekp(static_cast<std::streamoff>(at));
        file.put('#');
      }
    }
  }
};

TEST_F(CliTest, StreamsShowsHeadsAndDigests) {
  ASSERT_OK(JournalStreams({flags_}, Format::kText, out_));
  EXPECT_THAT(out_.str(), testing::ContainsRegex("killswitch +5 +5 +0  [0-9a-f]{16}"));
  out_.str("");
  ASSERT_OK(JournalStreams({flags_}, Format::kJson, out_));
  EXPECT_THAT(out_.str(), HasSubstr(R"({"name":"audit","head":5,"tx":5,"floor":0,"digest":")"));
}

TEST_F(CliTest, CatPrintsOneObjectALine) {
  ASSERT_OK(JournalCat({.store = flags_, .stream = "killswitch", .from = 2, .to = 3}, out_));
  const std::string text = out_.str();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_THAT(text, HasSubstr(R"({"stream":"killswitch","position":2,"tx":2,"at":")"));
  EXPECT_THAT(text, HasSubstr(R"("name":"b")"));
  EXPECT_THAT(JournalCat({.store = flags_, .stream = "nothing", .from = 1, .to = {}}, out_),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(CliTest, CatShowsTheAuditAsItWasHashed) {
  ASSERT_OK(JournalCat({.store = flags_, .stream = "audit", .from = 1, .to = 1}, out_));
  EXPECT_THAT(out_.str(), HasSubstr(R"("record":{"seq":1,"time":")"));
  EXPECT_THAT(out_.str(), HasSubstr(R"("action":"experiment.kill","target":"a")"));
}

TEST_F(CliTest, ASoundJournalVerifies) {
  ASSERT_OK(JournalVerify({flags_}, Format::kText, out_));
  EXPECT_THAT(out_.str(), HasSubstr("journal verified: 5 transactions"));
  out_.str("");
  ASSERT_OK(
      AuditVerify({.store = flags_, .expect_head = "", .expect_total = 5}, Format::kText, out_));
  EXPECT_THAT(out_.str(), HasSubstr("audit verified: 5 entries over 5 records, head "));
}

TEST_F(CliTest, AChainThatEndsElsewhereThanExpectedIsRefused) {
  EXPECT_THAT(
      AuditVerify({.store = flags_, .expect_head = "", .expect_total = 6}, Format::kText, out_),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("6 were expected")));
  EXPECT_THAT(
      AuditVerify({.store = flags_, .expect_head = "00", .expect_total = {}}, Format::kText, out_),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("00 was expected")));
}

TEST_F(CliTest, DamageIsRefusedWithItsPlace) {
  Damage("errors");
  EXPECT_THAT(JournalVerify({flags_}, Format::kText, out_),
              StatusIs(absl::StatusCode::kDataLoss, testing::ContainsRegex("journal-.*[0-9]+")));
  EXPECT_THAT(
      AuditVerify({.store = flags_, .expect_head = "", .expect_total = {}}, Format::kText, out_),
      StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(CliTest, ReplayPrintsPositionsDigestsAndState) {
  ReplayFlags flags;
  flags.store = flags_;
  ASSERT_OK(Replay(flags, Format::kText, out_));
  EXPECT_THAT(out_.str(), testing::ContainsRegex("killswitch +5  [0-9a-f]{16}"));
  EXPECT_THAT(out_.str(), HasSubstr("replayed to transaction 5"));

  out_.str("");
  flags.until = "2";
  flags.stream = "killswitch";
  flags.print = true;
  ASSERT_OK(Replay(flags, Format::kJson, out_));
  EXPECT_THAT(out_.str(), HasSubstr(R"({"tx":2,"projections":[{"name":"killswitch")"));
  EXPECT_THAT(out_.str(), HasSubstr(R"({"experiment":"a","by":"ops","reason":"errors")"));
}

TEST_F(CliTest, ReplayUntilATimeBeforeEverythingIsEmpty) {
  ReplayFlags flags;
  flags.store = flags_;
  flags.until = "2001-01-01T00:00:00Z";
  ASSERT_OK(Replay(flags, Format::kText, out_));
  EXPECT_THAT(out_.str(), HasSubstr("replayed to transaction 0"));
  flags.until = "yesterday";
  EXPECT_THAT(Replay(flags, Format::kText, out_), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CliTest, ReplayComparesWithASnapshot) {
  ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(flags_));
  engine::Follower main(projections::MainProjections());
  ASSERT_OK(main.Replay(store->journal(), std::nullopt, engine::Deadline::Infinite()));
  ASSERT_OK_AND_ASSIGN(const auto snapshots,
                       engine::SnapshotDirectory::Open(directory_->path() + "/snapshots"));
  ASSERT_OK(snapshots.Save("main", *main.view()));
  engine::View other = *main.view();
  other.tx = engine::Tx{4};
  ASSERT_OK(snapshots.Save("other", other));
  std::ostringstream out;
  ReplayFlags flags;
  flags.store = flags_;
  flags.compare = snapshots.path() + "/snapshot-main-0000000000000005";
  EXPECT_OK(Replay(flags, Format::kText, out));
  EXPECT_THAT(out.str(), HasSubstr("same state"));
  flags.compare = snapshots.path() + "/snapshot-other-0000000000000004";
  EXPECT_THAT(Replay(flags, Format::kText, out),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("killswitch at transaction 4")));
}

TEST_F(CliTest, ReplayComparesWithAnotherSource) {
  ReplayFlags flags;
  flags.store = flags_;
  flags.compare = flags_.data_dir;
  ASSERT_OK(Replay(flags, Format::kText, out_));
  EXPECT_THAT(out_.str(), HasSubstr("folds to the same state"));

  const std::string empty = directory_->path() + "/empty";
  engine::file::Options options;
  options.dir = empty;
  ASSERT_OK(engine::file::Open(schemas::Streams(), options).status());
  flags.compare = empty;
  EXPECT_THAT(Replay(flags, Format::kText, out_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("another state of stream")));
}

TEST(CliStorageTest, ExactlyOneStoreMustBeNamed) {
  EXPECT_THAT(OpenStore({}), StatusIs(absl::StatusCode::kInvalidArgument));
  StorageFlags both;
  both.data_dir = "a";
  both.database_url_file = "b";
  EXPECT_THAT(OpenStore(both), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(OpenStoreAt("/nonexistent/url"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace api::cli
