#include "api/main/entities.h"

#include <map>
#include <string>
#include <string_view>

#include <absl/strings/str_format.h>

#include "api/main/yaml_reader.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

using projections::ConditionRule;
using projections::EntityDescriptor;
using projections::ReferenceDescriptor;

absl::Status UnknownKey(const YAML::Node& node, std::string_view where, std::string_view key) {
  return AtLine(node, absl::StrFormat("unknown key %s.%s", where, key));
}

absl::StatusOr<projections::OnParentDelete> PolicyOf(const YAML::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, YamlText(node));
  if (text == "restrict") {
    return projections::OnParentDelete::kRestrict;
  }
  if (text == "cascade") {
    return projections::OnParentDelete::kCascade;
  }
  return AtLine(node, "on_parent_delete must be restrict or cascade");
}

absl::StatusOr<ReferenceDescriptor> ReferenceOf(const YAML::Node& node) {
  ReferenceDescriptor reference;
  const std::map<std::string_view, std::string*> texts = {{"ref_type", &reference.ref_type},
                                                          {"target_kind", &reference.target_kind}};
  const std::map<std::string_view, int*> numbers = {{"min", &reference.min},
                                                    {"max", &reference.max}};
  ASSIGN_OR_RETURN(const auto members, YamlMembers(node));
  for (const auto& [key, value] : members) {
    if (const auto text = texts.find(key); text != texts.end()) {
      ASSIGN_OR_RETURN(*text->second, YamlText(value));
    } else if (const auto number = numbers.find(key); number != numbers.end()) {
      ASSIGN_OR_RETURN(*number->second, YamlNumber(value));
    } else {
      return UnknownKey(value, "entities[].references[]", key);
    }
  }
  return reference;
}

// `{expression: "..."}`
absl::StatusOr<std::string> ExpressionOf(const YAML::Node& node, std::string_view where) {
  std::string expression;
  ASSIGN_OR_RETURN(const auto members, YamlMembers(node));
  for (const auto& [key, value] : members) {
    if (key != "expression") {
      return UnknownKey(value, where, key);
    }
    ASSIGN_OR_RETURN(expression, YamlText(value));
  }
  return expression;
}

absl::Status ReadOutput(const YAML::Node& node, ConditionRule& rule) {
  const std::map<std::string_view, std::string*> outputs = {{"status", &rule.status_expression},
                                                            {"reason", &rule.reason_expression},
                                                            {"message", &rule.message_expression}};
  ASSIGN_OR_RETURN(const auto members, YamlMembers(node));
  for (const auto& [key, value] : members) {
    const auto output = outputs.find(key);
    if (output == outputs.end()) {
      return UnknownKey(value, "entities[].conditions[].output", key);
    }
    ASSIGN_OR_RETURN(*output->second, ExpressionOf(value, "entities[].conditions[].output[]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ConditionRule> ConditionOf(const YAML::Node& node) {
  ConditionRule rule;
  ASSIGN_OR_RETURN(const auto members, YamlMembers(node));
  for (const auto& [key, value] : members) {
    if (key == "type") {
      ASSIGN_OR_RETURN(rule.type, YamlText(value));
    } else if (key == "when") {
      ASSIGN_OR_RETURN(rule.when_expression, ExpressionOf(value, "entities[].conditions[].when"));
    } else if (key == "output") {
      RETURN_IF_ERROR(ReadOutput(value, rule));
    } else {
      return UnknownKey(value, "entities[].conditions[]", key);
    }
  }
  return rule;
}

// A list of what `read` makes of its items; null is an empty one.
template <typename Item, typename Read>
absl::Status ReadList(const YAML::Node& node, std::string_view key, const Read& read,
                      std::vector<Item>& items) {
  if (node.IsNull()) {
    return absl::OkStatus();
  }
  if (!node.IsSequence()) {
    return AtLine(node, absl::StrFormat("%s must be a list", key));
  }
  for (const YAML::Node& item : node) {
    ASSIGN_OR_RETURN(items.emplace_back(), read(item));
  }
  return absl::OkStatus();
}

absl::Status ReadFlag(const YAML::Node& node, EntityDescriptor& descriptor) {
  if (!YAML::convert<bool>::decode(node, descriptor.require_spec_schema)) {
    return AtLine(node, "require_spec_schema must be true or false");
  }
  return absl::OkStatus();
}

// One member of a descriptor.
absl::Status ReadMember(const std::string& key, const YAML::Node& node,
                        EntityDescriptor& descriptor) {
  const std::map<std::string_view, std::string*> texts = {
      {"kind", &descriptor.kind},
      {"plural", &descriptor.plural},
      {"parent_kind", &descriptor.parent_kind},
      {"spec_schema_name", &descriptor.spec_schema_name}};
  const std::map<std::string_view, int*> numbers = {{"name_min_len", &descriptor.name_min_len},
                                                    {"name_max_len", &descriptor.name_max_len}};
  if (const auto text = texts.find(key); text != texts.end()) {
    ASSIGN_OR_RETURN(*text->second, YamlText(node));
  } else if (const auto number = numbers.find(key); number != numbers.end()) {
    ASSIGN_OR_RETURN(*number->second, YamlNumber(node));
  } else if (key == "on_parent_delete") {
    ASSIGN_OR_RETURN(descriptor.on_parent_delete, PolicyOf(node));
  } else if (key == "required_adapters") {
    ASSIGN_OR_RETURN(descriptor.required_adapters, YamlTexts(node));
  } else if (key == "require_spec_schema") {
    RETURN_IF_ERROR(ReadFlag(node, descriptor));
  } else if (key == "references") {
    RETURN_IF_ERROR(ReadList(node, key, ReferenceOf, descriptor.references));
  } else if (key == "conditions") {
    RETURN_IF_ERROR(ReadList(node, key, ConditionOf, descriptor.conditions));
  } else {
    return UnknownKey(node, "entities[]", key);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<EntityDescriptor>> ReadEntities(const YAML::Node& node) {
  if (!node.IsSequence()) {
    return AtLine(node, "entities must be a list");
  }
  std::vector<EntityDescriptor> entities;
  for (const YAML::Node& item : node) {
    ASSIGN_OR_RETURN(const auto members, YamlMembers(item));
    EntityDescriptor& descriptor = entities.emplace_back();
    for (const auto& [key, value] : members) {
      RETURN_IF_ERROR(ReadMember(key, value, descriptor));
    }
  }
  return entities;
}

}  // namespace api
