// A fleet for tests: request bodies with the fields and sizes of real ones, and what is on a
// server in a form that two servers can be compared by.

#pragma once

#include <map>
#include <string>

#include <absl/status/statusor.h>

#include "tests/support/http_client.h"

namespace e2e {

inline constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";

// A create request of a cluster, about 1.3 kB; every tenth one is large, about 7 kB with 50 labels.
std::string ClusterBody(const std::string& name, int number);
// A create request of a node pool, about 500 bytes.
std::string NodePoolBody(const std::string& name, int replicas);
// A PATCH that replaces spec or labels.
std::string SpecPatch(int revision);
std::string LabelPatch(int revision);

std::string NodePoolsOf(const std::string& cluster_id);

// The member of a JSON object's top level, as JSON text; empty when there is none.
std::string Member(const std::string& json, const std::string& name);
// The same, of a string, without its quotes.
std::string Text(const std::string& json, const std::string& name);

// Everything that clients put on a server, and nothing that differs between two runs (ids, times):
// `kind/owner name/name/active or deleted` to spec, labels and generation.
using Contents = std::map<std::string, std::string>;
// Reads all lists to their end. Fails when an answer is not 200 or totals and items disagree.
absl::StatusOr<Contents> ReadContents(support::HttpClient& client);

}  // namespace e2e
