// The canonical form of a JSON value: equal values have equal bytes.
//
// RFC 8785: no white space, keys sorted by UTF-16 code units, shortest escapes, numbers as
// ECMAScript prints them. Two differences, so that reading the form back always gives an equal
// value and nothing is lost:
//   - integers of 64 bits keep all their digits (ECMAScript would round beyond 2^53);
//   - doubles of 2^64 and more below 1e21 are written with an exponent (`1e+20`), because the
//     same digits without one would be an integer beyond 64 bits, which ParseJson refuses.
//
// Thread-safe; never blocks.

#pragma once

#include <string>

#include "api/json/parser.h"

namespace api {

void AppendCanonicalJson(const JsonValue& value, std::string& out);
std::string CanonicalJson(const JsonValue& value);

// A number in the form above. REQUIRES: `number` is finite.
void AppendJsonNumber(double number, std::string& out);

// Whether both have the same canonical form: key order does not matter, `1.0` equals `1`, `-0.0`
// equals `0`, `9007199254740993` and `9007199254740992` differ.
bool JsonEquals(const JsonValue& a, const JsonValue& b);

}  // namespace api
