#include "projections/resources/document.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "projections/resources/state.h"
#include "schemas/json.h"
#include "schemas/streams.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

std::string Document(const ResourceState& state, const Registry& registry = Registry::Stock()) {
  const std::string payload = EncodeResource(state);
  std::string out;
  AppendResourceDocument(ResourceIn(payload), nullptr, registry, out);
  return out;
}

ResourceState Channel() {
  ResourceState state;
  state.id = "c1";
  state.kind = "Channel";
  state.name = "stable";
  state.href = ResourceHref("", "channels", "c1");
  state.spec = R"({"a":[1,2]})";
  state.created_time = {1'780'000'000'000'000};
  state.created_by = "alice";
  state.updated_time = {1'780'000'000'500'000};
  state.updated_by = "bob";
  return state;
}

TEST(ResourceDocumentTest, ARootWithoutAdapters) {
  EXPECT_EQ(Document(Channel()),
            R"({"id":"c1","kind":"Channel","name":"stable",)"
            R"("href":"/api/hyperfleet/v1/channels/c1","spec":{"a":[1,2]},"tenancy":{},)"
            R"("generation":1,"created_time":"2026-05-28T20:26:40Z","created_by":"alice",)"
            R"("updated_time":"2026-05-28T20:26:40.5Z","updated_by":"bob",)"
            R"("status":{"conditions":[]}})");
}

TEST(ResourceDocumentTest, AChildOnItsWayOut) {
  ResourceState state = Channel();
  state.kind = "Version";
  state.owner = OwnerState{"c1", "Channel", "/api/hyperfleet/v1/channels/c1"};
  state.id = "v1";
  state.href = ResourceHref(state.owner->href, "versions", "v1");
  state.labels = {{"b", "2"}, {"a", "\"1\""}};
  state.tenancy = {{"org", "acme"}};
  state.references = {{"dep", "t1", "Cluster"}, {"dep", "t2", "Gone"}, {"link", "t1", "Cluster"}};
  state.deletion = DeletionState{{1'780'000'001'000'000}, "carol"};
  EXPECT_EQ(Document(state),
            R"({"id":"v1","kind":"Version","name":"stable",)"
            R"("href":"/api/hyperfleet/v1/channels/c1/versions/v1","spec":{"a":[1,2]},)"
            R"("labels":{"a":"\"1\"","b":"2"},"tenancy":{"org":"acme"},"generation":1,)"
            R"("owner_references":{"id":"c1","kind":"Channel",)"
            R"("href":"/api/hyperfleet/v1/channels/c1"},)"
            R"("references":{"dep":[{"id":"t1","kind":"Cluster",)"
            R"("href":"/api/hyperfleet/v1/clusters/t1"},{"id":"t2","kind":"Gone"}],)"
            R"("link":[{"id":"t1","kind":"Cluster","href":"/api/hyperfleet/v1/clusters/t1"}]},)"
            R"("created_time":"2026-05-28T20:26:40Z","created_by":"alice",)"
            R"("updated_time":"2026-05-28T20:26:40.5Z","updated_by":"bob",)"
            R"("deleted_time":"2026-05-28T20:26:41Z","deleted_by":"carol",)"
            R"("status":{"conditions":[]}})");
}

TEST(ResourceDocumentTest, ConditionsAreThoseThatAreRecorded) {
  ResourceState state = Channel();
  state.kind = "NodePool";
  EXPECT_TRUE(Document(state).ends_with(R"("status":{"conditions":[]}})"));
}

TEST(ResourceDocumentTest, AKindThatIsNotRegisteredIsStillShown) {
  ResourceState state = Channel();
  state.kind = "Vanished";
  EXPECT_TRUE(Document(state).ends_with(R"("status":{"conditions":[]}})"));
}

TEST(ResourceStateTest, SurvivesTheBytes) {
  ResourceState state = Channel();
  state.owner = OwnerState{"o", "Owner", "/o"};
  state.labels = {{"k", "v"}};
  state.tenancy = {{"org", "acme"}};
  state.references = {{"dep", "t", "Target"}};
  state.generation = 7;
  state.deletion = DeletionState{{5}, "x"};
  const std::string payload = EncodeResource(state);
  const ResourceState back = StateOf(ResourceIn(payload));
  EXPECT_EQ(EncodeResource(back), payload);
  EXPECT_EQ(back.labels, state.labels);
  EXPECT_EQ(back.deletion->by, "x");
  EXPECT_EQ(back.owner->href, "/o");
  EXPECT_EQ(back.references.front().target_kind, "Target");
}

TEST(ResourceStateTest, RecordBytesAreGolden) {
  // The bytes are stored and hashed: another layout would be another history.
  ResourceState state = Channel();
  state.owner = OwnerState{"o", "Owner", "/o"};
  state.labels = {{"k", "v"}};
  state.deletion = DeletionState{{5}, "x"};
  const std::string payload = EncodeResource(state);
  EXPECT_EQ(payload.size(), 392U);
  EXPECT_EQ(engine::ToHex(engine::Checksum64(payload)), "06a09547c3b3472d");
  EXPECT_EQ(engine::ToHex(EncodeTombstone({"a", schemas::RemovalCause::kForced, "b", "c"})),
            "1800000048414c4f0000000000000a000c000600000008000a00000000000300040000003c000000100000"
            "000c00140008000700"
            "0c0010000c000000000000030c000000100000001400000001000000610000000100000062000000010000"
            "006300000000000000");
}

TEST(ResourceStateTest, RecordsAreShownAsJson) {
  const engine::Payload tombstone(EncodeTombstone({"a", schemas::RemovalCause::kForced, "b", "c"}));
  const absl::StatusOr<std::string> shown =
      schemas::RecordJson(schemas::kResourcesStream, tombstone);
  ASSERT_OK(shown);
  EXPECT_EQ(*shown, R"({"type":"resource tombstone",)"
                    R"("record":{"id":"a","cause":"forced","by":"b","reason":"c"}})");
}

TEST(ResourceStateTest, NoRecordIsLargerThanItsBound) {
  ResourceState state = Channel();
  state.id = std::string(36, 'i');
  state.kind = std::string(100, 'k');
  state.name = std::string(100, 'n');
  state.href = std::string(500, 'h');
  state.owner = OwnerState{state.id, state.kind, state.href};
  state.created_by = state.updated_by = std::string(255, 'b');
  state.deletion = DeletionState{{5}, state.created_by};
  for (int label = 0; label < 100; ++label) {
    state.labels[std::to_string(label)] = "";
    EXPECT_LE(EncodeResource(state).size(), RecordSizeBound(state.spec, state.labels));
  }
}

}  // namespace
}  // namespace projections
