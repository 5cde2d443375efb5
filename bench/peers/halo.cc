#include "bench/peers/halo.h"

#include <future>
#include <utility>

#include "bench/support/or_die.h"
#include "projections/resources/document.h"
#include "projections/resources/lists.h"
#include "projections/search/parser.h"

namespace bench {
namespace {

using projections::ListPlan;
using projections::ResourcesImage;
using projections::StatusesImage;

// As in api/resources/lists.cc.
constexpr std::size_t kLookedAtInPlace = 1000;
constexpr std::size_t kMaxQueue = 4096;

std::string PageBody(const projections::ListPage& page, const StatusesImage& statuses,
                     const projections::Registry& registry) {
  std::string body = "{\"items\":[";
  for (const projections::ResourceEntry* entry : page.items) {
    body += body.back() == '[' ? "" : ",";
    const projections::StatusEntry* status = statuses.Find(entry->id());
    projections::AppendResourceDocument(
        entry->table(), status == nullptr ? nullptr : &status->table(), registry, body);
  }
  body += "],\"page\":1,\"size\":" + std::to_string(page.items.size());
  body += ",\"total\":" + std::to_string(page.total);
  return body + "}";
}

}  // namespace

HaloReaders::HaloReaders(Workbench& bench)
    : workers_(4, kMaxQueue),
      coalescer_(
          bench.store().journal(), bench.follower(),
          {.loop = {.run = [this](std::function<void()> task) { loop_.Post(std::move(task)); },
                    .when_readable =
                        [this](int descriptor, std::function<void()> task) {
                          return loop_.WhenReadable(descriptor, std::move(task));
                        }}}) {
  loop_.Start();
}

HaloReaders::Handler HaloReaders::HandlerOf(const Get& get) const {
  return [this, get](const engine::ViewPtr& view, const Answered& answered) {
    const auto& resources = *OrDie(engine::ImageIn<ResourcesImage>(*view));
    const auto& statuses = *OrDie(engine::ImageIn<StatusesImage>(*view));
    const std::string& id = get.id();
    const projections::ResourceEntry* entry = resources.Find(id);
    std::string body;
    if (entry != nullptr && get.tenant.Sees(*entry)) {
      projections::AppendResourceDocument(entry->table(), &statuses.Find(id)->table(), registry_,
                                          body);
    }
    answered(std::move(body));
  };
}

HaloReaders::Handler HaloReaders::HandlerOf(const Workload& list) {
  return [this, list](const engine::ViewPtr& view, Answered answered) {
    const auto& resources = *OrDie(engine::ImageIn<ResourcesImage>(*view));
    const auto& statuses = *OrDie(engine::ImageIn<StatusesImage>(*view));
    projections::ListOptions options;
    if (!list.search.empty()) {
      options.search = std::make_shared<const projections::search::Node>(
          OrDie(projections::search::ParseSearch(list.search)));
    }
    projections::ListScope scope{.kind = list.kind, .owner_id = list.owner_id};
    if (!list.tenancy.empty()) {
      scope.tenant = projections::TenantScope::Of(list.tenancy);
    }
    const auto plan = std::make_shared<const ListPlan>(resources, &statuses, scope, options);
    const auto show = [this, view, plan, &statuses, answered = std::move(answered)] {
      answered(PageBody(plan->Run(), statuses, registry_));
    };
    if (plan->cost() > kLookedAtInPlace) {
      workers_.Run(show, api::Work::kLong);
    } else {
      show();
    }
  };
}

void HaloReaders::GoRound(const std::shared_ptr<const Handler>& handler, Rounds& rounds) {
  if (!rounds.Next()) {
    return;
  }
  coalescer_.Join(
      [this, handler, &rounds, began = Now()](const absl::StatusOr<engine::ViewPtr>& view) {
        (*handler)(OrDie(view), [this, handler, &rounds, began](const std::string& body) {
          benchmark::DoNotOptimize(body.data());
          rounds.Done(began);
          GoRound(handler, rounds);
        });
      });
}

void HaloReaders::Ask(int clients, const Get& get, Rounds& rounds) {
  const auto handler = std::make_shared<const Handler>(HandlerOf(get));
  for (int client = 0; client < clients; ++client) {
    GoRound(handler, rounds);
  }
}

void HaloReaders::Ask(int clients, const Workload& list, Rounds& rounds) {
  const auto handler = std::make_shared<const Handler>(HandlerOf(list));
  for (int client = 0; client < clients; ++client) {
    GoRound(handler, rounds);
  }
}

std::string HaloReaders::AskOnce(const Workload& list) {
  std::promise<std::string> answer;
  const Handler handler = HandlerOf(list);
  coalescer_.Join([&](const absl::StatusOr<engine::ViewPtr>& view) {
    handler(OrDie(view), [&answer](std::string body) { answer.set_value(std::move(body)); });
  });
  return answer.get_future().get();
}

}  // namespace bench
