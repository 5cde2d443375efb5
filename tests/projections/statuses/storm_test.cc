// Many adapters report about many resources at once, in any order: no report is lost, and the
// conditions are those that the same reports give one after the other.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/thread.h"
#include "engine/committer.h"
#include "engine/memory/memory.h"
#include "tests/projections/statuses/reports.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_commands.h"

namespace projections {
namespace {

constexpr std::size_t kClusters = 1000;
constexpr std::size_t kAdapters = 32;
constexpr std::size_t kThreads = 4;
constexpr std::size_t kWave = 500;  // Commands of one thread that are under way at once.
constexpr engine::Timestamp kNow{1'780'000'000'000'000};

class FrozenClock final : public engine::Clock {
 public:
  engine::Timestamp Now() const override { return kNow; }
  engine::Duration SinceBoot() const override { return engine::SystemClock().SinceBoot(); }
};
const FrozenClock kFrozen;

// Half of the adapters are required.
Registry StormRegistry() {
  std::vector<EntityDescriptor> entities = Registry::Stock().entities();
  entities[0].required_adapters.clear();
  for (std::size_t i = 0; i < kAdapters / 2; ++i) {
    entities[0].required_adapters.push_back("adapter-" + std::to_string(i));
  }
  return *Registry::Create(std::move(entities));
}

using Rule = std::function<Judgement(const RuleContext&)>;

class RuleCommand final : public engine::Command {
 public:
  RuleCommand(const Registry& registry, Rule rule, std::size_t index, support::Outcomes& outcomes)
      : registry_(registry), rule_(std::move(rule)), index_(index), outcomes_(outcomes) {}

  engine::Deadline deadline() const override { return deadline_; }
  engine::Proposal Decide(const engine::DecideContext& context) override {
    const ResourcesImage* resources = *engine::ImageIn<ResourcesImage>(context.view);
    const StatusesImage* statuses = *engine::ImageIn<StatusesImage>(context.view);
    return rule_({registry_, *resources, *statuses, context.now, context.footprint}).proposal;
  }
  void Finish(const engine::CommandOutcome& outcome) override {
    outcomes_.Add(index_, {outcome.kind, outcome.why, {}, outcome.tx, {}});
  }

 private:
  const Registry& registry_;
  const Rule rule_;
  const std::size_t index_;
  support::Outcomes& outcomes_;
  const engine::Deadline deadline_ = engine::Deadline::After(std::chrono::minutes(5));
};

std::string ClusterId(std::size_t number) {
  const std::string digits = std::to_string(number);
  return "01936d3c-0000-7000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

Rule Creation(std::size_t number) {
  const CreateRequest request{.id = ClusterId(number),
                              .kind = "Cluster",
                              .name = "c-" + std::to_string(number),
                              .parent_id = {},
                              .spec = "{}",
                              .labels = {},
                              .tenancy = {},
                              .actor = "alice"};
  return [request](const RuleContext& context) { return JudgeCreate(request, context); };
}

Rule Reporting(std::size_t cluster, std::size_t adapter, engine::Random& random) {
  const auto says = [](std::string_view type, bool holds) {
    return Says(type, holds ? schemas::ConditionStatus::kTrue : schemas::ConditionStatus::kFalse);
  };
  const std::int64_t late = static_cast<std::int64_t>(random.Below(1000));
  const ReportRequest request{.target = {ClusterId(cluster), {}, {}},
                              .adapter = "adapter-" + std::to_string(adapter),
                              .observed_generation = 1,
                              .observed_time = engine::Timestamp{kNow.micros - late},
                              .conditions = {says(kAvailable, random.Below(50) != 0),
                                             says(kApplied, true), says(kHealth, true)},
                              .data = "{}",
                              .metadata = "",
                              .actor = "adapter"};
  return [request](const RuleContext& context) { return JudgeReport(request, context); };
}

// Submits the rules, a wave at a time, and waits for each wave.
void RunAll(engine::Committer& committer, const Registry& registry,
            const std::vector<Rule>& rules) {
  support::Outcomes outcomes;
  for (std::size_t first = 0; first < rules.size(); first += kWave) {
    const std::size_t last = std::min(rules.size(), first + kWave);
    for (std::size_t i = first; i < last; ++i) {
      committer.Submit(std::make_unique<RuleCommand>(registry, rules[i], i, outcomes));
    }
    for (const support::Ended& ended : outcomes.WaitFor(last)) {
      ASSERT_EQ(ended.kind, engine::CommandOutcome::Kind::kCommitted) << ended.why;
    }
  }
}

// The same rules one after the other.
std::shared_ptr<const StatusesImage> OneByOne(const Registry& registry,
                                              const std::vector<Rule>& creations,
                                              const std::vector<Rule>& reports) {
  ResourcesProjection resources;
  StatusesProjection statuses;
  auto resources_image = ImageOf(resources);
  const auto run = [&](const Rule& rule) {
    engine::Footprint unused;
    const auto statuses_image = ImageOf(statuses);
    const Judgement judgement = rule({registry, *resources_image, *statuses_image, kNow, unused});
    for (const engine::RecordDraft& draft : judgement.proposal.records) {
      engine::Record record;
      record.stream = draft.stream;
      record.key = draft.key;
      record.payload = engine::Payload(draft.payload);
      if (draft.stream == StatusesImage::kStream) {
        ASSERT_OK(statuses.Apply(record));
      } else {
        ASSERT_OK(resources.Apply(record));
        resources_image = ImageOf(resources);
      }
    }
  };
  for (const std::vector<Rule>* rules : {&creations, &reports}) {
    for (const Rule& rule : *rules) {
      run(rule);
    }
  }
  return ImageOf(statuses);
}

TEST(StormTest, NoReportIsLostAndConditionsAreThoseOfASerialOrder) {
  support::SeededRandom random;
  const Registry registry = StormRegistry();
  std::vector<Rule> creations;
  std::vector<Rule> reports;
  for (std::size_t cluster = 0; cluster < kClusters; ++cluster) {
    creations.push_back(Creation(cluster));
    for (std::size_t adapter = 0; adapter < kAdapters; ++adapter) {
      reports.push_back(Reporting(cluster, adapter, random));
    }
  }
  const auto expected = OneByOne(registry, creations, reports);
  for (std::size_t i = reports.size() - 1; i > 0; --i) {
    std::swap(reports[i], reports[random.Below(i + 1)]);
  }

  const auto store = engine::memory::Open(schemas::Streams(), kFrozen);
  std::vector<std::unique_ptr<engine::Projection>> projections;
  projections.push_back(std::make_unique<ResourcesProjection>());
  projections.push_back(std::make_unique<StatusesProjection>());
  engine::Follower follower(std::move(projections));
  engine::Committer committer(store->journal(), follower, nullptr,
                              {.limits = {}, .audit_stream = schemas::kAuditStream});
  RunAll(committer, registry, creations);
  {
    std::vector<engine::Thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      const std::size_t part = reports.size() / kThreads;
      const auto first = reports.begin() + static_cast<std::ptrdiff_t>(t * part);
      std::vector<Rule> own(first, first + static_cast<std::ptrdiff_t>(part));
      threads.emplace_back("adapters", [&committer, &registry, own = std::move(own)] {
        RunAll(committer, registry, own);
      });
    }
  }
  const auto view = follower.view();
  const StatusesImage* image = *engine::ImageIn<StatusesImage>(*view);
  EXPECT_EQ(image->reports(), kClusters * kAdapters);
  EXPECT_EQ(image->size(), kClusters);
  EXPECT_EQ(image->StateDigest(), expected->StateDigest());
  const auto reconciled = [](const StatusesImage& statuses) {
    return statuses.WithCondition(kReconciled, schemas::ConditionStatus::kTrue).size();
  };
  EXPECT_GT(reconciled(*image), 0U);
  EXPECT_EQ(reconciled(*image), reconciled(*expected));
}

}  // namespace
}  // namespace projections
