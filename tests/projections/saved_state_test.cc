// What a projection saves, another one loads: the same state, from which both go on alike.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "projections/audit.h"
#include "projections/kill_list.h"
#include "projections/resources/document.h"
#include "schemas/killswitch_generated.h"
#include "tests/projections/resources/store.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using engine::Position;
using support::StatusIs;

std::vector<std::string> PartsOf(const engine::ProjectionImage& image) {
  std::vector<std::string> parts;
  EXPECT_OK(image.Save([&](std::string_view part) {
    EXPECT_LE(part.size(), engine::kMaxStatePartBytes);
    parts.emplace_back(part);
    return absl::OkStatus();
  }));
  return parts;
}

absl::Status LoadAll(const std::vector<std::string>& parts, engine::Projection& projection) {
  for (const std::string& part : parts) {
    if (absl::Status status = projection.Load(part); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

engine::Record RecordAt(engine::StreamId stream, std::uint64_t position, std::string_view payload) {
  engine::Record record;
  record.stream = stream;
  record.position = Position{position};
  record.at = {static_cast<std::int64_t>(position)};
  record.payload = engine::Payload(payload);
  return record;
}

engine::Record Kill(std::uint64_t position, std::string_view name, schemas::KillState state) {
  flatbuffers::FlatBufferBuilder body;
  const auto name_at = body.CreateString(name);
  const auto by_at = body.CreateString("ops");
  const auto reason_at = body.CreateString("broken");
  return RecordAt(
      KillList::kStream, position,
      schemas::Encode(body, schemas::CreateKill(body, name_at, state, by_at, reason_at)));
}

TEST(SavedStateTest, OfAKillListGoesOnLikeTheOriginal) {
  KillListProjection original;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_OK(original.Apply(Kill(std::uint64_t(name[0]), name, schemas::KillState::kKilled)));
  }
  ASSERT_OK(original.Apply(
      RecordAt(KillList::kStream, 100,
               schemas::EncodeBody(schemas::Tag{99}, "new", schemas::Skippable::kYes))));
  KillListProjection loaded;
  ASSERT_OK(LoadAll(PartsOf(*original.Publish()), loaded));
  for (KillListProjection* projection : {&original, &loaded}) {
    ASSERT_OK(projection->Apply(Kill(101, "b", schemas::KillState::kLive)));
  }
  const auto a = std::static_pointer_cast<const KillList>(original.Publish());
  const auto b = std::static_pointer_cast<const KillList>(loaded.Publish());
  EXPECT_EQ(a->StateDigest(), b->StateDigest());
  EXPECT_EQ(b->version(), 101U);
  EXPECT_EQ(b->carried(), 1U);
  EXPECT_EQ(b->killed().size(), 2U);
  EXPECT_EQ(b->Find("b"), nullptr);
  EXPECT_EQ(b->Find("c")->by, "ops");
  EXPECT_EQ(PartsOf(*a), PartsOf(*b));
}

TEST(SavedStateTest, OfAKillListIsRefusedWhenItIsNone) {
  for (const std::vector<std::string>& parts : std::vector<std::vector<std::string>>{
           {""},
           {"0123456789abcde"},
           {std::string(16, '\0'), ""},
           {std::string(16, '\0'), std::string(27, '\0')},
           {std::string(16, '\0'), std::string(29, '\0')},
           {std::string(16, '\0'), "\xff\xff\xff\xff" + std::string(24, '\0')}}) {
    KillListProjection projection;
    EXPECT_THAT(LoadAll(parts, projection), StatusIs(absl::StatusCode::kDataLoss));
    projection.Reset();
    EXPECT_EQ(projection.Publish()->StateDigest(), KillListProjection().Publish()->StateDigest());
  }
  KillListProjection of_another_base(5);
  EXPECT_THAT(of_another_base.Load(std::string(16, '\0')), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(SavedStateTest, OfAnAuditTrailGoesOnLikeTheOriginal) {
  const AuditLimits limits{.recent_entries = 3};
  AuditProjection original(limits);
  std::string head;
  const auto append = [&](std::uint64_t seq, std::vector<AuditProjection*> projections) {
    const std::string payload = engine::EncodeAuditEntry(
        {.seq = Position{seq}, .time = {}, .what = {.actor = "ops", .action = "x"}, .prev = head});
    head = engine::AuditHash(payload);
    for (AuditProjection* projection : projections) {
      ASSERT_OK(projection->Apply(RecordAt(AuditTrail::kStream, seq, payload)));
    }
  };
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    append(seq, {&original});
  }
  AuditProjection loaded(limits);
  ASSERT_OK(LoadAll(PartsOf(*original.Publish()), loaded));
  append(6, {&original, &loaded});
  const auto trail = std::static_pointer_cast<const AuditTrail>(loaded.Publish());
  EXPECT_EQ(trail->StateDigest(), original.Publish()->StateDigest());
  EXPECT_EQ(trail->total(), 6U);
  EXPECT_EQ(trail->head(), head);
  EXPECT_EQ(trail->recent().size(), 3U);
  EXPECT_EQ(trail->recent().begin()->seq, Position{4});
}

TEST(SavedStateTest, OfAnAuditTrailIsRefusedWhenItsEntriesAreNotOfTheChain) {
  AuditProjection original;
  const std::string payload = engine::EncodeAuditEntry(
      {.seq = Position{1}, .time = {}, .what = {.actor = "ops", .action = "x"}, .prev = ""});
  ASSERT_OK(original.Apply(RecordAt(AuditTrail::kStream, 1, payload)));
  const std::vector<std::string> parts = PartsOf(*original.Publish());
  ASSERT_EQ(parts.size(), 2U);
  std::string other_text = parts[1];
  other_text.back() = '!';
  std::string other_seq = parts[1];
  other_seq[0] = 2;
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"short"}, {parts[0], "short"}, {parts[0], other_text}, {parts[0], other_seq}}) {
    AuditProjection projection;
    EXPECT_THAT(LoadAll(wrong, projection), StatusIs(absl::StatusCode::kDataLoss));
    projection.Reset();
    EXPECT_EQ(projection.Publish()->StateDigest(), AuditProjection().Publish()->StateDigest());
    EXPECT_OK(LoadAll(parts, projection));
  }
}

