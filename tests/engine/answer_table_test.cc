#include "engine/answer_table.h"

#include <gmock/gmock.h>

#include "tests/support/logs.h"

namespace engine {
namespace {

KeptAnswer AnswerAt(const std::string& key, std::int64_t micros) {
  return {.key = key, .request = "asked", .answer = key + " then", .tx = Tx{1}, .at = {micros}};
}

TEST(AnswerTableTest, FindsWhatWasAdded) {
  AnswerTable table;
  table.Add(AnswerAt("a", 1));
  table.Add(AnswerAt("b", 2));
  const std::vector<std::string> keys = {"b", "c", "a"};
  EXPECT_THAT(table.Find(keys), testing::ElementsAre(AnswerAt("b", 2), AnswerAt("a", 1)));
  const std::vector<KeptAnswer> one = {AnswerAt("c", 3), AnswerAt("b", 3)};
  EXPECT_TRUE(table.HasAny(one));
  const std::vector<KeptAnswer> none = {AnswerAt("c", 3)};
  EXPECT_FALSE(table.HasAny(none));
}

TEST(AnswerTableTest, PrunesTheOldestAndStopsAtTheFirstYoungOne) {
  AnswerTable table;
  for (std::int64_t at = 1; at <= 5; ++at) {
    table.Add(AnswerAt(std::string(1, static_cast<char>('a' + at)), at));
  }
  EXPECT_EQ(table.Prune({4}, 2), 2U);
  EXPECT_EQ(table.Prune({4}, 10), 1U) << "at the moment itself it is not older";
  EXPECT_EQ(table.Prune({4}, 10), 0U);
  const std::vector<std::string> keys = {"d", "e", "f"};
  EXPECT_THAT(table.Find(keys), testing::ElementsAre(AnswerAt("e", 4), AnswerAt("f", 5)));
}

TEST(AnswerTableTest, TheOldestGoWhenTheyTakeTooMuchRoom) {
  AnswerTable measure;
  measure.Add(AnswerAt("a", 1));
  AnswerTable table(3 * measure.bytes());
  for (std::int64_t at = 1; at <= 5; ++at) {
    table.Add(AnswerAt(std::string(1, static_cast<char>('a' + at)), at));
    EXPECT_LE(table.bytes(), 3 * measure.bytes());
  }
  EXPECT_EQ(table.dropped(), 2U);
  const std::vector<std::string> keys = {"b", "c", "d", "e", "f"};
  EXPECT_THAT(table.Find(keys),
              testing::ElementsAre(AnswerAt("d", 3), AnswerAt("e", 4), AnswerAt("f", 5)));
  EXPECT_THAT(support::LogLines(), testing::Contains(testing::HasSubstr("limit of bytes")));
  EXPECT_EQ(table.Prune({9}, 10), 3U);
  EXPECT_EQ(table.bytes(), 0U);
}

TEST(AnswerTableTest, AnAnswerInTheOldOnesPlaceTakesNoRoomTwice) {
  AnswerTable table;
  table.Add(AnswerAt("a", 1));
  const std::size_t one = table.bytes();
  table.Add(AnswerAt("a", 2));
  EXPECT_EQ(table.bytes(), one);
}

// A log that is read again holds an old answer and, behind it, a younger one of the same key.
TEST(AnswerTableTest, AnOldAnswersAgeDoesNotTakeTheYoungerOneAlong) {
  AnswerTable table;
  table.Add(AnswerAt("a", 1));
  table.Add(AnswerAt("a", 9));
  EXPECT_EQ(table.Prune({5}, 10), 0U);
  const std::vector<std::string> keys = {"a"};
  EXPECT_THAT(table.Find(keys), testing::ElementsAre(AnswerAt("a", 9)));
}

}  // namespace
}  // namespace engine
