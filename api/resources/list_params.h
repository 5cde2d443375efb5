// The parameters of lists: page, size, order, and which references they are filtered by.

#pragma once

#include <cstdint>
#include <variant>

#include "api/http/problem.h"
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

// `kind` is what the route lists; null: any. All that is wrong with page and size is reported
// together. A parameter that is blank counts as absent, an unknown one is ignored.
//
// `search` would change which items are in the list, so it is refused while it cannot be honoured:
// 501. Half a reference filter is 400 on every list, and so is a type that the kind does not have;
// a list of any kind has no reference types and ignores a whole filter.
struct ListParams {
  projections::ListOptions options;
  // Empty, or both given. They point into the request.
  std::string_view ref_type;
  std::string_view ref_target_id;
};
std::variant<Problem, ListParams> ParseListParams(const Request& request,
                                                  const projections::EntityDescriptor* kind);

}  // namespace api
