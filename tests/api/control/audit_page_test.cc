#include "api/control/audit_page.h"

#include <gmock/gmock.h>

#include "engine/audit_chain.h"
#include "engine/memory/memory.h"
#include "projections/audit.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/row_builder.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using support::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;

// Shows other bytes for one row than the journal behind it has.
class ForgedJournal final : public engine::Journal {
 public:
  explicit ForgedJournal(engine::Journal& behind) : behind_(behind) {}

  std::uint64_t forged = 0;      // The position of the row; 0: none.
  std::string payload;           // Its bytes.
  std::uint64_t unreadable = 0;  // Reading a page with that row is kDataLoss.
  int reads = 0;

  const engine::Catalogue& catalogue() const override { return behind_.catalogue(); }
  absl::StatusOr<std::unique_ptr<engine::Transaction>> Begin(engine::Deadline d) override {
    return behind_.Begin(d);
  }
  absl::StatusOr<engine::News> ReadAfter(const engine::Cursors& after,
                                         engine::Deadline d) override {
    return behind_.ReadAfter(after, d);
  }
  absl::StatusOr<std::vector<engine::Record>> ReadStream(engine::StreamId stream,
                                                         engine::Position from, int limit,
                                                         engine::Deadline d) override {
    ++reads;
    auto rows = behind_.ReadStream(stream, from, limit, d);
    for (engine::Record& row : *rows) {
      if (engine::Raw(row.position) == unreadable) {
        return absl::DataLossError("checksum");
      }
      if (engine::Raw(row.position) == forged) {
        row.payload = engine::Payload(payload);
      }
    }
    return rows;
  }
  absl::StatusOr<std::vector<engine::StreamTail>> Tails(engine::Deadline d) override {
    return behind_.Tails(d);
  }
  absl::Status Scan(const engine::ScanOptions& options, const engine::RowSink& sink,
                    engine::Deadline d) override {
    return behind_.Scan(options, sink, d);
  }
  absl::StatusOr<engine::Floor> Compact(const engine::CompactionStep& step,
                                        engine::Deadline d) override {
    return behind_.Compact(step, d);
  }
  absl::StatusOr<int> PruneAnswers(engine::Duration age, int limit, engine::Deadline d) override {
    return behind_.PruneAnswers(age, limit, d);
  }

 private:
  engine::Journal& behind_;
};

// Twenty entries, of which the newest five are in memory.
class AuditPageTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kTotal = 20;

  void SetUp() override {
    std::string prev;
    for (std::uint64_t seq = 1; seq <= kTotal; ++seq) {
      const std::string payload = PayloadOf(seq, prev);
      support::AppendOne(engine_->journal(), schemas::kAuditStream, "", payload);
      prev = engine::AuditHash(payload);
    }
    std::vector<std::unique_ptr<engine::Projection>> audit;
    audit.push_back(std::make_unique<projections::AuditProjection>(
        projections::AuditLimits{.recent_entries = 5}));
    follower_ = std::make_unique<engine::Follower>(std::move(audit));
    ASSERT_OK(follower_->Replay(engine_->journal(), std::nullopt, support::Soon()));
  }

  // Minute `seq` of a day; every third is a kill by ann.
  static std::string PayloadOf(std::uint64_t seq, const std::string& prev,
                               const std::string& target = "x") {
    const bool third = seq % 3 == 0;
    return engine::EncodeAuditEntry(
        {.seq = engine::Position{seq},
         .time = {static_cast<std::int64_t>(seq) * 60'000'000},
         .what = {.actor = third ? "ann" : "bob",
                  .action = third ? "experiment.kill" : "resource.create",
                  .target = target},
         .prev = prev});
  }

  AuditPage Read(const std::string& query) {
    const auto parsed = ParseAuditQuery(*MakeRequest("GET", "/api/v1/audit?" + query));
    EXPECT_OK(parsed);
    const engine::ViewPtr view = follower_->view();
    const auto page =
        ReadAuditPage(*parsed, *view->Find(schemas::kAuditStream), journal_, support::Soon());
    EXPECT_OK(page);
    return page.value_or(AuditPage{});
  }

  static std::vector<std::uint64_t> Seqs(const AuditPage& page) {
    std::vector<std::uint64_t> seqs;
    for (const engine::Payload& entry : page.entries) {
      seqs.push_back(engine::Raw(engine::DecodeAuditEntry(entry.view())->seq));
    }
    return seqs;
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  ForgedJournal journal_{engine_->journal()};
  std::unique_ptr<engine::Follower> follower_;
};

TEST_F(AuditPageTest, TheNewestComeFromMemory) {
  const AuditPage page = Read("limit=3");
  EXPECT_THAT(Seqs(page), ElementsAre(18, 19, 20));
  EXPECT_EQ(page.next, 20u);
  EXPECT_EQ(page.total, 20u);
  EXPECT_EQ(page.verify_error, "");
  EXPECT_EQ(journal_.reads, 0);
}

