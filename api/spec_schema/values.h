// JSON values as a schema sees them: numbers by what they are worth, to the last digit, whatever
// the way they were written or are kept.
//
// Pure functions; thread-safe, never block. Linear in the size of what they look at.

#pragma once

#include <compare>
#include <cstddef>

#include "api/json/parser.h"

namespace api {

// REQUIRES of all four: the arguments are numbers.
std::weak_ordering CompareNumbers(const JsonValue& a, const JsonValue& b);
// `2`, `2.0` and `2e0` are whole.
bool IsWhole(const JsonValue& number);
// Of the decimals that were written: 0.0075 is a multiple of 0.0001. REQUIRES: divisor > 0.
bool IsMultipleOf(const JsonValue& number, const JsonValue& divisor);
bool IsPositive(const JsonValue& number);

// Objects are equal whatever the order of their members.
bool EqualValues(const JsonValue& a, const JsonValue& b);
// Equal values have equal hashes; seeded for each process, so nobody can prepare collisions.
std::size_t HashValue(const JsonValue& value);
// No two elements are equal.
bool AllDiffer(const JsonArray& array);

}  // namespace api
