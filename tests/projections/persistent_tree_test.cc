#include "projections/persistent_tree.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace projections {
namespace {

struct Pair {
  int key = 0;
  int value = 0;
};
struct Tens {  // Equal to every pair whose key has these leading digits.
  int tens;
};
struct ByKey {
  bool operator()(const Pair& a, const Pair& b) const { return a.key < b.key; }
  bool operator()(const Pair& a, int b) const { return a.key < b; }
  bool operator()(int a, const Pair& b) const { return a < b.key; }
  bool operator()(const Pair& a, Tens b) const { return a.key / 10 < b.tens; }
  bool operator()(Tens a, const Pair& b) const { return a.tens < b.key / 10; }
};

using Tree = PersistentTree<Pair, ByKey, 4>;  // Small nodes make deep trees.
using State = Tree::Snapshots;
using Model = std::map<int, int>;

void ExpectEqual(const State& state, const Model& model) {
  ASSERT_EQ(state.size(), model.size());
  auto at = state.begin();
  std::size_t rank = 0;
  for (const auto& [key, value] : model) {
    ASSERT_EQ(at->key, key);
    ASSERT_EQ(at->value, value);
    ASSERT_EQ(at.rank(), rank++);
    ++at;
  }
  ASSERT_TRUE(at == state.end());
  for (auto expected = model.rbegin(); expected != model.rend(); ++expected) {
    --at;
    ASSERT_EQ(at->key, expected->first);
  }
  ASSERT_TRUE(at == state.begin());
}

void ExpectSameLookUps(const State& state, const Model& model, int probe) {
  const auto lower = model.lower_bound(probe);
  const auto upper = model.upper_bound(probe);
  const auto rank = static_cast<std::size_t>(std::distance(model.begin(), lower));
  ASSERT_EQ(state.CountBefore(probe), rank);
  ASSERT_EQ(state.CountThrough(probe) - rank, lower == upper ? 0U : 1U);
  const Pair* found = state.Find(probe);
  ASSERT_EQ(found != nullptr, lower != upper);
  if (found != nullptr) {
    ASSERT_EQ(found->value, lower->second);
    ASSERT_EQ(state.Select(rank)->key, probe);
  }
  ASSERT_EQ(state.LowerBound(probe) == state.end(), lower == model.end());
  ASSERT_EQ(state.UpperBound(probe) == state.end(), upper == model.end());
  const auto first_of_tens = model.lower_bound(probe / 10 * 10);
  const auto after_tens = model.lower_bound((probe / 10 + 1) * 10);
  ASSERT_EQ(state.Count(Tens{probe / 10}),
            static_cast<std::size_t>(std::distance(first_of_tens, after_tens)));
}

std::uint64_t Seed() {
  const char* given = std::getenv("HALO_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

// Writes at random with a bias that changes from phase to phase: growing, shrinking, in order.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  void Write(Tree& tree, Model& model, int keys) {
    const int key = NextKey(keys);
    if (static_cast<int>(random_() % 100) < insert_percent_) {
      const int value = static_cast<int>(random_() % 1000);
      EXPECT_EQ(tree.Insert({key, value}), !model.contains(key));
      model[key] = value;
    } else {
      EXPECT_EQ(tree.Erase(key).has_value(), model.erase(key) == 1);
    }
  }
  void NextPhase() {
    insert_percent_ = static_cast<int>(random_() % 101);
    rising_ = random_() % 3 == 0;
  }
  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

 private:
  int NextKey(int keys) { return rising_ ? next_++ % keys : Below(keys); }

  std::mt19937_64 random_;
  int insert_percent_ = 80;
  bool rising_ = false;
  int next_ = 0;
};

TEST(PersistentTreeTest, ASnapshotDoesNotChange) {
  Tree tree;
  tree.Insert({1, 10});
  const State before = tree.Snapshot();
  tree.Insert({1, 11});
  EXPECT_EQ(before.Find(1)->value, 10);
  EXPECT_EQ(tree.Find(1)->value, 11);
}

TEST(PersistentTreeTest, AgreesWithAMapAndKeepsItsSnapshots) {
  const std::uint64_t seed = Seed();
  SCOPED_TRACE(testing::Message() << "HALO_SEED=" << seed);
  for (int round = 0; round < 20; ++round) {
    Writer writer(seed + static_cast<std::uint64_t>(round));
    Tree tree;
    Model model;
    std::vector<std::pair<State, Model>> held;
    const int keys = round % 2 == 0 ? 60 : 1500;
    for (int step = 0; step < 3000; ++step) {
      if (step % 200 == 0) {
        writer.NextPhase();
      }
      writer.Write(tree, model, keys);
      if (writer.Below(100) == 0) {
        held.emplace_back(tree.Snapshot(), model);
        ASSERT_NO_FATAL_FAILURE(ExpectSameLookUps(held.back().first, model, writer.Below(keys)));
      }
    }
    held.emplace_back(tree.Snapshot(), model);
    for (const auto& [state, expected] : held) {
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(state, expected));
    }
  }
}

TEST(PersistentTreeTest, EveryRankAndEveryProbeIsFound) {
  Tree tree;
  Model model;
  for (int key = 1; key < 700; key += 2) {
    tree.Insert({key, key});
    model[key] = key;
  }
  const State state = tree.Snapshot();
  for (int probe = 0; probe <= 700; ++probe) {
    ASSERT_NO_FATAL_FAILURE(ExpectSameLookUps(state, model, probe));
  }
  EXPECT_TRUE(state.Select(model.size()) == state.end());
}

TEST(PersistentTreeTest, AnEmptyOneHasNothing) {
  Tree tree;
  const State state = tree.Snapshot();
  EXPECT_TRUE(state.empty());
  EXPECT_TRUE(state.begin() == state.end());
  EXPECT_EQ(state.Find(1), nullptr);
  EXPECT_EQ(state.Count(Tens{0}), 0U);
  EXPECT_FALSE(tree.Erase(1).has_value());
}

using Owned = std::shared_ptr<Pair>;
struct ByOwnedKey {
  bool operator()(const Owned& a, const Owned& b) const { return a->key < b->key; }
  bool operator()(const Owned& a, int b) const { return a->key < b; }
  bool operator()(int a, const Owned& b) const { return a < b->key; }
};

TEST(PersistentTreeTest, KeepsNoReplacedOrErasedEntryAlive) {
  PersistentTree<Owned, ByOwnedKey, 4> tree;
  std::map<int, std::weak_ptr<Pair>> newest;
  std::vector<std::weak_ptr<Pair>> gone;
  std::mt19937_64 random(Seed());
  for (int step = 0; step < 4000; ++step) {
    const int key = static_cast<int>(random() % 200);
    auto old = newest.find(key);
    if (old != newest.end()) {
      gone.push_back(old->second);
      newest.erase(old);
    }
    if (random() % 3 == 0) {
      tree.Erase(key);
    } else {
      auto entry = std::make_shared<Pair>(Pair{key, step});
      newest[key] = entry;
      tree.Insert(std::move(entry));
    }
    tree.Snapshot();  // Dropped at once: it must not keep anything either.
  }
  for (const auto& entry : gone) {
    EXPECT_TRUE(entry.expired());
  }
  for (const auto& [key, entry] : newest) {
    EXPECT_FALSE(entry.expired()) << key;
  }
}

}  // namespace
}  // namespace projections
