// The rules of resources: what becomes of a request, judged against the newest state under the
// journal's lock.
//
// Pure functions of their arguments. Each notes in the footprint what it read and what it would
// change (projections/resources/facts.h), so that the committer can prove a batch serialisable.
// Syntax has been judged before: kinds, names, labels and specs are well-formed, and a kind with a
// parent comes with one.
//
//   create.cc   patch.cc   remove.cc   force_delete.cc   and report.h
//
// Never block. docs/resources.md says the rules in prose.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/committer.h"
#include "projections/registry.h"
#include "projections/resources/image.h"
#include "projections/resources/names.h"
#include "projections/resources/references.h"
#include "projections/resources/state.h"
#include "projections/resources/tenant_scope.h"
#include "projections/statuses/image.h"

namespace projections {

// Why a request is refused, in the order in which reasons are looked for.
enum class RefusalReason {
  kNotFound,           // No such resource, or not of that kind or under that parent. 404
  kParentNotFound,     // 404
  kInvalidSpec,        // Not as the schema of the kind wants it. 400
  kVersionMismatch,    // If-Match names another version. 412
  kMarkedForDeletion,  // The resource, or the parent to be, is finalizing. 409
  kInvalidReference,   // Of an unknown type, too few or many, or a target that will not do. 400
  kInvalidReport,      // What an adapter may not report. 400
  kNameTaken,          // 409
  kActiveChildren,     // Children whose policy is `restrict`. 409
  kReferenced,         // Something that would stay refers to what would go. 409
  kNeedsReference,     // What would stay would refer to fewer resources than its kind demands. 409
  kNotDeleting,        // Force-delete of an active resource. 409
  kConditionFailed,    // A rule of the kind's conditions has no result. 500
  kTooLarge,           // The record, or all that a cascade would write. 413
};

struct Refusal {
  RefusalReason reason = RefusalReason::kNotFound;
  std::string detail;  // A sentence for the caller.
  std::vector<FieldError> errors;
};

// Which resource a request is about, as its path says.
struct Target {
  std::string id;
  std::string kind;       // Empty: of any kind.
  std::string parent_id;  // Not empty: a child of that one. REQUIRES: then `kind` is given.
  // What it does not see does not exist, neither the resource nor the parent.
  TenantScope tenant = TenantScope::All();
  // The owners of the parent, nearest first, as far as the path names them.
  std::vector<std::string> above = {};
};

struct CreateRequest {
  std::string id;  // Fresh.
  std::string kind;
  std::string name;
  std::string parent_id;  // Of a kind with a parent.
  std::string spec;       // Canonical JSON.
  Labels labels;
  Tenancy tenancy;
  RequestedReferences references = {};
  std::string actor;
  // Where the parent is looked for.
  TenantScope tenant = TenantScope::All();
  std::vector<std::string> above = {};  // As in Target.
};

// Versions of the resource that a mutation is meant for: positions of its record. Empty: any.
using ExpectedVersions = std::vector<engine::Position>;

struct PatchRequest {
  Target target;
  ExpectedVersions if_match;
  std::optional<std::string> spec;  // Canonical JSON. Replaces all of it.
  std::optional<Labels> labels;     // Replaces all of them.
  std::string actor;
  std::optional<RequestedReferences> references = {};  // Replaces all of them.
  // Whether the spec will do for a resource of this kind; for requests that do not say the kind.
  // Asked once the resource is found. Empty: it has been judged before.
  std::function<std::optional<Refusal>(std::string_view kind)> check_spec = {};
};

struct DeleteRequest {
  Target target;
  ExpectedVersions if_match;
  std::string actor;
};

struct ForceDeleteRequest {
  Target target;
  ExpectedVersions if_match;
  std::string actor;
  std::string reason;
};

// What a rule looks at and writes to.
struct RuleContext {
  const Registry& registry;
  const ResourcesImage& image;
  const StatusesImage& statuses;
  engine::Timestamp now;  // Will be the time of the records.
  engine::Footprint& footprint;
};

// A resource is not reconciled from now on, and was before, or did not exist.
struct ReconciliationStart {
  std::string kind;
  bool is_delete = false;
};

struct Judgement {
  std::optional<Refusal> refusal;
  // Empty on a refusal, and when everything is already as requested. The audit draft has actor,
  // action, target and details; where the request came from is the caller's to add.
  engine::Proposal proposal;
  // The document of the resource after it (of one that is gone at once: with its deletion). Empty
  // on a refusal and after a force-delete.
  std::string document;
  // Where the records of the resource and of its conditions are, as far as none are proposed; those
  // that commit have the resource's id as their key.
  engine::Position unchanged_position = engine::Position::kBeforeFirst;
  engine::Position unchanged_status = engine::Position::kBeforeFirst;
  // To be counted when it commits.
  std::vector<ReconciliationStart> reconciliations;
};

Judgement JudgeCreate(const CreateRequest& request, const RuleContext& context);

// Spec, labels and references as they already are: nothing changes.
Judgement JudgePatch(const PatchRequest& request, const RuleContext& context);

// Marks as deleted, or removes at once what has nothing to wait for. Of a resource that is already
// marked nothing changes.
Judgement JudgeDelete(const DeleteRequest& request, const RuleContext& context);

// Removes a finalizing resource and everything below it.
Judgement JudgeForceDelete(const ForceDeleteRequest& request, const RuleContext& context);

// What can be said about the size of a record before the lock; the rules judge it again.
std::optional<Refusal> CheckSize(std::string_view spec, const Labels& labels,
                                 const RequestedReferences& references = {});

// The parent of a request as a target of its own: `above` are its owners.
Target ParentIn(std::string_view id, std::string_view kind, const TenantScope& tenant,
                const std::vector<std::string>& above);

// Finds what a request is about: for reads, too, as the refusals are the same. `footprint` may be
// null, for reads.
struct FoundTarget {
  const ResourceEntry* entry = nullptr;  // Null exactly when refused.
  std::optional<Refusal> refusal;
};
FoundTarget FindTarget(const Target& target, const Registry& registry, const ResourcesImage& image,
                       engine::Footprint* footprint);

}  // namespace projections
