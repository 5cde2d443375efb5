// The formats that are demanded of values, where a deployment's OpenAPI document names them.
//
// `date`, `date-time` (RFC 3339), `byte` (base64, both alphabets) of strings; `int32`, `int64` of
// numbers. Every other name is a remark for readers, as it is to the servers that such documents
// were written for. Pure functions; thread-safe, never block.

#pragma once

#include <string_view>

#include "api/json/parser.h"

namespace api {

enum class Format { kAny, kDate, kDateTime, kByte, kInt32, kInt64 };

// kAny where nothing is demanded.
Format FormatOf(std::string_view name);
std::string_view FormatName(Format format);

// A value of another type than the format's passes.
bool HasFormat(const JsonValue& value, Format format);

}  // namespace api
