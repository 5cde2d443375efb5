#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/http/trace.h"
#include "api/resources/bodies.h"
#include "api/resources/problems.h"
#include "api/resources/report_body.h"
#include "api/resources/routes.h"
#include "api/resources/spec_check.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/logging.h"
#include "engine/base/random.h"
#include "projections/resources/report.h"
#include "projections/resources/rules.h"

namespace api {
namespace {

// A force-delete has nothing to show, nor has a report that is dropped.
constexpr int kNoContent = 204;

using Judge = std::function<projections::Judgement(const projections::RuleContext&)>;

// What all mutations share.
struct Context {
  const projections::Registry& registry;
  const SpecSchemas& schemas;
  Reconciliations& reconciliations;
  Store& store;
};

// A rule on its way through the committer.
class ResourceMutation final : public Mutation {
 public:
  // `id` is the resource's; `status` of the answer when the rule does not refuse.
  ResourceMutation(Call call, const Context& context, std::string id, int status, Judge judge)
      : call_(std::move(call)),
        registry_(context.registry),
        reconciliations_(context.reconciliations),
        id_(std::move(id)),
        status_(status),
        judge_(std::move(judge)) {}

  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto image = engine::ImageIn<projections::ResourcesImage>(context.view);
    const auto statuses = engine::ImageIn<projections::StatusesImage>(context.view);
    stopped_ = image.ok() ? statuses.status() : image.status();
    judgement_ = {};
    if (!stopped_.ok()) {
      return {};
    }
    judgement_ = judge_({registry_, **image, **statuses, context.now, context.footprint});
    engine::Proposal proposal = std::move(judgement_.proposal);
    if (proposal.audit) {
      proposal.audit->ip = AddressOf(call_.request->remote_address());
      proposal.audit->request_id = call_.request->id();
    }
    return proposal;
  }

  Response Render(const engine::CommandOutcome& outcome) override {
    if (!stopped_.ok()) {
      return StoreFailure(*call_.request, stopped_, Outcome::kNone);
    }
    if (judgement_.refusal) {
      return ProblemResponse(*call_.request, ProblemOf(*judgement_.refusal));
    }
    Response response;
    response.status = judgement_.document.empty() ? kNoContent : status_;
    if (judgement_.document.empty()) {
      response.content_type.clear();
      return response;
    }
    response.body = std::move(judgement_.document);
    using projections::ResourcesImage;
    using projections::StatusesImage;
    if (const engine::Position position =
            PositionAfter(outcome, ResourcesImage::kStream, judgement_.unchanged_position);
        position != engine::Position::kBeforeFirst) {
      response.With("ETag", EntityTag(position, PositionAfter(outcome, StatusesImage::kStream,
                                                              judgement_.unchanged_status)));
    }
    return response;
  }

  void Committed(const engine::CommandOutcome& outcome) override {
    reconciliations_.CountStarts(judgement_.reconciliations);
    if (status_ == kNoContent) {
      // A force-delete's intent was logged; this is its outcome.
      engine::Log(engine::Severity::kInfo, "force-deleted",
                  {{"resource_id", id_},
                   {"request_id", call_.request->id()},
                   {"trace_id", TraceIdOf(*call_.request)},
                   {"tx", engine::Raw(outcome.tx)}});
    }
  }

 private:
  // Where the resource's record in the stream is now; kBeforeFirst when it is gone.
  engine::Position PositionAfter(const engine::CommandOutcome& outcome, engine::StreamId stream,
                                 engine::Position unchanged) const {
    const auto record = std::ranges::find_if(outcome.records, [&](const engine::Record& r) {
      return r.stream == stream && r.key == id_;
    });
    if (record == outcome.records.end()) {
      return unchanged;
    }
    const bool is_gone = (record->flags & engine::kTombstone) != 0;
    return is_gone ? engine::Position::kBeforeFirst : record->position;
  }

  const Call call_;
  const projections::Registry& registry_;
  Reconciliations& reconciliations_;
  const std::string id_;
  const int status_;
  const Judge judge_;
  projections::Judgement judgement_;
  absl::Status stopped_;
};

Prepared PrepareCreate(const Call& call, const Context& shared, RouteScope scope) {
  const projections::Registry& registry = shared.registry;
  auto parsed = scope.kind == nullptr
                    ? ParseRootCreate(call.request->body(), registry, shared.schemas)
                    : ParseTypedCreate(call.request->body(), *scope.kind, shared.schemas);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return ProblemResponse(*call.request, *problem);
  }
  auto& body = std::get<CreateBody>(parsed);
  if (!body.kind->is_root() && scope.parent == nullptr) {
    return ProblemResponse(*call.request, ChildNeedsParent(*body.kind, shared.registry));
  }
  projections::CreateRequest create;
  create.id = engine::NewUuidV7(engine::SystemClock().Now(), engine::SystemRandom());
  create.kind = body.kind->kind;
  create.name = std::move(body.name);
  create.parent_id = call.request->PathParameter("parent_id");
  create.spec = std::move(body.spec);
  create.labels = std::move(body.labels);
  create.references = std::move(body.references);
  create.tenancy = call.caller.tenant.dims();
  create.tenant = call.caller.tenant;
  create.above = OwnersAbove(*call.request, scope);
  create.actor = call.caller.actor;
  std::string id = create.id;
  return std::make_unique<ResourceMutation>(
      call, shared, std::move(id), 201,
      [create = std::move(create)](const projections::RuleContext& context) {
        return projections::JudgeCreate(create, context);
      });
}

