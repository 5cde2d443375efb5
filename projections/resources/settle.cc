#include "projections/resources/settle.h"

#include <string>
#include <utility>

#include "engine/base/checksum.h"
#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"
#include "projections/resources/finalize.h"

namespace projections {
namespace {

// Raised when the same descriptor comes to make other conditions.
constexpr std::string_view kVersion = "1";

void Append(std::string_view text, std::string& out) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

}  // namespace

Judgement JudgeSettle(std::string_view id, std::string_view actor, const RuleContext& context) {
  TrackedResources resources(context.image, context.footprint);
  const ResourceEntry* entry = resources.Find(id);
  if (entry == nullptr) {
    return {};
  }
  const ReportTables reports =
      TablesOf(TrackedStatuses(context.statuses, context.footprint).Reports(id));
  const bool has_children = entry->is_deleting() && !resources.Children(id).empty();
  const EntityDescriptor* descriptor = context.registry.FindKind(entry->kind());
  const bool waited = descriptor != nullptr && !descriptor->required_adapters.empty();
  if (waited && IsFinished(*entry, ViewsOf(reports), has_children, context)) {
    return Finalize(*entry, actor, {}, context);
  }
  Judgement judgement;
  AddConditions({.resource = entry->table(), .has_children = has_children, .reports = reports},
                context, judgement);
  return judgement.refusal ? Refuse(*std::move(judgement.refusal)) : judgement;
}

std::uint64_t ConditionsFingerprint(const EntityDescriptor& descriptor) {
  std::string text(kVersion);
  for (const std::string& adapter : descriptor.required_adapters) {
    Append(adapter, text);
  }
  for (const ConditionRule& rule : descriptor.conditions) {
    text += '/';
    for (const std::string& part : {rule.type, rule.when_expression, rule.status_expression,
                                    rule.reason_expression, rule.message_expression}) {
      Append(part, text);
    }
  }
  return engine::Checksum64(text);
}

}  // namespace projections
