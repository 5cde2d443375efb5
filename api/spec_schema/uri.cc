#include "api/spec_schema/uri.h"

#include <charconv>
#include <cstddef>

namespace api {
namespace {

struct Parts {
  std::string_view scheme;                    // With its colon.
  std::optional<std::string_view> authority;  // Without the slashes.
  std::string_view path;
  std::string_view query;  // With its question mark.
};

bool IsSchemeCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.';
}

std::string_view TakeScheme(std::string_view& uri) {
  std::size_t end = 0;
  while (end < uri.size() && IsSchemeCharacter(uri[end])) {
    ++end;
  }
  if (end == 0 || end == uri.size() || uri[end] != ':') {
    return "";
  }
  const std::string_view scheme = uri.substr(0, end + 1);
  uri.remove_prefix(end + 1);
  return scheme;
}

Parts Split(std::string_view uri) {
  Parts parts;
  if (const std::size_t question = uri.find('?'); question != std::string_view::npos) {
    parts.query = uri.substr(question);
    uri = uri.substr(0, question);
  }
  parts.scheme = TakeScheme(uri);
  if (uri.starts_with("//")) {
    const std::size_t end = std::min(uri.find('/', 2), uri.size());
    parts.authority = uri.substr(2, end - 2);
    uri.remove_prefix(end);
  }
  parts.path = uri;
  return parts;
}

// RFC 3986 5.2.4.
std::string WithoutDots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? "/" : path.substr(3);
      out.resize(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
    } else if (path == "." || path == "..") {
      path = "";
    } else {
      const std::size_t end = std::min(path.find('/', 1), path.size());
      out += path.substr(0, end);
      path.remove_prefix(end);
    }
  }
  return out;
}

std::string Merge(const Parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) {
    return "/" + std::string(path);
  }
  const std::size_t slash = base.path.rfind('/');
  const std::string_view folder =
      slash == std::string_view::npos ? "" : base.path.substr(0, slash + 1);
  return std::string(folder) + std::string(path);
}

std::string Join(std::string_view scheme, const std::optional<std::string_view>& authority,
                 std::string_view path, std::string_view query) {
  std::string uri(scheme);
  if (authority) {
    uri += "//";
    uri += *authority;
  }
  uri += path;
  uri += query;
  return uri;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = text.data() + at + 1;
    if (text[at] == '%' && text.size() - at > 2 &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::string Unescaped(std::string_view step) {
  std::string out;
  for (std::size_t at = 0; at < step.size(); ++at) {
    const bool is_escape = step[at] == '~' && at + 1 < step.size();
    out += !is_escape ? step[at] : step[at + 1] == '1' ? '/' : '~';
    at += is_escape ? 1 : 0;
  }
  return out;
}

const JsonValue* Element(const JsonArray& array, std::string_view step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = error == std::errc() && end == step.data() + step.size();
  return whole && index < array.size() ? &array[index] : nullptr;
}

}  // namespace

UriAndFragment ResolveUri(std::string_view base, std::string_view reference) {
  UriAndFragment result;
  if (const std::size_t hash = reference.find('#'); hash != std::string_view::npos) {
    result.fragment = PercentDecoded(reference.substr(hash + 1));
    reference = reference.substr(0, hash);
  }
  const Parts from = Split(base);
  const Parts to = Split(reference);
  if (reference.empty()) {
    result.uri = base;
  } else if (!to.scheme.empty()) {
    result.uri = Join(to.scheme, to.authority, WithoutDots(to.path), to.query);
  } else if (to.authority) {
    result.uri = Join(from.scheme, to.authority, WithoutDots(to.path), to.query);
  } else if (to.path.empty()) {
    result.uri = Join(from.scheme, from.authority, from.path, to.query);
  } else {
    const std::string path = to.path.starts_with('/') ? std::string(to.path) : Merge(from, to.path);
    result.uri = Join(from.scheme, from.authority, WithoutDots(path), to.query);
  }
  return result;
}

const JsonValue* FollowPointer(const JsonValue& root, std::string_view pointer) {
  const JsonValue* at = &root;
  while (at != nullptr && !pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string step = Unescaped(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    at = at->is_object()  ? at->get_object().if_contains(step)
         : at->is_array() ? Element(at->get_array(), step)
                          : nullptr;
  }
  return at;
}

std::string PointerStep(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return step;
}

}  // namespace api
