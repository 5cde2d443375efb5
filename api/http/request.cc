#include "api/http/request.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "engine/base/bytes.h"
#include "engine/base/clock.h"

namespace api {
namespace {

constexpr std::array<std::string_view, 9> kMethods = {
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char LowerAscii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// False when a name or value does not decode.
bool ParseQuery(std::string_view query, std::vector<QueryParameter>& out) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = PercentDecode(pair.substr(0, equals), true);
    auto value = PercentDecode(pair.substr(std::min(pair.size(), equals + 1)), true);
    if (!name || !value) {
      return false;
    }
    out.push_back({*std::move(name), *std::move(value)});
  }
  return true;
}

bool IsUsableId(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

// `http://host/path?query` without scheme and host: every server has to accept that form (RFC 9112
// 3.2.2), proxies send it.
std::string_view OriginForm(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() >= scheme.size() &&
        EqualsIgnoreCase(target.substr(0, scheme.size()), scheme)) {
      const std::size_t path = target.find_first_of("/?", scheme.size());
      return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
    }
  }
  return target;
}

}  // namespace

std::string_view MethodName(Method method) {
  return method == Method::kOther ? "" : kMethods[static_cast<std::size_t>(method)];
}

Method MethodFromName(std::string_view name) {
  const auto found = std::find(kMethods.begin(), kMethods.end(), name);
  return found == kMethods.end() ? Method::kOther : static_cast<Method>(found - kMethods.begin());
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return std::nullopt;
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') {
      return std::nullopt;
    }
    out.push_back(c);
  }
  if (!engine::IsUtf8(out)) {
    return std::nullopt;
  }
  return out;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return LowerAscii(x) == LowerAscii(y);
         });
}

std::string RequestId(std::optional<std::string_view> inbound, engine::Random& random) {
  if (inbound && IsUsableId(*inbound)) {
    return std::string(*inbound);
  }
  return engine::NewUuidV7(engine::SystemClock().Now(), random);
}

Request::Request(RequestParts parts)
    : parts_(std::move(parts)), method_(MethodFromName(parts_.method)) {
  const std::string_view target = OriginForm(parts_.target);
  const std::size_t mark = std::min(target.find('?'), target.size());
  path_ = target.substr(0, mark);
  query_ = target.substr(std::min(target.size(), mark + 1));
  well_formed_ = ParseQuery(query_, query_parameters_);
  if (path_.find('%') != std::string_view::npos || !engine::IsUtf8(path_)) {
    well_formed_ = PercentDecode(path_, false).has_value() && well_formed_;
  }
  if (parts_.id.empty()) {
    parts_.id = RequestId(Header("X-Request-ID"));
  }
}

std::optional<std::string_view> Request::Query(std::string_view name) const {
  for (const QueryParameter& parameter : query_parameters_) {
    if (parameter.name == name) {
      return parameter.value;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> Request::QueryAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const QueryParameter& parameter : query_parameters_) {
    if (parameter.name == name) {
      values.push_back(parameter.value);
    }
  }
  return values;
}

std::optional<std::string_view> Request::Header(std::string_view name) const {
  for (const HeaderField& field : parts_.headers) {
    if (EqualsIgnoreCase(field.name, name)) {
      return field.value;
    }
  }
  return std::nullopt;
}

std::string_view Request::PathParameter(std::string_view name) const {
  for (const auto& [parameter, value] : path_parameters_) {
    if (parameter == name) {
      return value;
    }
  }
  return {};
}

}  // namespace api
