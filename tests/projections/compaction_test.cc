// Whatever of a history compaction leaves, resources fold to the same state: the state is a
// function of the newest records.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/compactor.h"
#include "engine/follower.h"
#include "engine/memory/memory.h"
#include "projections/resources/document.h"
#include "tests/projections/resources/store.h"
#include "tests/support/row_builder.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

// What a reader of the image sees, `previous` of the next write included.
std::string Show(const ResourcesImage& image) {
  const Registry registry = Registry::Stock();
  std::string text = std::to_string(image.StateDigest()) + "\n";
  for (const ResourceEntry* entry : image) {
    AppendResourceDocument(entry->table(), nullptr, registry, text);
    text += "@" + std::to_string(engine::Raw(entry->position())) + "\n";
    text += std::to_string(image.Children(entry->id()).size()) + "\n";
  }
  return text;
}

class CompactedResourcesTest : public testing::Test {
 protected:
  // One random change, through the rules.
  void Change() {
    switch (random_.Below(6)) {
      case 0:
      case 1:
        return Remember(store_.Add("Cluster", "c" + std::to_string(++names_)));
      case 2:
        if (!ids_.empty()) {
          Remember(AddChild());
        }
        return;
      case 3:
        return WithAny([&](const std::string& id) {
          store_.PatchSpec(id, "{\"n\":" + std::to_string(++names_) + "}");
        });
      case 4:
        return WithAny([&](const std::string& id) { store_.Delete(id); });
      default:
        return WithAny([&](const std::string& id) { store_.ForceDelete(id); });
    }
  }
  // Brings the journal up to what the store has written.
  void Flush() {
    while (flushed_ < store_.log().size()) {
      const engine::Record& record = store_.log()[flushed_++];
      auto transaction = journal().Begin(support::Soon());
      ASSERT_OK(transaction);
      const auto state = (*transaction)->Read({});
      ASSERT_OK(state);
      ASSERT_OK((*transaction)
                    ->Append(support::RowBuilder(*state)
                                 .Add(record.stream, record.key, std::string(record.payload.view()),
                                      record.previous, record.flags)
                                 .rows(),
                             {}));
      ASSERT_OK((*transaction)->Commit(support::Soon()).why);
    }
  }
  std::string Replayed() {
    std::vector<std::unique_ptr<engine::Projection>> projections;
    projections.push_back(std::make_unique<ResourcesProjection>());
    engine::Follower follower(std::move(projections));
    EXPECT_OK(follower.Replay(journal(), std::nullopt, support::Soon()));
    const auto image = engine::ImageIn<ResourcesImage>(*follower.view());
    EXPECT_OK(image);
    return image.ok() ? Show(**image) : "";
  }
  engine::Journal& journal() { return engine_->journal(); }

  TestStore store_;
  support::SeededRandom random_;

 private:
  void Remember(std::string id) {
    if (!id.empty()) {
      ids_.push_back(std::move(id));
    }
  }
  std::string AddChild() {
    const ResourceEntry* parent = store_.Find(ids_[random_.Below(ids_.size())]);
    if (parent == nullptr || parent->kind() != "Cluster" || parent->is_deleting()) {
      return "";
    }
    return store_.Add("NodePool", "p" + std::to_string(++names_), std::string(parent->id()));
  }
  template <typename Do>
  void WithAny(const Do& act) {
    if (!ids_.empty()) {
      act(ids_[random_.Below(ids_.size())]);
    }
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  std::vector<std::string> ids_;
  std::size_t flushed_ = 0;
  int names_ = 0;
};

TEST_F(CompactedResourcesTest, FoldToTheSameState) {
  std::uint64_t removed = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 20; ++i) {
      Change();
    }
    Flush();
    const std::string expected = Show(*store_.image());
    ASSERT_EQ(Replayed(), expected) << "before compaction " << round;
    const std::uint64_t rows = store_.log().size();
    if (rows < 2) {
      continue;
    }
    engine::Compactor compactor(journal(), {.retentions = {}, .rows_a_step = 9});
    const auto report =
        compactor.RaiseTo(ResourcesImage::kStream, engine::Position{1 + random_.Below(rows - 1)},
                          std::chrono::seconds(30));
    ASSERT_OK(report);
    removed += report->removed;
    ASSERT_EQ(Replayed(), expected) << "after compaction " << round;
  }
  EXPECT_GT(removed, 0U);
}

}  // namespace
}  // namespace projections