// The rule asks for it under the journal's lock. By then the work has been done, for the kind that
// the resource has in the newest view: a resource keeps its kind.
std::function<std::optional<projections::Refusal>(std::string_view)> CheckLater(
    const Context& shared, std::string_view id, JsonValue spec) {
  const auto check = std::make_shared<LateSpecCheck>(shared.schemas, std::move(spec));
  const engine::ViewPtr view = shared.store.main().Last();
  const auto image = engine::ImageIn<projections::ResourcesImage>(*view);
  if (const projections::ResourceEntry* entry = image.ok() ? (*image)->Find(id) : nullptr) {
    check->For(entry->kind());
  }
  return [check](std::string_view kind) { return check->For(kind); };
}

Prepared PreparePatch(const Call& call, const Context& shared, RouteScope scope) {
  auto parsed = ParsePatch(call.request->body(), scope.kind, shared.schemas);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return ProblemResponse(*call.request, *problem);
  }
  auto& body = std::get<PatchBody>(parsed);
  projections::PatchRequest patch;
  patch.target = TargetOf(call, scope);
  patch.if_match = IfMatch(*call.request);
  patch.spec = std::move(body.spec);
  patch.labels = std::move(body.labels);
  patch.references = std::move(body.references);
  patch.actor = call.caller.actor;
  std::string id = patch.target.id;
  if (body.unchecked_spec) {
    patch.check_spec = CheckLater(shared, id, *std::move(body.unchecked_spec));
  }
  return std::make_unique<ResourceMutation>(
      call, shared, std::move(id), 200,
      [patch = std::move(patch)](const projections::RuleContext& context) {
        return projections::JudgePatch(patch, context);
      });
}

Prepared PrepareDelete(const Call& call, const Context& shared, RouteScope scope) {
  projections::DeleteRequest remove;
  remove.target = TargetOf(call, scope);
  remove.if_match = IfMatch(*call.request);
  remove.actor = call.caller.actor;
  std::string id = remove.target.id;
  return std::make_unique<ResourceMutation>(
      call, shared, std::move(id), 202,
      [remove = std::move(remove)](const projections::RuleContext& context) {
        return projections::JudgeDelete(remove, context);
      });
}

Prepared PrepareForceDelete(const Call& call, const Context& shared, RouteScope scope) {
  auto reason = ParseForceDelete(call.request->body());
  if (auto* problem = std::get_if<Problem>(&reason)) {
    return ProblemResponse(*call.request, *problem);
  }
  projections::ForceDeleteRequest remove;
  remove.target = TargetOf(call, scope);
  remove.if_match = IfMatch(*call.request);
  remove.actor = call.caller.actor;
  remove.reason = std::get<std::string>(std::move(reason));
  std::string id = remove.target.id;
  // Beside the audit: whoever watches the log sees it coming, with its caller and reason.
  engine::Log(engine::Severity::kInfo, "force-delete asked for",
              {{"resource_id", id},
               {"request_id", call.request->id()},
               {"trace_id", TraceIdOf(*call.request)},
               {"actor", remove.actor},
               {"reason", remove.reason}});
  return std::make_unique<ResourceMutation>(
      call, shared, std::move(id), kNoContent,
      [remove = std::move(remove)](const projections::RuleContext& context) {
        return projections::JudgeForceDelete(remove, context);
      });
}

Prepared PrepareReport(const Call& call, const Context& shared, RouteScope scope) {
  auto parsed = ParseReport(call.request->body());
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return ProblemResponse(*call.request, *problem);
  }
  auto& report = std::get<projections::ReportRequest>(parsed);
  report.target = TargetOf(call, scope);
  report.if_match = IfMatch(*call.request);
  report.actor = call.caller.actor;
  std::string id = report.target.id;
  return std::make_unique<ResourceMutation>(
      call, shared, std::move(id), 201,
      [report = std::move(report)](const projections::RuleContext& context) {
        return projections::JudgeReport(report, context);
      });
}

using Prepare = Prepared (*)(const Call&, const Context&, RouteScope);

Prepare PrepareOf(ResourceAction action) {
  switch (action) {
    case ResourceAction::kCreate:
      return PrepareCreate;
    case ResourceAction::kPatch:
      return PreparePatch;
    case ResourceAction::kDelete:
      return PrepareDelete;
    case ResourceAction::kForceDelete:
      return PrepareForceDelete;
    case ResourceAction::kReport:
      return PrepareReport;
    case ResourceAction::kList:
    case ResourceAction::kShow:
    case ResourceAction::kHistory:
    case ResourceAction::kStatuses:
      break;
  }
  ENGINE_CHECK(false);
  return nullptr;
}

}  // namespace

void AddMutation(Dispatcher& dispatcher, const projections::Registry& registry,
                 const SpecSchemas& schemas, Reconciliations& reconciliations,
                 const ResourceOperation& operation) {
  dispatcher.Mutate(Access::kResources, operation.method, operation.pattern,
                    [context = Context{registry, schemas, reconciliations, dispatcher.store()},
                     scope = operation.scope, prepare = PrepareOf(operation.action)](
                        const Call& call) { return prepare(call, context, scope); });
}

}  // namespace api
