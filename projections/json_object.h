// JsonObject: appends an object to a text, member by member.
//
// Thread-compatible; never blocks. Names need no escaping.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <flatbuffers/flatbuffers.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/logging.h"
#include "schemas/codec.h"

namespace projections {

class JsonObject {
 public:
  // Appends to `out`, which must outlive this.
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  // The value is to be appended to what it returns. REQUIRES: at most 32 bytes of name.
  std::string& Member(std::string_view name) {
    // Put together first: an answer has some thirty members, and each append would be a call.
    std::array<char, 36> text;
    ENGINE_CHECK(name.size() + 4 <= text.size());
    char* end = text.data();
    if (out_.back() != '{') {
      *end++ = ',';
    }
    *end++ = '"';
    end = std::copy(name.begin(), name.end(), end);
    *end++ = '"';
    *end++ = ':';
    return out_.append(text.data(), end);
  }
  void Text(std::string_view name, std::string_view value) {
    engine::AppendJsonString(value, Member(name));
  }
  void Text(std::string_view name, const flatbuffers::String* value) {
    Text(name, schemas::Text(value));
  }
  // Left out when there is none.
  void OptionalText(std::string_view name, const flatbuffers::String* value) {
    if (value != nullptr) {
      Text(name, value);
    }
  }
  void Time(std::string_view name, engine::Timestamp time) {
    std::string& out = Member(name);
    out += '"';
    engine::AppendTimestamp(time, out);
    out += '"';
  }
  void Number(std::string_view name, std::int64_t value) { Member(name) += std::to_string(value); }
  void Close() { out_ += '}'; }

 private:
  std::string& out_;
};

}  // namespace projections
