#include "api/dispatch/cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/compactor.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::Optional;

const std::string kKey(engine::Seal::kKeyBytes, 'k');

HistoryCursor Example() {
  return {engine::Tx{9},
          {{engine::StreamId{2}, engine::Position{3}, engine::Digest{4}},
           {engine::StreamId{3}, engine::Position{~0ULL}, engine::Digest{~0ULL}}}};
}

TEST(CursorTest, IsReadAsItWasShown) {
  const CursorSeal seal(kKey);
  EXPECT_THAT(seal.Read(seal.Show(Example())), Optional(Example()));
  EXPECT_THAT(seal.Read(seal.Show({})), Optional(HistoryCursor()));
  EXPECT_EQ(CursorSeal(std::string(engine::Seal::kKeyBytes, 'K')).Read(seal.Show(Example())),
            std::nullopt);
}

TEST(CursorTest, OnlyItsOwnPurposeIsACursor) {
  const CursorSeal seal(kKey);
  EXPECT_EQ(seal.Read(seal.seal().Close("another", std::string(8, '\0'))), std::nullopt);
}

TEST(CursorTest, AStoreKeepsOneKey) {
  const auto engine = engine::memory::Open(schemas::Streams());
  ASSERT_OK_AND_ASSIGN(const auto one, CursorSeal::Open(engine->key_value(), support::Soon()));
  ASSERT_OK_AND_ASSIGN(const auto two, CursorSeal::Open(engine->key_value(), support::Soon()));
  EXPECT_THAT(two->Read(one->Show(Example())), Optional(Example()));
  const auto other = engine::memory::Open(schemas::Streams());
  ASSERT_OK_AND_ASSIGN(const auto three, CursorSeal::Open(other->key_value(), support::Soon()));
  EXPECT_EQ(three->Read(one->Show(Example())), std::nullopt);
}

TEST(CursorTest, BelowTheFloorNothingCanBeTold) {
  const auto engine = engine::memory::Open(schemas::Streams());
  engine::Cursors at;
  for (int i = 0; i < 5; ++i) {
    const engine::Record row =
        support::AppendOne(engine->journal(), schemas::kResourcesStream, "a", "p");
    at.push_back({row.stream, row.position, row.digest});
  }
  engine::Compactor compactor(engine->journal(), {});
  ASSERT_OK(compactor.RaiseTo(schemas::kResourcesStream, at[2].position, std::chrono::seconds(30)));
  const auto check = [&](std::size_t i) {
    return CheckHistory(engine->journal(), {at[i]}, support::Soon());
  };
  EXPECT_THAT(check(1), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_OK(check(2));
  EXPECT_OK(check(4));
  const engine::Cursors start = {{schemas::kResourcesStream, {}, {}}};
  EXPECT_THAT(CheckHistory(engine->journal(), start, support::Soon()),
              StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace api
