#include "api/resources/fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include <absl/strings/str_format.h>

#include "projections/search/json_scan.h"

namespace api {
namespace {

using projections::search::JsonMembers;

constexpr std::array<std::string_view, 16> kMembers = {
    "id",           "kind",       "name",         "href",       "spec",
    "labels",       "tenancy",    "generation",   "references", "owner_references",
    "created_time", "created_by", "updated_time", "updated_by", "deleted_time",
    "deleted_by"};
constexpr std::array<std::string_view, 3> kAllConditions = {"status.conditions", "status.*",
                                                            "status.conditions.*"};
constexpr std::string_view kCondition = "status.conditions.";
constexpr std::array<std::string_view, 8> kConditionMembers = {"type",
                                                               "status",
                                                               "reason",
                                                               "message",
                                                               "observed_generation",
                                                               "created_time",
                                                               "last_updated_time",
                                                               "last_transition_time"};

// A query has room for thousands of names.
constexpr std::size_t kErrorsTold = 20;

template <typename Names>
bool IsOneOf(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

void AddOnce(std::string_view name, std::vector<std::string>& names) {
  if (!IsOneOf(name, names)) {
    names.emplace_back(name);
  }
}

// Names with commas between them, from all parameters of that name; blank ones are left out.
std::vector<std::string_view> NamesIn(const Request& request) {
  std::vector<std::string_view> names;
  for (std::string_view list : request.QueryAll("fields")) {
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      std::string_view name = list.substr(0, comma);
      list.remove_prefix(std::min(comma + 1, list.size()));
      name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
      name.remove_suffix(name.size() - (name.find_last_not_of(" \t") + 1));
      if (!name.empty()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

// Appends those members of an object that are in `names`; `append` writes a value.
template <typename Append>
void AppendMembers(std::string_view object, const std::vector<std::string>& names,
                   const Append& append, std::string& out) {
  out += '{';
  for (JsonMembers member(object); member.Next();) {
    if (!IsOneOf(member.key(), names)) {
      continue;
    }
    out += out.back() == '{' ? "" : ",";
    out += '"';
    out += member.key();
    out += "\":";
    append(member.key(), member.value().text);
  }
  out += '}';
}

}  // namespace

std::variant<Problem, FieldSelection> FieldSelection::Parse(const Request& request) {
  FieldSelection selection;
  bool has_all_conditions = false;
  Problem problem;
  problem.code = ProblemCode::kValidation;
  for (const std::string_view name : NamesIn(request)) {
    if (IsOneOf(name, kMembers)) {
      AddOnce(name, selection.members_);
    } else if (IsOneOf(name, kAllConditions)) {
      has_all_conditions = true;
      AddOnce("status", selection.members_);
    } else if (name.starts_with(kCondition) &&
               IsOneOf(name.substr(kCondition.size()), kConditionMembers)) {
      AddOnce("status", selection.members_);
      AddOnce(name.substr(kCondition.size()), selection.conditions_);
    } else if (problem.errors.size() < kErrorsTold) {
      problem.errors.push_back({.field = "fields",
                                .message = absl::StrFormat("there is no field '%s'", name),
                                .value = std::string(name),
                                .constraint = "enum"});
    }
  }
  if (!problem.errors.empty()) {
    problem.detail = problem.errors.front().message;
    return problem;
  }
  if (has_all_conditions) {
    selection.conditions_.clear();
  }
  if (!selection.members_.empty()) {
    AddOnce("id", selection.members_);
  }
  return selection;
}

void FieldSelection::Append(std::string_view document, std::string& out) const {
  if (is_all()) {
    out += document;
    return;
  }
  AppendMembers(
      document, members_,
      [this, &out](std::string_view key, std::string_view value) {
        if (key == "status" && !conditions_.empty()) {
          AppendStatus(value, out);
        } else {
          out += value;
        }
      },
      out);
}

void FieldSelection::AppendStatus(std::string_view status, std::string& out) const {
  out += "{\"conditions\":[";
  for (JsonMembers member(status); member.Next();) {
    for (JsonMembers condition(member.value().text); condition.Next();) {
      out += out.back() == '[' ? "" : ",";
      AppendMembers(
          condition.value().text, conditions_,
          [&out](std::string_view, std::string_view value) { out += value; }, out);
    }
  }
  out += "]}";
}

std::vector<std::string_view> FieldNames() {
  std::vector<std::string_view> names(kMembers.begin(), kMembers.end());
  names.push_back(kAllConditions.front());
  return names;
}

}  // namespace api
