#include "projections/audit.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "projections/all.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using engine::AuditEntry;
using engine::Position;
using support::StatusIs;
using testing::HasSubstr;

std::string Payload(std::uint64_t seq, std::string prev, std::string action = "experiment.kill") {
  return engine::EncodeAuditEntry({.seq = Position{seq},
                                   .time = {1'796'051'312'000'000},
                                   .what = {.actor = "ops", .action = std::move(action)},
                                   .prev = std::move(prev)});
}

engine::Record RecordAt(std::uint64_t position, std::string_view payload) {
  engine::Record record;
  record.stream = AuditTrail::kStream;
  record.position = Position{position};
  record.tx = engine::Tx{position};
  record.at = {1'000'000 + static_cast<std::int64_t>(position)};
  record.payload = engine::Payload(payload);
  return record;
}

class AuditProjectionTest : public testing::Test {
 protected:
  explicit AuditProjectionTest(AuditLimits limits = {}) : projection_(limits) {}

  absl::Status Apply(std::uint64_t position, std::string_view payload) {
    return projection_.Apply(RecordAt(position, payload));
  }
  void AppendGood(int entries) {
    for (int i = 0; i < entries; ++i) {
      const std::uint64_t next = Trail()->total() + 1;
      ASSERT_OK(Apply(next, Payload(next, Trail()->head())));
    }
  }
  std::shared_ptr<const AuditTrail> Trail() {
    return std::static_pointer_cast<const AuditTrail>(projection_.Publish());
  }
  // Refuses `payload` as entry `seq`, names that seq, and leaves the state as it was.
  void ExpectBroken(std::uint64_t position, std::string_view payload, std::string_view why) {
    const std::uint64_t digest = Trail()->StateDigest();
    EXPECT_THAT(Apply(position, payload),
                StatusIs(absl::StatusCode::kDataLoss,
                         testing::AllOf(HasSubstr("audit entry " + std::to_string(position) + ":"),
                                        HasSubstr(std::string(why)))));
    EXPECT_EQ(Trail()->StateDigest(), digest);
    EXPECT_EQ(Trail()->total(), position - 1);
  }

  AuditProjection projection_;
};

TEST_F(AuditProjectionTest, StartsEmpty) {
  EXPECT_EQ(Trail()->total(), 0U);
  EXPECT_EQ(Trail()->head(), "");
  EXPECT_TRUE(Trail()->recent().empty());
}

TEST_F(AuditProjectionTest, HeadIsTheHashOfTheNewestEntry) {
  AppendGood(2);
  const std::string third = Payload(3, Trail()->head());
  ASSERT_OK(Apply(3, third));
  EXPECT_EQ(Trail()->head(), engine::AuditHash(third));
  EXPECT_EQ(Trail()->total(), 3U);
  EXPECT_EQ(Trail()->recent().Find(Position{3})->payload.view(), third);
}

TEST_F(AuditProjectionTest, WrongPrevIsRefused) {
  AppendGood(2);
  ExpectBroken(3, Payload(3, engine::AuditHash("another history")), "prev");
}

TEST_F(AuditProjectionTest, ChangedEntryBreaksTheNextOne) {
  AppendGood(1);
  const std::string before = Trail()->head();
  ASSERT_OK(Apply(2, Payload(2, before, "experiment.unkill")));
  ExpectBroken(3, Payload(3, engine::AuditHash(Payload(2, before, "experiment.kill"))), "prev");
}

TEST_F(AuditProjectionTest, WrongSeqIsRefused) {
  AppendGood(2);
  ExpectBroken(3, Payload(4, Trail()->head()), "seq is 4");
}

TEST_F(AuditProjectionTest, PayloadThatIsNotCanonicalIsRefused) {
  AppendGood(2);
  std::string payload = Payload(3, Trail()->head());
  ExpectBroken(3, payload + " ", "not canonical");
  ExpectBroken(3, payload.replace(0, 1, "{ "), "not canonical");
  ExpectBroken(3, "", "not canonical");
}

TEST_F(AuditProjectionTest, GoesOnAfterARefusal) {
  AppendGood(2);
  ExpectBroken(3, "", "not canonical");
  AppendGood(1);
  EXPECT_EQ(Trail()->total(), 3U);
}

TEST_F(AuditProjectionTest, EveryFlippedBitIsNoticed) {
  AppendGood(1);
  const std::string first = Payload(1, "");
  const std::string second = Payload(2, Trail()->head());
  const std::string third = Payload(3, engine::AuditHash(second));
  for (std::size_t bit = 0; bit < second.size() * 8; ++bit) {
    std::string bytes = second;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    AuditProjection fresh;
    ASSERT_OK(fresh.Apply(RecordAt(1, first)));
    absl::Status applied = fresh.Apply(RecordAt(2, bytes));
    if (applied.ok()) {
      applied = fresh.Apply(RecordAt(3, third));
    }
    EXPECT_THAT(applied, StatusIs(absl::StatusCode::kDataLoss)) << bit;
  }
}

TEST_F(AuditProjectionTest, DigestIsGolden) {
  AppendGood(2);
  EXPECT_EQ(Trail()->StateDigest(), 17150344976433473068U);
}

class BoundedAuditTest : public AuditProjectionTest {
 protected:
  // A payload has about 200 bytes.
  BoundedAuditTest() : AuditProjectionTest({.recent_entries = 5, .recent_bytes = 700}) {}
};

TEST_F(BoundedAuditTest, KeepsTheNewestEntriesOnly) {
  AppendGood(4);
  const std::shared_ptr<const AuditTrail> before = Trail();
  AppendGood(10);
  const std::shared_ptr<const AuditTrail> trail = Trail();
  std::size_t bytes = 0;
  std::uint64_t seq = 14 - trail->recent().size();
  for (const RecentEntry& entry : trail->recent()) {
    EXPECT_EQ(engine::Raw(entry.seq), ++seq);
    bytes += entry.payload.size();
  }
  EXPECT_EQ(seq, 14U);
  EXPECT_LE(bytes, 700U);
  EXPECT_GE(trail->recent().size(), 3U);
  EXPECT_EQ(engine::Raw((--before->recent().end())->seq), 4U);
}

TEST_F(BoundedAuditTest, CountBoundsTooAndNotOnlyBytes) {
  AuditProjection projection({.recent_entries = 2, .recent_bytes = 1 << 20});
  std::string payload = Payload(1, "");
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    ASSERT_OK(projection.Apply(RecordAt(seq, payload)));
    payload = Payload(seq + 1, engine::AuditHash(payload));
  }
  const auto image = projection.Publish();
  EXPECT_EQ(static_cast<const AuditTrail&>(*image).recent().size(), 2U);
}

TEST_F(BoundedAuditTest, EntryOverTheBoundIsKeptAlone) {
  AppendGood(2);
  ASSERT_OK(Apply(3, Payload(3, Trail()->head(), std::string(1'000, 'x'))));
  EXPECT_EQ(Trail()->recent().size(), 1U);
  AppendGood(1);
  EXPECT_EQ(Trail()->recent().size(), 1U);
}

TEST(AllTest, EachStreamIsFollowedByOneFollower) {
  std::vector<engine::StreamId> followed;
  for (const auto& projection : AuditProjections()) {
    followed.push_back(projection->stream());
  }
  EXPECT_THAT(followed, testing::ElementsAre(schemas::kAuditStream));
  for (const auto& projection : MainProjections()) {
    followed.push_back(projection->stream());
  }
  std::vector<engine::StreamId> catalogue;
  for (const engine::StreamSpec& spec : schemas::Streams()) {
    catalogue.push_back(spec.id);
  }
  EXPECT_THAT(followed, testing::UnorderedElementsAreArray(catalogue));
}

}  // namespace
}  // namespace projections
