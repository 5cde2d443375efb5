#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "api/main/serve_config.h"
#include "api/main/values.h"
#include "api/server/version.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// `a, b` as its parts, without the white space around them; nothing is left of empty ones.
std::vector<std::string> PartsOf(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const std::size_t begin = part.find_first_not_of(" \t");
    if (begin != std::string_view::npos) {
      parts.emplace_back(part.substr(begin, part.find_last_not_of(" \t") - begin + 1));
    }
  }
  return parts;
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string NameOfThisMachine() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? std::string(name) : std::string();
}

}  // namespace

absl::StatusOr<LogConfig> ReadLogConfig(const Settings& settings) {
  LogConfig log;
  std::size_t level = 1;
  std::size_t output = 0;
  std::size_t format = 0;
  bool masks = true;
  std::string fields = "password,secret,token,api_key,access_token,refresh_token,client_secret";
  RETURN_IF_ERROR(ReadChoice(settings, "log-level", {"debug", "info", "warn", "error"}, level));
  RETURN_IF_ERROR(ReadChoice(settings, "logging.output", {"stderr", "stdout"}, output));
  RETURN_IF_ERROR(ReadChoice(settings, "logging.format", {"json", "text"}, format));
  RETURN_IF_ERROR(ReadBool(settings, "logging.masking.enabled", masks));
  RETURN_IF_ERROR(ReadText(settings, "logging.masking.fields", fields));
  log.level = static_cast<engine::Severity>(level);
  log.output = output == 0 ? LogOutput::kStandardError : LogOutput::kStandardOutput;
  log.format.is_text = format == 1;
  log.format.component = "api";
  log.format.version = kVersion;
  log.format.hostname = NameOfThisMachine();
  RETURN_IF_ERROR(ReadText(settings, "server.hostname", log.format.hostname));
  if (masks) {
    log.format.masked_fields = PartsOf(LowerCase(fields));
  }
  return log;
}

absl::Status ReadAccessLog(const Settings& settings, AccessLogOptions& options) {
  RETURN_IF_ERROR(ReadBool(settings, "logging.masking.enabled", options.is_masked));
  if (const auto headers = settings.Find("logging.masking.headers")) {
    options.masked_headers = PartsOf(headers->text);
  }
  return absl::OkStatus();
}

}  // namespace api