TEST_F(AuditPageTest, OlderOnesAreReadFromTheJournal) {
  EXPECT_EQ(Seqs(Read("limit=500")).size(), kTotal);
  EXPECT_THAT(Seqs(Read("since=3&limit=4")), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Seqs(Read("since=14&limit=3")), ElementsAre(15, 16, 17));
  EXPECT_GT(journal_.reads, 0);
}

TEST_F(AuditPageTest, ThereIsNothingAfterTheEnd) {
  const AuditPage page = Read("since=20");
  EXPECT_TRUE(page.entries.empty());
  EXPECT_EQ(page.next, 20u);
  EXPECT_EQ(Read("since=99").next, 99u);
  const AuditPage last = Read("since=18446744073709551615");
  EXPECT_TRUE(last.entries.empty());
  EXPECT_EQ(last.next, 18446744073709551615u);
}

TEST_F(AuditPageTest, SinceATimeIsStrictlyAfterIt) {
  EXPECT_THAT(Seqs(Read("since=1970-01-01T00:17:00Z")), ElementsAre(18, 19, 20));
  EXPECT_THAT(Seqs(Read("since=1970-01-01T00:16:59Z&limit=1")), ElementsAre(17));
  EXPECT_THAT(Seqs(Read("since=1960-01-01T00:00:00Z&limit=2")), ElementsAre(1, 2));
  EXPECT_TRUE(Read("since=2099-01-01T00:00:00Z").entries.empty());
}

TEST_F(AuditPageTest, FiltersReachBack) {
  EXPECT_THAT(Seqs(Read("actor=ann&limit=3")), ElementsAre(12, 15, 18));
  EXPECT_THAT(Seqs(Read("action=experiment.kill&since=0&limit=2")), ElementsAre(3, 6));
  const AuditPage none = Read("actor=ann&action=resource.create");
  EXPECT_TRUE(none.entries.empty());
  EXPECT_EQ(none.next, 0u);
}

TEST_F(AuditPageTest, AForgedEntryIsNamed) {
  journal_.forged = 7;
  const engine::ViewPtr view = follower_->view();
  auto rows =
      engine_->journal().ReadStream(schemas::kAuditStream, engine::Position{6}, 1, support::Soon());
  journal_.payload = PayloadOf(7, engine::AuditHash(rows->front().payload.view()), "forged");
  EXPECT_THAT(Read("limit=500").verify_error, HasSubstr("seq 7:"));
  EXPECT_THAT(Read("since=0").verify_error, HasSubstr("seq 7:"));
  EXPECT_EQ(Read("limit=3").verify_error, "");
}

TEST_F(AuditPageTest, ForgeryNextToMemoryIsNamed) {
  journal_.forged = 15;
  auto rows = engine_->journal().ReadStream(schemas::kAuditStream, engine::Position{14}, 1,
                                            support::Soon());
  journal_.payload = PayloadOf(15, engine::AuditHash(rows->front().payload.view()), "forged");
  EXPECT_THAT(Read("since=10").verify_error, HasSubstr("seq 15:"));
}

TEST_F(AuditPageTest, BytesThatAreNoEntryAreNamed) {
  journal_.forged = 2;
  journal_.payload = "{}";
  EXPECT_THAT(Read("since=0&limit=5").verify_error, HasSubstr("seq 2:"));
}

TEST_F(AuditPageTest, ARowThatCannotBeReadIsNamed) {
  journal_.unreadable = 9;
  const AuditPage page = Read("since=0");
  EXPECT_THAT(page.verify_error, HasSubstr("seq 9:"));
  EXPECT_EQ(page.total, kTotal);
}

TEST_F(AuditPageTest, AStoppedStreamSaysWhereItBroke) {
  support::ExpectErrorLogs();
  support::AppendOne(engine_->journal(), schemas::kAuditStream, "", PayloadOf(21, "wrong"));
  ASSERT_OK(follower_->Replay(engine_->journal(), std::nullopt, support::Soon()));
  const AuditPage page = Read("limit=2");
  EXPECT_THAT(page.verify_error, HasSubstr("seq 21:"));
  EXPECT_THAT(Seqs(page), ElementsAre(19, 20));
}

TEST(AuditQueryTest, BoundsAndForms) {
  const auto parse = [](const std::string& query) {
    return ParseAuditQuery(*MakeRequest("GET", "/api/v1/audit?" + query));
  };
  for (const std::string query : {"limit=0", "limit=501", "limit=x", "limit=", "limit=1.5",
                                  "since=", "since=x", "since=-1", "since=2026-02-30T00:00:00Z"}) {
    EXPECT_THAT(parse(query), StatusIs(absl::StatusCode::kInvalidArgument)) << query;
  }
  ASSERT_OK_AND_ASSIGN(const AuditQuery all, parse(""));
  EXPECT_EQ(all.limit, 100u);
  EXPECT_FALSE(all.since.has_value());
  ASSERT_OK_AND_ASSIGN(const AuditQuery some, parse("limit=500&since=0&actor=a&action="));
  EXPECT_EQ(some.limit, 500u);
  EXPECT_EQ(std::get<std::uint64_t>(*some.since), 0u);
  EXPECT_EQ(some.actor, "a");
  EXPECT_FALSE(some.action.has_value());
}

}  // namespace
}  // namespace api
