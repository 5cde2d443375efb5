// The parameters of lists: page, size, order, cursor, search, fields and the reference filter.

#pragma once

#include <cstdint>
#include <variant>

#include "api/http/problem.h"
#include "api/resources/fields.h"
#include "projections/registry.h"
#include "projections/resources/image.h"

namespace api {

inline constexpr std::int64_t kMaxPage = 100'000;
inline constexpr std::int64_t kMaxPageSize = 100;
inline constexpr std::int64_t kDefaultPageSize = 20;

struct PageParams {
  std::size_t page = 1;
  std::size_t size = kDefaultPageSize;
};
// Page and size alone; nothing else is looked at.
std::variant<Problem, PageParams> ParsePageParams(const Request& request);

// What a list was asked for. It points into the request.
struct ListParams {
  projections::ListOptions options;  // `search` and `after` in it, where given.
  FieldSelection fields;
  // `cursor` was given, blank or not: the answer says where the next page begins.
  bool wants_cursor = false;
  // Empty, or both given.
  std::string_view ref_type;
  std::string_view ref_target_id;
};

// `kind` is what the route lists; null: any. All that is wrong with page and size is reported
// together. A parameter that is blank counts as absent, an unknown one is ignored.
//
// Half a reference filter is refused on every list, and so is a type that the kind does not have; a
// list of any kind has no reference types and ignores a whole filter. A search that is none is
// VAL-005 and says where it goes wrong. A cursor goes with the order it was made for, and not with
// `page`.
std::variant<Problem, ListParams> ParseListParams(const Request& request,
                                                  const projections::EntityDescriptor* kind);

}  // namespace api
