#include "projections/kill_list.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using engine::Position;
using support::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A view's type decides what it gives out: acting on less than a proven list does not compile.
template <engine::Freshness F, class Image>
concept Gives = requires(engine::FreshView<F> view) { view.template Get<Image>(); };
static_assert(Gives<engine::Freshness::kLatest, KillList>);
static_assert(!Gives<engine::Freshness::kCached, KillList>);
static_assert(Gives<engine::Freshness::kProven, ProvenKillList>);
static_assert(!Gives<engine::Freshness::kLatest, ProvenKillList>);
static_assert(!std::is_convertible_v<const KillList&, const ProvenKillList&>);

std::string KillPayload(std::string_view name, schemas::KillState state,
                        std::string_view reason = "broken") {
  flatbuffers::FlatBufferBuilder body;
  const auto name_at = body.CreateString(name);
  const auto by_at = body.CreateString("ops@example.com");
  const auto reason_at = body.CreateString(reason);
  return schemas::Encode(body, schemas::CreateKill(body, name_at, state, by_at, reason_at));
}

engine::Record RecordAt(std::uint64_t position, std::string_view payload) {
  engine::Record record;
  record.stream = KillList::kStream;
  record.position = Position{position};
  record.tx = engine::Tx{position};
  record.at = {1'000'000 + static_cast<std::int64_t>(position)};
  record.payload = engine::Payload(payload);
  return record;
}

class KillListTest : public testing::Test {
 protected:
  absl::Status Append(std::string_view payload) {
    const absl::Status applied = projection_.Apply(RecordAt(position_ + 1, payload));
    position_ += applied.ok() ? 1 : 0;
    return applied;
  }
  void Kill(std::string_view name, std::string_view reason = "broken") {
    ASSERT_OK(Append(KillPayload(name, schemas::KillState::kKilled, reason)));
  }
  void Unkill(std::string_view name) {
    ASSERT_OK(Append(KillPayload(name, schemas::KillState::kLive)));
  }
  std::shared_ptr<const KillList> List() {
    return std::static_pointer_cast<const KillList>(projection_.Publish());
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::shared_ptr<const KillList> list = List();
    for (const KilledPtr& killed : list->killed()) {
      names.push_back(killed->name);
    }
    return names;
  }

  KillListProjection projection_;
  std::uint64_t position_ = 0;
};

TEST_F(KillListTest, StartsEmpty) {
  EXPECT_EQ(List()->version(), 0U);
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_EQ(List()->Find("checkout-v2"), nullptr);
}

TEST_F(KillListTest, KilledNamesAreListedSorted) {
  Kill("search");
  Kill("checkout-v2", "errors");
  Kill("toggle:dark");
  EXPECT_THAT(Names(), ElementsAre("checkout-v2", "search", "toggle:dark"));
  const std::shared_ptr<const KillList> list = List();
  const Killed* killed = list->Find("checkout-v2");
  ASSERT_NE(killed, nullptr);
  EXPECT_EQ(killed->by, "ops@example.com");
  EXPECT_EQ(killed->reason, "errors");
  EXPECT_EQ(killed->at, engine::Timestamp{1'000'002});
  EXPECT_EQ(killed->position, Position{2});
}

TEST_F(KillListTest, UnkillRemovesTheName) {
  Kill("checkout-v2");
  Kill("search");
  Unkill("checkout-v2");
  Unkill("never-killed");
  EXPECT_THAT(Names(), ElementsAre("search"));
}

TEST_F(KillListTest, LaterKillReplacesTheEarlier) {
  Kill("search", "one");
  Kill("search", "two");
  EXPECT_THAT(Names(), ElementsAre("search"));
  EXPECT_EQ(List()->Find("search")->reason, "two");
}

