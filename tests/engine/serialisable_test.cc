// A batch is serialisable: whatever commands gather in it, with a foreign writer between queue
// and lock, the answers and the final state are those of some serial order.

#include <algorithm>
#include <numeric>

#include "tests/engine/committer_fixture.h"
#include "tests/support/seeded_random.h"

namespace engine {
namespace {

using State = std::map<std::string, std::string>;

// One command twice: as the committer runs it and as the model does.
struct Operation {
  std::string name;
  support::ToyBody body;
  std::function<std::string(State&)> model;
};

std::string Key(Random& random) {
  return std::string(1, static_cast<char>('a' + random.Below(3)));
}

Operation RandomOperation(Random& random, int number) {
  const std::string key = Key(random);
  const std::string other = Key(random);
  const std::string value = "v" + std::to_string(number);
  switch (random.Below(5)) {
    case 0:
      return {"absent " + key, PutIfAbsent(key, value), [=](State& state) {
                if (state.contains(key)) {
                  return "there: " + state[key];
                }
                state[key] = value;
                return std::string("created");
              }};
    case 1:
      return {"put " + key, PutAlways(key, value), [=](State& state) {
                state[key] = value;
                return std::string("put");
              }};
    case 2:
      return {"copy " + key + other,
              [=](support::ToyWork& work) {
                const std::string there = work.Get(key);
                if (!there.empty()) {
                  work.Put(other, there + "+");
                }
                return "copied " + there;
              },
              [=](State& state) {
                const std::string there = state.contains(key) ? state[key] : "";
                if (!there.empty()) {
                  state[other] = there + "+";
                }
                return "copied " + there;
              }};
    case 3:  // A search over everything, as a cascade or a uniqueness rule makes one.
      return {"count into " + key,
              [=](support::ToyWork& work) {
                const std::string count = std::to_string(work.Count(""));
                work.Put(key, "n" + count);
                return count;
              },
              [=](State& state) {
                const std::string count = std::to_string(state.size());
                state[key] = "n" + count;
                return count;
              }};
    default:
      return {"look " + key + other,
              [=](support::ToyWork& work) { return work.Get(key) + "/" + work.Get(other); },
              [=](State& state) {
                const auto at = [&](const std::string& k) {
                  return state.contains(k) ? state[k] : "";
                };
                return at(key) + "/" + at(other);
              }};
  }
}

// Whether some order of the operations, from `state`, gives these answers and this end.
bool SomeSerialOrderGives(const std::vector<Operation>& operations,
                          const std::vector<std::string>& answers, const State& state,
                          const State& end, std::vector<bool>& done, std::size_t left) {
  if (left == 0) {
    return state == end;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (done[i]) {
      continue;
    }
    State next = state;
    if (operations[i].model(next) != answers[i]) {
      continue;
    }
    done[i] = true;
    if (SomeSerialOrderGives(operations, answers, next, end, done, left - 1)) {
      return true;
    }
    done[i] = false;
  }
  return false;
}

void RunRound(Random& random) {
  CommitterFixture fixture;
  fixture.Open();
  fixture.Hold();
  std::vector<Operation> operations;
  for (int i = 0; i < 6; ++i) {
    operations.push_back(RandomOperation(random, i));
    fixture.Submit(operations.back().body);
  }
  fixture.WaitForBegins(1);
  const std::string foreign = Key(random);
  support::AppendOne(fixture.store_->journal(), support::kThings, foreign, "foreign");
  operations.push_back({"foreign " + foreign, {}, [=](State& state) {
                          state[foreign] = "foreign";
                          return std::string("foreign");
                        }});
  fixture.Release();
  std::vector<std::string> answers;
  std::string story;
  const std::vector<support::Ended> ended = fixture.WaitForAll();
  for (std::size_t i = 0; i < ended.size(); ++i) {
    ASSERT_NE(ended[i].kind, CommandOutcome::Kind::kFailed) << ended[i].why;
    answers.push_back(ended[i].answer);
    story += operations[i].name + " -> " + ended[i].answer + "; ";
  }
  answers.push_back("foreign");
  std::vector<bool> done(operations.size(), false);
  EXPECT_TRUE(
      SomeSerialOrderGives(operations, answers, {}, fixture.Values(), done, operations.size()))
      << story << operations.back().name;
}

TEST(SerialisableTest, ABatchGivesOnlyWhatSomeSerialOrderGives) {
  support::SeededRandom random;
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    RunRound(random);
  }
}

}  // namespace
}  // namespace engine
