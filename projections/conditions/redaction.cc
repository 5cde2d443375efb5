#include "projections/conditions/redaction.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/base/guard.h"

namespace projections {
namespace {

constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"password",    "secret",     "token",      "apikey",     "api_key",    "privatekey",
     "secretkey",   "accesskey",  "sshkey",     "accountkey", "servicekey", "encryptionkey",
     "registrykey", "signingkey", "credential", "passphrase", "private",    "auth",
     "connection",  "cert",       "kubeconfig", "bearer"});

cel::Value RedactedAt(const cel::Value& value, int depth) {
  if (!GUARD("conditions.redaction-depth", depth <= kMaxRedactionDepth)) {
    return cel::Value(std::string(kRedacted));
  }
  if (value.kind() == cel::Value::Kind::kList) {
    cel::Value::List list;
    for (const cel::Value& element : value.list()) {
      list.push_back(RedactedAt(element, depth + 1));
    }
    return cel::Value(std::move(list));
  }
  if (value.kind() != cel::Value::Kind::kMap) {
    return value;
  }
  cel::Value::Map map;
  for (const auto& [member, part] : value.map()) {
    map.emplace(member, GUARD("conditions.redaction", !SoundsSecret(member))
                            ? RedactedAt(part, depth + 1)
                            : cel::Value(std::string(kRedacted)));
  }
  return cel::Value(std::move(map));
}

}  // namespace

bool SoundsSecret(std::string_view member) {
  std::string lower(member);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return std::ranges::any_of(kSecretWords, [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

cel::Value Redacted(const cel::Value& value) {
  return RedactedAt(value, 0);
}

}  // namespace projections