TEST_F(KillListTest, VersionCountsEveryRecord) {
  Kill("search");
  Unkill("search");
  EXPECT_EQ(List()->version(), 2U);
  KillListProjection continued(40);
  EXPECT_EQ(std::static_pointer_cast<const KillList>(continued.Publish())->version(), 40U);
  ASSERT_OK(continued.Apply(RecordAt(1, KillPayload("a", schemas::KillState::kKilled))));
  EXPECT_EQ(std::static_pointer_cast<const KillList>(continued.Publish())->version(), 41U);
}

TEST_F(KillListTest, PublishedListStaysAsItWas) {
  Kill("search");
  const std::shared_ptr<const KillList> before = List();
  const std::uint64_t digest = before->StateDigest();
  Kill("checkout-v2");
  Unkill("search");
  EXPECT_EQ(before->version(), 1U);
  EXPECT_EQ(before->killed().size(), 1U);
  EXPECT_NE(before->Find("search"), nullptr);
  EXPECT_EQ(before->StateDigest(), digest);
}

TEST_F(KillListTest, RecordWithoutStateIsRefused) {
  Kill("search");
  const std::uint64_t digest = List()->StateDigest();
  EXPECT_THAT(Append(KillPayload("search", schemas::KillState::kInvalid)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("state")));
  EXPECT_THAT(Append(KillPayload("search", schemas::KillState{9})),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(List()->StateDigest(), digest);
}

TEST_F(KillListTest, UnknownSkippableRecordIsCarried) {
  Kill("search");
  ASSERT_OK(Append(schemas::EncodeBody(schemas::Tag{4711}, "later", schemas::Skippable::kYes)));
  EXPECT_EQ(List()->carried(), 1U);
  EXPECT_EQ(List()->version(), 2U);
  EXPECT_THAT(Names(), ElementsAre("search"));
}

TEST_F(KillListTest, UnknownRecordThatMayNotBeSkippedIsRefused) {
  Kill("search");
  const std::uint64_t digest = List()->StateDigest();
  EXPECT_THAT(Append(schemas::EncodeBody(schemas::Tag{4711}, "later", schemas::Skippable::kNo)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(List()->StateDigest(), digest);
  EXPECT_EQ(List()->version(), 1U);
}

TEST_F(KillListTest, DigestIsGolden) {
  // Replicas of different builds compare it: another value needs another fold_version.
  Kill("search", "errors");
  Kill("checkout-v2", "");
  EXPECT_EQ(List()->StateDigest(), 9647804087005481456U);
}

TEST_F(KillListTest, DigestSeparatesNeighbouringFields) {
  // The same bytes one after another, cut in two places.
  const auto digest_of = [](std::string_view name, std::string_view by) {
    flatbuffers::FlatBufferBuilder body;
    const auto name_at = body.CreateString(name);
    const auto by_at = body.CreateString(by);
    const auto kill = schemas::CreateKill(body, name_at, schemas::KillState::kKilled, by_at);
    KillListProjection projection;
    EXPECT_OK(projection.Apply(RecordAt(1, schemas::Encode(body, kill))));
    return projection.Publish()->StateDigest();
  };
  EXPECT_EQ(digest_of("ab", "c"), digest_of("ab", "c"));
  EXPECT_NE(digest_of("ab", "c"), digest_of("a", "bc"));
}

TEST_F(KillListTest, DigestCountsTheVersion) {
  const std::uint64_t empty = List()->StateDigest();
  Unkill("search");
  EXPECT_NE(List()->StateDigest(), empty);
}

TEST_F(KillListTest, DigestDoesNotDependOnWhatWasRemoved) {
  const auto digest_after = [](std::string_view second, std::string_view fourth) {
    KillListProjection projection;
    std::uint64_t position = 0;
    for (const auto& [name, state] : {std::pair(std::string_view("a"), schemas::KillState::kKilled),
                                      std::pair(second, schemas::KillState::kKilled),
                                      std::pair(std::string_view("b"), schemas::KillState::kKilled),
                                      std::pair(fourth, schemas::KillState::kLive)}) {
      EXPECT_OK(projection.Apply(RecordAt(++position, KillPayload(name, state))));
    }
    return projection.Publish()->StateDigest();
  };
  EXPECT_EQ(digest_after("x", "x"), digest_after("y", "y"));
  EXPECT_NE(digest_after("x", "x"), digest_after("x", "b"));
}

TEST_F(KillListTest, RandomHistoryAgreesWithAModel) {
  support::SeededRandom random;
  std::map<std::string, std::uint64_t> model;  // Name to the position that killed it.
  for (std::uint64_t position = 1; position <= 2'000; ++position) {
    const std::string name = "exp-" + std::to_string(random.Below(100));
    if (random.Below(2) == 0) {
      Kill(name);
      model[name] = position;
    } else {
      Unkill(name);
      model.erase(name);
    }
    if (position % 100 == 0) {
      const std::shared_ptr<const KillList> list = List();
      std::map<std::string, std::uint64_t> seen;
      for (const KilledPtr& killed : list->killed()) {
        seen[killed->name] = engine::Raw(killed->position);
      }
      EXPECT_EQ(seen, model);
    }
  }
}

TEST_F(KillListTest, RandomBytesAreRefusedAndChangeNothing) {
  support::SeededRandom random;
  Kill("search");
  Kill("checkout-v2");
  const std::string good = KillPayload("search", schemas::KillState::kLive);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    const std::size_t bit = random.Below(bytes.size() * 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    if (i % 3 == 0) {
      random.Fill(bytes.data() + 8, bytes.size() - 8);
    }
    const std::uint64_t digest = List()->StateDigest();
    if (!Append(bytes).ok()) {
      ++refused;
      EXPECT_EQ(List()->StateDigest(), digest);
    }
  }
  EXPECT_GT(refused, 5'000);
}

class ProposeKillTest : public KillListTest {
 protected:
  engine::Proposal Propose(const KillRequest& request) {
    footprint_ = {};
    return ProposeKill(request, *List(), footprint_);
  }

  engine::Footprint footprint_;
};

TEST_F(ProposeKillTest, KillWritesOneRecordAndItsAudit) {
  const engine::Proposal proposal =
      Propose({.name = "search", .killed = true, .by = "ops", .reason = "errors"});
  ASSERT_EQ(proposal.records.size(), 1U);
  ASSERT_TRUE(proposal.audit.has_value());
  EXPECT_EQ(proposal.audit->actor, "ops");
  EXPECT_EQ(proposal.audit->action, "experiment.kill");
  EXPECT_EQ(proposal.audit->target, "search");
  EXPECT_EQ(proposal.audit->details.at("reason"), "errors");
  ASSERT_OK(Append(proposal.records[0].payload));
  EXPECT_EQ(List()->Find("search")->reason, "errors");
  EXPECT_THAT(footprint_.reads(), ElementsAre("kill/search"));
  EXPECT_THAT(footprint_.writes(), ElementsAre("kill/search"));
}

TEST_F(ProposeKillTest, UnkillLiftsTheKill) {
  Kill("search");
  const engine::Proposal proposal =
      Propose({.name = "search", .killed = false, .by = "ops", .reason = ""});
  ASSERT_EQ(proposal.records.size(), 1U);
  EXPECT_EQ(proposal.audit->action, "experiment.unkill");
  EXPECT_THAT(proposal.audit->details, IsEmpty());
  ASSERT_OK(Append(proposal.records[0].payload));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ProposeKillTest, KillThatChangesNothingWritesNothing) {
  Kill("search");
  for (const KillRequest& request :
       {KillRequest{.name = "search", .killed = true, .by = "ops", .reason = "another"},
        KillRequest{.name = "live", .killed = false, .by = "ops", .reason = ""}}) {
    const engine::Proposal proposal = Propose(request);
    EXPECT_THAT(proposal.records, IsEmpty());
    EXPECT_FALSE(proposal.audit.has_value());
    EXPECT_THAT(footprint_.reads(), ElementsAre("kill/" + request.name));
    EXPECT_THAT(footprint_.writes(), IsEmpty());
  }
}

}  // namespace
}  // namespace projections
