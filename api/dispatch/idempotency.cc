#include "api/dispatch/idempotency.h"

#include <initializer_list>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/sha256.h"

namespace api {
namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
constexpr std::uint8_t kAnswerVersion = 1;

void AppendText(std::string_view text, std::string& out) {
  engine::AppendU32(static_cast<std::uint32_t>(text.size()), out);
  out += text;
}

// With their lengths, so that no part can pass for the end of the one before it.
std::string HashOf(std::initializer_list<std::string_view> parts) {
  engine::Sha256 hash;
  for (const std::string_view part : parts) {
    std::string length;
    engine::AppendU32(static_cast<std::uint32_t>(part.size()), length);
    hash.Update(length);
    hash.Update(part);
  }
  return hash.Finish();
}

bool IsKey(std::string_view key) {
  if (key.empty() || key.size() > kMaxIdempotencyKeyBytes) {
    return false;
  }
  for (const char c : key) {
    if (c < '!' || c > '~') {
      return false;
    }
  }
  return true;
}

// Of this request's path; a trailing slash makes no difference to the router.
std::string_view PathOf(const Request& request) {
  std::string_view path = request.path();
  if (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path;
}

// Takes bytes one field after another.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t U8() { return static_cast<std::uint8_t>(Take(1)[0]); }
  std::uint16_t U16() { return engine::ReadU16(Take(2)); }
  std::string Text() {
    const std::size_t size = engine::ReadU32(Take(4));
    return good_ && size <= rest_.size() ? std::string(Take(size)) : (good_ = false, "");
  }
  bool good() const { return good_; }
  bool AtEnd() const { return good_ && rest_.empty(); }

 private:
  // Zeros when there are not as many.
  std::string_view Take(std::size_t size) {
    static constexpr char kZeros[4] = {};
    if (rest_.size() < size) {
      good_ = false;
      return {kZeros, sizeof(kZeros)};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

// One text for each tenant; empty where tenants are not told apart.
std::string TenantOf(const Caller& caller) {
  std::string text;
  if (caller.is_system) {
    AppendText("system", text);
  }
  for (const auto& [key, value] : caller.tenant.dims()) {
    AppendText(key, text);
    AppendText(value, text);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::optional<engine::RetryKey>> RetryKeyOf(const Request& request,
                                                           const Caller& caller) {
  std::optional<std::string_view> key;
  for (const HeaderField& field : request.headers()) {
    if (!EqualsIgnoreCase(field.name, kHeader)) {
      continue;
    }
    if (key.has_value()) {
      return absl::InvalidArgumentError("there is more than one Idempotency-Key");
    }
    key = field.value;
  }
  if (!key.has_value()) {
    return std::optional<engine::RetryKey>();
  }
  if (!IsKey(*key)) {
    return absl::InvalidArgumentError(
        "Idempotency-Key must have 1 to 255 visible ASCII characters");
  }
  // Whoever is unknown is no operator, whatever an operator may be called.
  const std::string_view kind = caller.is_admin ? "operator" : "anyone";
  const std::string tenant = GUARD("idempotency.tenant", false) ? std::string() : TenantOf(caller);
  const std::string_view actor =
      GUARD("idempotency.caller", false) ? std::string_view() : std::string_view(caller.actor);
  return std::optional(engine::RetryKey{
      .key = HashOf({kind, actor, tenant, request.method_name(), PathOf(request), *key}),
      .request = HashOf({request.query(), request.Header("If-Match").value_or(std::string_view()),
                         request.body()})});
}

std::string EncodeAnswer(const Response& response) {
  std::string bytes;
  engine::AppendU8(kAnswerVersion, bytes);
  engine::AppendU16(static_cast<std::uint16_t>(response.status), bytes);
  AppendText(response.content_type, bytes);
  engine::AppendU16(static_cast<std::uint16_t>(response.headers.size()), bytes);
  for (const HeaderField& field : response.headers) {
    AppendText(field.name, bytes);
    AppendText(field.value, bytes);
  }
  AppendText(response.body, bytes);
  return bytes;
}

absl::StatusOr<Response> DecodeAnswer(std::string_view bytes) {
  Reader reader(bytes);
  if (const std::uint8_t version = reader.U8(); reader.good() && version != kAnswerVersion) {
    return absl::DataLossError("the kept answer is of another version");
  }
  Response response;
  response.status = reader.U16();
  response.content_type = reader.Text();
  const std::uint16_t headers = reader.U16();
  for (std::uint16_t i = 0; i < headers && reader.good(); ++i) {
    std::string name = reader.Text();
    response.With(std::move(name), reader.Text());
  }
  response.body = reader.Text();
  if (!reader.AtEnd()) {
    return absl::DataLossError("the kept answer is damaged");
  }
  return response;
}

}  // namespace api
