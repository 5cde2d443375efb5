#include "api/resources/list_params.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/resources/list_cursor.h"
#include "api/resources/problems.h"
#include "projections/search/parser.h"

namespace api {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t';
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// Absent when blank.
std::optional<std::string_view> Given(const Request& request, std::string_view name) {
  const std::optional<std::string_view> value = request.Query(name);
  if (!value || Trim(*value).empty()) {
    return std::nullopt;
  }
  return Trim(*value);
}

std::size_t ReadNumber(const Request& request, std::string_view name, std::int64_t max,
                       std::int64_t fallback, std::vector<projections::FieldError>& errors) {
  const std::optional<std::string_view> text = Given(request, name);
  if (!text) {
    return static_cast<std::size_t>(fallback);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool is_number = end == text->data() + text->size();
  if (is_number && error == std::errc::result_out_of_range) {
    number = text->front() == '-' ? 0 : max + 1;
  } else if (!is_number || error != std::errc()) {
    errors.push_back({std::string(name), absl::StrFormat("%s must be an integer", name), "format"});
    return 1;
  }
  if (number < 1) {
    errors.push_back({std::string(name), absl::StrFormat("%s must be at least 1", name), "min"});
    return 1;
  }
  if (number > max) {
    errors.push_back(
        {std::string(name), absl::StrFormat("%s must be at most %d", name, max), "max"});
    return 1;
  }
  return static_cast<std::size_t>(number);
}

Problem BadOrder(std::string detail) {
  Problem problem;
  problem.code = ProblemCode::kBadRequest;
  problem.detail = std::move(detail);
  return problem;
}

bool IsColumnName(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) {
    return false;
  }
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) {
      return false;
    }
  }
  return true;
}

// One `field`, `field asc` or `field desc`.
std::variant<Problem, projections::OrderTerm> ParseTerm(std::string_view text) {
  const std::string_view term = Trim(text);
  std::size_t end = 0;
  while (end < term.size() && !IsSpace(term[end])) {
    ++end;
  }
  const std::string_view name = term.substr(0, end);
  const std::string_view direction = Trim(term.substr(end));
  if (!IsColumnName(name) || !(direction.empty() || direction == "asc" || direction == "desc")) {
    return BadOrder(
        absl::StrFormat("invalid order format '%s': expected field, field asc or "
                        "field desc",
                        term));
  }
  const auto column = projections::FindColumn(name);
  if (!column) {
    return BadOrder(absl::StrFormat("invalid order format: there is no field '%s'", name));
  }
  return projections::OrderTerm{*column, direction == "desc"};
}

// A column that comes again decides nothing any more; a thousand of them would only make every
// comparison of the sort, which runs on the I/O thread, a thousand times as long.
void AddTerm(const projections::OrderTerm& term, projections::Order& order) {
  if (std::ranges::find(order, term.column, &projections::OrderTerm::column) == order.end()) {
    order.push_back(term);
  }
}

std::variant<Problem, projections::Order> ParseOrder(const Request& request) {
  projections::Order order;
  for (std::string_view value : request.QueryAll("order")) {
    if (Trim(value).empty()) {
      continue;
    }
    while (true) {
      const std::size_t comma = value.find(',');
      auto term = ParseTerm(value.substr(0, comma));
      if (auto* problem = std::get_if<Problem>(&term)) {
        return std::move(*problem);
      }
      AddTerm(std::get<projections::OrderTerm>(term), order);
      if (comma == std::string_view::npos) {
        break;
      }
      value.remove_prefix(comma + 1);
    }
  }
  return order.empty() ? projections::DefaultOrder() : order;
}

std::optional<Problem> ReadReferenceFilter(const Request& request,
                                           const projections::EntityDescriptor* kind,
                                           ListParams& params) {
  const auto type = Given(request, "ref_type");
  const auto target = Given(request, "ref_target_id");
  if (type.has_value() != target.has_value()) {
    return FieldProblem(type ? "reftargetid" : "reftype",
                        "ref_type and ref_target_id must be given together", "required");
  }
  if (!type || kind == nullptr) {
    return std::nullopt;
  }
  const bool is_known =
      std::ranges::find(kind->references, *type, &projections::ReferenceDescriptor::ref_type) !=
      kind->references.end();
  if (!is_known) {
    return FieldProblem(
        "reftype", absl::StrFormat("%s has no reference type '%s'", kind->kind, *type), "enum");
  }
  params.ref_type = *type;
  params.ref_target_id = *target;
  return std::nullopt;
}

std::optional<Problem> ReadSearch(const Request& request, projections::ListOptions& options) {
  const auto text = Given(request, "search");
  if (!text) {
    return std::nullopt;
  }
  auto search = projections::search::ParseSearch(*text);
  if (!search.ok()) {
    Problem problem;
    problem.code = ProblemCode::kBadRequest;
    problem.detail = std::string(search.status().message());
    return problem;
  }
  options.search = std::make_shared<const projections::search::Node>(*std::move(search));
  return std::nullopt;
}

// REQUIRES: the order has been read.
std::optional<Problem> ReadCursor(const Request& request, ListParams& params) {
  const auto cursor = request.Query("cursor");
  params.wants_cursor = cursor.has_value();
  if (!cursor) {
    return std::nullopt;
  }
  if (Given(request, "page")) {
    return FieldProblem("page", "page and cursor exclude each other", "");
  }
  if (Trim(*cursor).empty()) {
    return std::nullopt;
  }
  params.options.after = DecodeListCursor(Trim(*cursor), params.options.order);
  if (!params.options.after) {
    return FieldProblem("cursor", "this is no cursor of a list in this order", "format");
  }
  return std::nullopt;
}

}  // namespace

std::variant<Problem, ListParams> ParseListParams(const Request& request,
                                                  const projections::EntityDescriptor* kind) {
  ListParams params;
  projections::ListOptions& options = params.options;
  std::vector<projections::FieldError> errors;
  options.page = ReadNumber(request, "page", kMaxPage, 1, errors);
  options.size = ReadNumber(request, "size", kMaxPageSize, kDefaultPageSize, errors);
  if (!errors.empty()) {
    return FieldProblem(errors);
  }
  if (auto problem = ReadReferenceFilter(request, kind, params)) {
    return *std::move(problem);
  }
  if (auto problem = ReadSearch(request, options)) {
    return *std::move(problem);
  }
  auto order = ParseOrder(request);
  if (auto* problem = std::get_if<Problem>(&order)) {
    return std::move(*problem);
  }
  options.order = std::get<projections::Order>(std::move(order));
  if (auto problem = ReadCursor(request, params)) {
    return *std::move(problem);
  }
  auto fields = FieldSelection::Parse(request);
  if (auto* problem = std::get_if<Problem>(&fields)) {
    return std::move(*problem);
  }
  params.fields = std::get<FieldSelection>(std::move(fields));
  return params;
}

std::variant<Problem, PageParams> ParsePageParams(const Request& request) {
  std::vector<projections::FieldError> errors;
  PageParams params;
  params.page = ReadNumber(request, "page", kMaxPage, 1, errors);
  params.size = ReadNumber(request, "size", kMaxPageSize, kDefaultPageSize, errors);
  if (!errors.empty()) {
    return FieldProblem(errors);
  }
  return params;
}

}  // namespace api
