// Names and labels: what their text may be. docs/resources.md has the rules.
//
// Pure functions; thread-safe, never block. Lengths are in bytes.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "projections/registry.h"

namespace projections {

using Labels = std::map<std::string, std::string>;

// One thing that is wrong with a request, as an answer lists it.
struct FieldError {
  std::string field;  // `name`, `labels`, `labels[<key>]`
  std::string message;
  std::string constraint;  // `required`, `min_length`, `max_length`, `pattern`
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

// Empty: the name will do for that kind. At most one error.
std::vector<FieldError> CheckName(std::string_view name, const EntityDescriptor& descriptor);

// As many bad labels as are told at once: a body has room for a million, each told in a hundred
// bytes twice over.
inline constexpr std::size_t kLabelErrorsTold = 100;

// All bad labels at once, up to that many errors: a bad key is an error of `labels`, a bad value
// one of `labels[<key>]`.
std::vector<FieldError> CheckLabels(const Labels& labels);

}  // namespace projections
