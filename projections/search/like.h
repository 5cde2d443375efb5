// The patterns of `like`: `%` is any text, `_` any character, a backslash takes the meaning from
// what follows it. As in Postgres.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>
#include <string_view>

namespace projections::search {

// Whether every backslash has something behind it.
bool IsPattern(std::string_view pattern);

// Whether all of `text` (UTF-8) fits. REQUIRES: IsPattern(pattern). Takes time in proportion to the
// text, or where there are `_`, at worst to the product of both lengths.
bool IsLike(std::string_view text, std::string_view pattern);

// A to Z in lower case, everything else as it is.
std::string LowerAscii(std::string_view text);

}  // namespace projections::search
