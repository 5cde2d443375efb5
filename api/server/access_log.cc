#include "api/server/access_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/http/trace.h"
#include "api/server/request_facts.h"
#include "engine/base/guard.h"
#include "engine/base/log_format.h"

namespace api {
namespace {

// What a line shows of all headers together.
constexpr std::size_t kMaxHeaderBytes = 4096;

engine::Severity SeverityOf(const Request& request, int status) {
  if (IsProbe(request)) {
    return engine::Severity::kDebug;
  }
  if (status >= 500) {
    return engine::Severity::kError;
  }
  return status == 401 || status == 403 ? engine::Severity::kWarning : engine::Severity::kInfo;
}

std::vector<engine::LogField> FieldsOf(const Request& request) {
  std::vector<engine::LogField> fields = {
      {"request_id", request.id()},
      {"method", request.method_name()},
      {"path", request.path()},
      {"remote_addr", request.remote_address()},
      {"user_agent", request.Header("User-Agent").value_or("")}};
  if (const std::optional<TraceContext> trace = TraceOf(request)) {
    fields.emplace_back("trace_id", trace->trace_id);
    fields.emplace_back("span_id", trace->parent_id);
  }
  return fields;
}

}  // namespace

AccessLog::AccessLog(AccessLogOptions options) : options_(std::move(options)) {}

bool AccessLog::IsSecret(const HeaderField& field) const {
  const std::string_view value = field.value;
  const std::string_view scheme = value.substr(0, value.find(' '));
  const auto is_name = [&field](const std::string& name) {
    return EqualsIgnoreCase(name, field.name);
  };
  return EqualsIgnoreCase(scheme, "Bearer") || EqualsIgnoreCase(scheme, "Basic") ||
         std::ranges::any_of(options_.masked_headers, is_name);
}

std::string AccessLog::HeadersOf(const Request& request) const {
  std::string text;
  for (const HeaderField& field : request.headers()) {
    const bool is_masked = options_.is_masked && GUARD("access-log.credentials", IsSecret(field));
    text += text.empty() ? "" : ", ";
    text += field.name + ": ";
    text += is_masked ? engine::kRedacted : std::string_view(field.value);
    if (text.size() > kMaxHeaderBytes) {
      text.resize(kMaxHeaderBytes);
      return text + " ...";
    }
  }
  return text;
}

void AccessLog::Arrived(const Request& request) const {
  const engine::Severity severity =
      IsProbe(request) ? engine::Severity::kDebug : engine::Severity::kInfo;
  if (!engine::IsLogged(severity)) {
    return;
  }
  std::vector<engine::LogField> fields = FieldsOf(request);
  fields.emplace_back("headers", HeadersOf(request));
  engine::LogFields(severity, "arrived", fields);
}

void AccessLog::Answered(const Request& request, int status, double seconds) const {
  const engine::Severity severity = SeverityOf(request, status);
  if (!engine::IsLogged(severity)) {
    return;
  }
  std::vector<engine::LogField> fields = FieldsOf(request);
  fields.emplace_back("status_code", status);
  fields.emplace_back("duration_ms", std::round(seconds * 1e6) / 1e3);
  if (const std::string_view id = request.PathParameter("id"); !id.empty()) {
    fields.emplace_back("resource_type", ResourceTypeOf(request));
    fields.emplace_back("resource_id", id);
  }
  engine::LogFields(severity, "answered", fields);
}

}  // namespace api
