// FieldSelection: which parts of a resource's document an answer shows (`?fields=`).
//
//   fields=name,labels,status.conditions.status
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/http/problem.h"
#include "api/http/request.h"

namespace api {

class FieldSelection {
 public:
  // Everything.
  FieldSelection() = default;

  // From the parameter `fields`, which may come more than once, names with commas between them. A
  // blank one counts as absent. VAL-000 names all that are no fields.
  //
  // Fields are the members of the document; of `status`: `status.conditions` (also `status.*`,
  // `status.conditions.*`) and single members of all conditions (`status.conditions.reason`).
  static std::variant<Problem, FieldSelection> Parse(const Request& request);

  bool is_all() const { return members_.empty(); }

  // Appends what is selected of `document`, in its order; the id always. A field that the resource
  // does not have is left out. REQUIRES: `document` is from AppendResourceDocument.
  void Append(std::string_view document, std::string& out) const;

 private:
  void AppendStatus(std::string_view status, std::string& out) const;

  std::vector<std::string> members_;     // Of the document, with `id`. Empty: all.
  std::vector<std::string> conditions_;  // Of each condition. Empty: all.
};

// All names that `fields` takes, for those who ask.
std::vector<std::string_view> FieldNames();

}  // namespace api
