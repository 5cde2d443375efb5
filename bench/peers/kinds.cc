#include "bench/peers/kinds.h"

#include <absl/strings/str_format.h>

namespace bench {

const std::vector<projections::EntityDescriptor>& FleetKinds() {
  static const std::vector<projections::EntityDescriptor> kinds = [] {
    std::vector<projections::EntityDescriptor> made;
    for (int i = 0; i < 8; ++i) {
      projections::EntityDescriptor kind;
      kind.kind = absl::StrFormat("Kind%d", i);
      kind.plural = absl::StrFormat("kind%ds", i);
      kind.required_adapters = {"dns", "validation"};
      if (i >= 4) {
        kind.parent_kind = "Kind0";
        kind.on_parent_delete = projections::OnParentDelete::kCascade;
      }
      made.push_back(std::move(kind));
    }
    return made;
  }();
  return kinds;
}

std::string FleetConfig() {
  std::string yaml = absl::StrFormat(
      "server:\n"
      "  jwt: {enabled: false}\n"
      "  tenant:\n"
      "    enabled: true\n"
      "    system_header: %s\n"
      "    dimensions:\n"
      "      - {header: %s, key: org, required: true}\n"
      "      - {header: %s, key: project}\n"
      "entities:\n",
      kSystemHeader, kOrgHeader, kProjectHeader);
  for (const projections::EntityDescriptor& kind : FleetKinds()) {
    yaml += absl::StrFormat("  - kind: %s\n    plural: %s\n", kind.kind, kind.plural);
    if (!kind.is_root()) {
      yaml +=
          absl::StrFormat("    parent_kind: %s\n    on_parent_delete: cascade\n", kind.parent_kind);
    }
    yaml += "    required_adapters: [";
    for (const std::string& adapter : kind.required_adapters) {
      yaml += (yaml.back() == '[' ? "" : ", ") + adapter;
    }
    yaml += "]\n";
  }
  return yaml;
}

}  // namespace bench
