// Cursors of lists: a place in a list as a token that a client sends back.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "projections/resources/order.h"

namespace api {

// Letters and digits. It says nothing that the item it was made from does not.
std::string EncodeListCursor(const projections::Order& order, const projections::ListPlace& place);

// Empty when the token is not one of ours, or one of another order.
std::optional<projections::ListPlace> DecodeListCursor(std::string_view token,
                                                       const projections::Order& order);

}  // namespace api
