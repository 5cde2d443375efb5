#include "api/resources/list_cursor.h"

#include <gtest/gtest.h>

namespace api {
namespace {

using projections::ListPlace;
using projections::Order;
using projections::ResourceColumn;

const Order kOrder = {{ResourceColumn::kDeletedTime, true}, {ResourceColumn::kName, false}};

ListPlace Place() {
  return {.values = {{.absent = true}, {.number = -7, .text = "n\xC3\xA4me"}}, .id = "the-id"};
}

TEST(ListCursorTest, APlaceIsReadBack) {
  EXPECT_EQ(DecodeListCursor(EncodeListCursor(kOrder, Place()), kOrder), Place());
}

TEST(ListCursorTest, ACursorIsOfItsOrder) {
  const std::string token = EncodeListCursor(kOrder, Place());
  Order other = kOrder;
  other[0].descending = false;
  EXPECT_EQ(DecodeListCursor(token, other), std::nullopt);
  other = kOrder;
  other.pop_back();
  EXPECT_EQ(DecodeListCursor(token, other), std::nullopt);
  other = kOrder;
  other.push_back({ResourceColumn::kId, false});
  EXPECT_EQ(DecodeListCursor(token, other), std::nullopt);
}

TEST(ListCursorTest, WhatWasChangedOrCutIsNoCursor) {
  const std::string token = EncodeListCursor(kOrder, Place());
  for (std::size_t i = 0; i < token.size(); ++i) {
    EXPECT_EQ(DecodeListCursor(token.substr(0, i), kOrder), std::nullopt) << i;
    std::string changed = token;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_EQ(DecodeListCursor(changed, kOrder), std::nullopt) << i;
  }
  EXPECT_EQ(DecodeListCursor(token + "00", kOrder), std::nullopt);
  EXPECT_EQ(DecodeListCursor("not hexadecimal", kOrder), std::nullopt);
}

}  // namespace
}  // namespace api