std::string DocumentsOf(const ResourcesImage& image) {
  const Registry registry = Registry::Stock();
  std::string documents;
  for (const ResourceEntry* entry : image) {
    AppendResourceDocument(entry->table(), nullptr, registry, documents);
    documents += std::to_string(engine::Raw(entry->position())) + "\n";
  }
  return documents;
}

TEST(SavedStateTest, OfResourcesGoesOnLikeTheOriginal) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "c");
  std::vector<std::string> pools;
  for (int i = 0; i < 300; ++i) {
    pools.push_back(store.Add("NodePool", "p" + std::to_string(i), cluster));
  }
  store.PatchSpec(pools[7], R"({"a":1})");
  store.Delete(pools[8]);
  store.ForceDelete(pools[8]);
  store.Delete(pools[9]);
  const auto saved = store.image();
  const std::size_t records = store.log().size();
  ResourcesProjection loaded;
  ASSERT_OK(LoadAll(PartsOf(*saved), loaded));
  EXPECT_EQ(DocumentsOf(*ImageOf(loaded)), DocumentsOf(*saved));
  store.PatchSpec(pools[10], R"({"b":2})");
  store.ForceDelete(pools[9]);
  store.Add("NodePool", "p8", cluster);
  for (std::size_t i = records; i < store.log().size(); ++i) {
    ASSERT_OK(loaded.Apply(store.log()[i]));
  }
  const auto image = ImageOf(loaded);
  EXPECT_EQ(image->StateDigest(), store.image()->StateDigest());
  EXPECT_EQ(DocumentsOf(*image), DocumentsOf(*store.image()));
  EXPECT_EQ(image->Children(cluster).size(), store.image()->Children(cluster).size());
}

TEST(SavedStateTest, OfResourcesIsTakenFromAnImageWhileTheProjectionGoesOn) {
  TestStore store;
  const std::string id = store.Add("Channel", "before");
  const auto image = store.image();
  const std::vector<std::string> before = PartsOf(*image);
  store.Add("Channel", "after");
  store.Delete(id);
  store.ForceDelete(id);
  EXPECT_EQ(PartsOf(*image), before);
}

TEST(SavedStateTest, OfResourcesIsRefusedWhenItIsNone) {
  TestStore store;
  store.Add("Channel", "a");
  const std::vector<std::string> parts = PartsOf(*store.image());
  ASSERT_EQ(parts.size(), 1U);
  for (std::size_t size = 0; size < parts[0].size(); ++size) {
    ResourcesProjection projection;
    EXPECT_THAT(projection.Load(parts[0].substr(0, size)), StatusIs(absl::StatusCode::kDataLoss));
  }
  ResourcesProjection projection;
  ASSERT_OK(projection.Load(parts[0]));
  projection.Reset();
  EXPECT_EQ(ImageOf(projection)->size(), 0U);
  EXPECT_EQ(ImageOf(projection)->StateDigest(), 0U);
  EXPECT_TRUE(ImageOf(projection)->begin() == ImageOf(projection)->end());
}

}  // namespace
}  // namespace projections
