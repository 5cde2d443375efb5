#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/resources/bodies.h"
#include "api/resources/problems.h"
#include "api/resources/routes.h"
#include "api/resources/spec_check.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/logging.h"
#include "engine/base/random.h"
#include "projections/resources/rules.h"

namespace api {
namespace {

// Only a force-delete has nothing to show.
constexpr int kNoContent = 204;

using Judge = std::function<projections::Judgement(const projections::RuleContext&)>;

// A rule on its way through the committer.
class ResourceMutation final : public Mutation {
 public:
  // `id` is the resource's; `status` of the answer when the rule does not refuse.
  ResourceMutation(Call call, const projections::Registry& registry, std::string id, int status,
                   Judge judge)
      : call_(std::move(call)),
        registry_(registry),
        id_(std::move(id)),
        status_(status),
        judge_(std::move(judge)) {}

  engine::Proposal Decide(const engine::DecideContext& context) override {
    const auto image = engine::ImageIn<projections::ResourcesImage>(context.view);
    stopped_ = image.status();
    judgement_ = {};
    if (!image.ok()) {
      return {};
    }
    judgement_ = judge_({registry_, **image, context.now, context.footprint});
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
    response.status = status_;
    if (judgement_.document.empty()) {
      response.content_type.clear();
      return response;
    }
    response.body = std::move(judgement_.document);
    if (const engine::Position position = PositionAfter(outcome);
        position != engine::Position::kBeforeFirst) {
      response.With("ETag", EntityTag(position));
    }
    return response;
  }

  void Committed(const engine::CommandOutcome& outcome) override {
    if (status_ == kNoContent) {
      // A force-delete's intent was logged; this is its outcome.
      engine::Log(engine::Severity::kInfo, "force-deleted",
                  {{"resource_id", id_},
                   {"request_id", call_.request->id()},
                   {"tx", engine::Raw(outcome.tx)}});
    }
  }

 private:
  // Where the resource's record is now; kBeforeFirst when it is gone.
  engine::Position PositionAfter(const engine::CommandOutcome& outcome) const {
    const auto record = std::ranges::find(outcome.records, id_, &engine::Record::key);
    if (record == outcome.records.end()) {
      return judgement_.unchanged_position;
    }
    const bool is_gone = (record->flags & engine::kTombstone) != 0;
    return is_gone ? engine::Position::kBeforeFirst : record->position;
  }

  const Call call_;
  const projections::Registry& registry_;
  const std::string id_;
  const int status_;
  const Judge judge_;
  projections::Judgement judgement_;
  absl::Status stopped_;
};

projections::Target TargetOf(const Call& call, RouteScope scope) {
  return {.id = std::string(call.request->PathParameter("id")),
          .kind = scope.kind == nullptr ? std::string() : scope.kind->kind,
          .parent_id = std::string(call.request->PathParameter("parent_id")),
          .tenant = call.caller.tenant,
          .above = OwnersAbove(*call.request, scope)};
}

// What mutations are judged by, beside the request.
struct Knowledge {
  const projections::Registry& registry;
  const SpecSchemas& schemas;
  Store& store;
};

Prepared PrepareCreate(const Call& call, const Knowledge& knowledge, RouteScope scope) {
  const projections::Registry& registry = knowledge.registry;
  auto parsed = scope.kind == nullptr
                    ? ParseRootCreate(call.request->body(), registry, knowledge.schemas)
                    : ParseTypedCreate(call.request->body(), *scope.kind, knowledge.schemas);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return ProblemResponse(*call.request, *problem);
  }
  auto& body = std::get<CreateBody>(parsed);
  if (!body.kind->is_root() && scope.parent == nullptr) {
    return ProblemResponse(*call.request, ChildNeedsParent(*body.kind, registry));
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
      call, registry, std::move(id), 201,
      [create = std::move(create)](const projections::RuleContext& context) {
        return projections::JudgeCreate(create, context);
      });
}

// The rule asks for it under the journal's lock. By then the work has been done, for the kind that
// the resource has in the newest view: a resource keeps its kind.
std::function<std::optional<projections::Refusal>(std::string_view)> CheckLater(
    const Knowledge& knowledge, std::string_view id, JsonValue spec) {
  const auto check = std::make_shared<LateSpecCheck>(knowledge.schemas, std::move(spec));
  const engine::ViewPtr view = knowledge.store.main().Last();
  const auto image = engine::ImageIn<projections::ResourcesImage>(*view);
  if (const projections::ResourceEntry* entry = image.ok() ? (*image)->Find(id) : nullptr) {
    check->For(entry->kind());
  }
  return [check](std::string_view kind) { return check->For(kind); };
}

Prepared PreparePatch(const Call& call, const Knowledge& knowledge, RouteScope scope) {
  auto parsed = ParsePatch(call.request->body(), scope.kind, knowledge.schemas);
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
    patch.check_spec = CheckLater(knowledge, id, *std::move(body.unchecked_spec));
  }
  return std::make_unique<ResourceMutation>(
      call, knowledge.registry, std::move(id), 200,
      [patch = std::move(patch)](const projections::RuleContext& context) {
        return projections::JudgePatch(patch, context);
      });
}

Prepared PrepareDelete(const Call& call, const Knowledge& knowledge, RouteScope scope) {
  projections::DeleteRequest remove;
  remove.target = TargetOf(call, scope);
  remove.if_match = IfMatch(*call.request);
  remove.actor = call.caller.actor;
  std::string id = remove.target.id;
  return std::make_unique<ResourceMutation>(
      call, knowledge.registry, std::move(id), 202,
      [remove = std::move(remove)](const projections::RuleContext& context) {
        return projections::JudgeDelete(remove, context);
      });
}

Prepared PrepareForceDelete(const Call& call, const Knowledge& knowledge, RouteScope scope) {
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
               {"actor", remove.actor},
               {"reason", remove.reason}});
  return std::make_unique<ResourceMutation>(
      call, knowledge.registry, std::move(id), kNoContent,
      [remove = std::move(remove)](const projections::RuleContext& context) {
        return projections::JudgeForceDelete(remove, context);
      });
}

using Prepare = Prepared (*)(const Call&, const Knowledge&, RouteScope);

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
    case ResourceAction::kList:
    case ResourceAction::kShow:
    case ResourceAction::kHistory:
      break;
  }
  ENGINE_CHECK(false);
  return nullptr;
}

}  // namespace

void AddMutation(Dispatcher& dispatcher, const projections::Registry& registry,
                 const SpecSchemas& schemas, const ResourceOperation& operation) {
  const Knowledge knowledge{registry, schemas, dispatcher.store()};
  dispatcher.Mutate(Access::kResources, operation.method, operation.pattern,
                    [knowledge, scope = operation.scope, prepare = PrepareOf(operation.action)](
                        const Call& call) { return prepare(call, knowledge, scope); });
}

}  // namespace api
