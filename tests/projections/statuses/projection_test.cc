#include "projections/statuses/projection.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "projections/statuses/keys.h"
#include "projections/statuses/state.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace projections {
namespace {

using engine::Position;
using schemas::ConditionStatus;
using support::StatusIs;

std::shared_ptr<const StatusesImage> ImageOf(StatusesProjection& projection) {
  return std::static_pointer_cast<const StatusesImage>(projection.Publish());
}

std::string IdOf(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return "01936d3c-0000-7000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

ConditionState Condition(std::string type, ConditionStatus status, std::int64_t updated) {
  return {.type = std::move(type),
          .status = status,
          .reason = "Why",
          .message = "because",
          .observed_generation = 3,
          .created_time = {1},
          .last_updated_time = {updated},
          .last_transition_time = {2}};
}

ReportState Report(std::string id, std::string adapter, std::int64_t at) {
  return {.resource_id = std::move(id),
          .adapter = std::move(adapter),
          .observed_generation = 1,
          .conditions = {{.type = "Available",
                          .status = ConditionStatus::kTrue,
                          .reason = "",
                          .message = "up",
                          .last_transition_time = {at}}},
          .data = R"({"n":1})",
          .metadata = "",
          .created_time = {at},
          .last_report_time = {at}};
}

// A journal of the stream in a vector.
class Log {
 public:
  const engine::Record& Add(std::string key, std::string payload, bool tombstone = false) {
    engine::Record record;
    record.stream = StatusesImage::kStream;
    record.position = Position{records_.size() + 1};
    record.key = std::move(key);
    record.flags = tombstone ? engine::RecordFlag::kTombstone : 0;
    record.payload = engine::Payload(payload);
    return records_.emplace_back(std::move(record));
  }
  const engine::Record& Status(const std::string& id, const ConditionStates& conditions) {
    return Add(id, EncodeStatus(id, conditions));
  }
  const engine::Record& Reported(const ReportState& report) {
    return Add(ReportKey(report.resource_id, report.adapter), EncodeReport(report));
  }
  const engine::Record& Gone(const std::string& id, const std::string& adapter = "") {
    return Add(adapter.empty() ? id : ReportKey(id, adapter), EncodeStatusTombstone(id, adapter),
               true);
  }
  const std::vector<engine::Record>& records() const { return records_; }

 private:
  std::vector<engine::Record> records_;
};

std::vector<std::string> IdsIn(const ConditionRange& range) {
  std::vector<std::string> ids;
  for (const StatusEntry* entry : range) {
    ids.emplace_back(entry->resource_id());
  }
  EXPECT_EQ(ids.size(), range.size());
  return ids;
}

TEST(StatusStateTest, WhatWasEncodedIsReadBack) {
  const ConditionStates conditions = {Condition("Reconciled", ConditionStatus::kFalse, 5),
                                      Condition("LastKnownReconciled", ConditionStatus::kTrue, 6)};
  const engine::Payload status(EncodeStatus("id", conditions));
  ASSERT_OK_AND_ASSIGN(const auto* status_table,
                       schemas::DecodeAs<schemas::ResourceStatus>(status));
  EXPECT_EQ(StateOf(*status_table), conditions);
  EXPECT_EQ(EncodeStatus("id", conditions), status.view());
  ReportState report = Report("id", "dns", 7);
  report.metadata = R"({"attempt":2})";
  const engine::Payload reported(EncodeReport(report));
  ASSERT_OK_AND_ASSIGN(const auto* report_table,
                       schemas::DecodeAs<schemas::AdapterReport>(reported));
  EXPECT_EQ(StateOf(*report_table), report);
}

TEST(StatusStateTest, StatusesHaveNames) {
  for (const char* name : {"True", "False", "Unknown"}) {
    EXPECT_EQ(StatusName(FindStatus(name)), name);
  }
  EXPECT_EQ(FindStatus("true"), ConditionStatus::kInvalid);
  EXPECT_EQ(FindStatus(""), ConditionStatus::kInvalid);
}

TEST(StatusesProjectionTest, TheNewestRecordOfAKeyCounts) {
  Log log;
  StatusesProjection projection;
  const std::string id = IdOf(1);
  ASSERT_OK(projection.Apply(log.Status(id, {Condition("A", ConditionStatus::kFalse, 1)})));
  ASSERT_OK(projection.Apply(log.Reported(Report(id, "dns", 1))));
  ASSERT_OK(projection.Apply(log.Reported(Report(id, "a/b", 1))));
  ASSERT_OK(projection.Apply(log.Reported(Report(id, "dns", 2))));
  ASSERT_OK(projection.Apply(log.Reported(Report(IdOf(2), "dns", 1))));
  ASSERT_OK(projection.Apply(log.Status(id, {Condition("A", ConditionStatus::kTrue, 2)})));
  const auto image = ImageOf(projection);
  EXPECT_EQ(image->size(), 1U);
  EXPECT_EQ(image->reports(), 3U);
  EXPECT_EQ(image->Find(id)->FindCondition("A")->status(), ConditionStatus::kTrue);
  EXPECT_EQ(image->Find(id)->FindCondition("B"), nullptr);
  EXPECT_EQ(image->Find(id)->position(), Position{6});
  EXPECT_EQ(image->Find(IdOf(2)), nullptr);
  const std::vector<const ReportEntry*> reports = image->Reports(id);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0]->adapter(), "a/b");
  EXPECT_EQ(reports[1]->table().last_report_time(), 2);
  EXPECT_EQ(image->FindReport(id, "dns"), reports[1]);
  EXPECT_EQ(image->FindReport(id, "d"), nullptr);
  EXPECT_EQ(image->AllConditions().size(), 1U);
  EXPECT_EQ(image->AllReports().size(), 3U);
  EXPECT_EQ(image->AllReports()[2]->resource_id(), IdOf(2));
  EXPECT_EQ(IdsIn(image->WithCondition("A", ConditionStatus::kTrue)), std::vector<std::string>{id});
  EXPECT_EQ(image->WithCondition("A", ConditionStatus::kFalse).size(), 0U);
}

TEST(StatusesProjectionTest, TombstonesLeaveNothing) {
  Log log;
  StatusesProjection projection;
  const std::string id = IdOf(1);
  ASSERT_OK(projection.Apply(log.Status(id, {Condition("A", ConditionStatus::kFalse, 1)})));
  ASSERT_OK(projection.Apply(log.Reported(Report(id, "dns", 1))));
  ASSERT_OK(projection.Apply(log.Gone(id, "dns")));
  ASSERT_OK(projection.Apply(log.Gone(id)));
  ASSERT_OK(projection.Apply(log.Gone(IdOf(9), "what compaction left")));
  const auto image = ImageOf(projection);
  EXPECT_EQ(image->StateDigest(), 0U);
  EXPECT_EQ(image->size() + image->reports(), 0U);
  EXPECT_EQ(image->WithCondition("A", ConditionStatus::kFalse).size(), 0U);
}

TEST(StatusesProjectionTest, ARecordOfAnotherKeyIsDamage) {
  Log log;
  StatusesProjection projection;
  EXPECT_THAT(projection.Apply(log.Add(IdOf(2), EncodeStatus(IdOf(1), {}))),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(
      projection.Apply(log.Add(ReportKey(IdOf(1), "b"), EncodeReport(Report(IdOf(1), "a", 1)))),
      StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(projection.Apply(log.Add(IdOf(1), EncodeStatusTombstone(IdOf(1), "a"), true)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(projection.Apply(log.Add(IdOf(1), EncodeStatusTombstone(IdOf(1), ""))),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(projection.Apply(log.Add(IdOf(1), EncodeStatus(IdOf(1), {}), true)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(ImageOf(projection)->StateDigest(), 0U);
}

TEST(StatusesProjectionTest, AConditionWithoutStatusIsDamage) {
  Log log;
  StatusesProjection projection;
  EXPECT_THAT(projection.Apply(log.Status(IdOf(1), {Condition("A", ConditionStatus::kInvalid, 1)})),
              StatusIs(absl::StatusCode::kDataLoss));
  ReportState report = Report(IdOf(1), "a", 1);
  report.conditions[0].status = ConditionStatus::kInvalid;
  EXPECT_THAT(projection.Apply(log.Reported(report)), StatusIs(absl::StatusCode::kDataLoss));
}

// Nobody writes such; whoever did is read in one way.
TEST(StatusesProjectionTest, OfTwoConditionsOfOneTypeTheFirstCounts) {
  Log log;
  StatusesProjection projection;
  ASSERT_OK(projection.Apply(log.Status(IdOf(1), {Condition("T", ConditionStatus::kTrue, 1),
                                                  Condition("T", ConditionStatus::kFalse, 2)})));
  const auto image = ImageOf(projection);
  EXPECT_EQ(image->Find(IdOf(1))->FindCondition("T")->status(), ConditionStatus::kTrue);
  EXPECT_EQ(image->WithCondition("T", ConditionStatus::kTrue).size(), 1u);
  EXPECT_EQ(image->WithCondition("T", ConditionStatus::kFalse).size(), 0u);
}

TEST(StatusesProjectionTest, AReportOfNoGenerationIsDamage) {
  Log log;
  StatusesProjection projection;
  ReportState report = Report(IdOf(1), "a", 1);
  report.observed_generation = 0;
  EXPECT_THAT(projection.Apply(log.Reported(report)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StatusesProjectionTest, AnUnknownRecordCannotTakeThePlaceOfAState) {
  const std::string unknown =
      schemas::EncodeBody(schemas::Tag{999}, "new", schemas::Skippable::kYes);
  Log log;
  StatusesProjection projection;
  ASSERT_OK(projection.Apply(log.Add(IdOf(1), unknown)));
  ASSERT_OK(projection.Apply(log.Add(ReportKey(IdOf(1), "dns"), unknown)));
  ASSERT_OK(projection.Apply(log.Reported(Report(IdOf(1), "dns", 1))));
  ASSERT_OK(projection.Apply(log.Status(IdOf(1), {})));
  EXPECT_THAT(projection.Apply(log.Add(IdOf(1), unknown)), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(projection.Apply(log.Add(ReportKey(IdOf(1), "dns"), unknown)),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StatusesImageTest, ConditionsAreWalkedByTheirAge) {
  Log log;
  StatusesProjection projection;
  for (const std::uint64_t number : {1, 2, 3, 4}) {
    ASSERT_OK(projection.Apply(log.Status(
        IdOf(number),
        {Condition("Reconciled", number == 4 ? ConditionStatus::kFalse : ConditionStatus::kTrue,
                   100 - static_cast<std::int64_t>(number)),
         Condition("Other", ConditionStatus::kTrue, 1)})));
  }
  const auto image = ImageOf(projection);
  const auto ids = [&image](auto... scope) { return IdsIn(image->WithCondition(scope...)); };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids("Reconciled", ConditionStatus::kTrue), (Ids{IdOf(3), IdOf(2), IdOf(1)}));
  EXPECT_EQ(ids("Reconciled", ConditionStatus::kFalse), (Ids{IdOf(4)}));
  EXPECT_EQ(ids("Reconciled", ConditionStatus::kTrue, engine::Timestamp{98}), (Ids{IdOf(3)}));
  EXPECT_EQ(ids("Reconciled", ConditionStatus::kTrue, engine::Timestamp{97}), Ids{});
  EXPECT_EQ(ids("reconciled", ConditionStatus::kTrue), Ids{});
}

// What everybody who folded the log must hold, written out.
std::string Shown(const StatusesImage& image) {
  std::string text;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const std::string id = IdOf(number);
    if (const StatusEntry* entry = image.Find(id)) {
      text += id + "@" + std::to_string(engine::Raw(entry->position())) + ":";
      text += entry->payload().view();
    }
    for (const ReportEntry* report : image.Reports(id)) {
      text += std::to_string(engine::Raw(report->position())) + ":";
      text += report->payload().view();
    }
  }
  for (const char* type : {"A", "B", "C"}) {
    for (const ConditionStatus status :
         {ConditionStatus::kTrue, ConditionStatus::kFalse, ConditionStatus::kUnknown}) {
      text += std::string(type) + std::to_string(static_cast<int>(status));
      for (const std::string& id : IdsIn(image.WithCondition(type, status))) {
        text += id;
      }
    }
  }
  return text;
}

// Looks at everything, one by one.
void CheckIndex(const StatusesImage& image) {
  std::map<std::pair<std::string, ConditionStatus>, std::size_t> expected;
  for (std::uint64_t number = 0; number < 60; ++number) {
    if (const StatusEntry* entry = image.Find(IdOf(number))) {
      for (const ConditionState& condition : StateOf(entry->table())) {
        ++expected[{condition.type, condition.status}];
      }
    }
  }
  for (const auto& [condition, count] : expected) {
    const ConditionRange range = image.WithCondition(condition.first, condition.second);
    ASSERT_EQ(range.size(), count);
    std::int64_t updated = 0;
    for (const StatusEntry* entry : range) {
      const auto* found = entry->FindCondition(condition.first);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->status(), condition.second);
      ASSERT_GE(found->last_updated_time(), updated);
      updated = found->last_updated_time();
      ASSERT_EQ(image.Find(entry->resource_id()), entry);
    }
  }
}

void Mutate(support::SeededRandom& random, Log& log) {
  const std::string id = IdOf(random.Below(60));
  const std::string adapter = "adapter-" + std::to_string(random.Below(4));
  const std::uint64_t dice = random.Below(100);
  if (dice < 45) {
    log.Reported(Report(id, adapter, static_cast<std::int64_t>(random.Below(1000))));
  } else if (dice < 90) {
    ConditionStates conditions;
    for (const char* type : {"A", "B", "C"}) {
      if (random.Below(3) != 0) {
        conditions.push_back(
            Condition(type, ConditionStatus{static_cast<std::uint8_t>(random.Below(3) + 1)},
                      static_cast<std::int64_t>(random.Below(20))));
      }
    }
    log.Status(id, conditions);
  } else if (dice < 95) {
    log.Gone(id, adapter);
  } else {
    log.Gone(id);
  }
}

TEST(StatusesProjectionTest, AReplicaIsAFreshReplayAfterTenThousandMutations) {
  support::SeededRandom random;
  Log log;
  StatusesProjection live;
  while (log.records().size() < 10'000) {
    Mutate(random, log);
    ASSERT_OK(live.Apply(log.records().back()));
    if (random.Below(20) == 0) {
      CheckIndex(*ImageOf(live));
    }
  }
  StatusesProjection fresh;  // Publishes once, so its index is built at the end.
  std::map<std::string, Position> newest;
  for (const engine::Record& record : log.records()) {
    ASSERT_OK(fresh.Apply(record));
    newest[record.key] = record.position;
  }
  StatusesProjection compacted;
  for (const engine::Record& record : log.records()) {
    if (newest[record.key] == record.position) {
      ASSERT_OK(compacted.Apply(record));
    }
  }
  const auto image = ImageOf(live);
  EXPECT_GT(image->size(), 10U);
  for (StatusesProjection* other : {&fresh, &compacted}) {
    EXPECT_EQ(ImageOf(*other)->StateDigest(), image->StateDigest());
    EXPECT_EQ(Shown(*ImageOf(*other)), Shown(*image));
    CheckIndex(*ImageOf(*other));
  }
}

TEST(StatusesProjectionTest, ASavedStateGoesOnLikeTheOriginal) {
  support::SeededRandom random;
  Log log;
  StatusesProjection original;
  const auto mutate = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Mutate(random, log);
      ASSERT_OK(original.Apply(log.records().back()));
    }
  };
  mutate(2000);
  std::vector<std::string> parts;
  ASSERT_OK(ImageOf(original)->Save([&parts](std::string_view part) {
    parts.emplace_back(part);
    return absl::OkStatus();
  }));
  StatusesProjection loaded;
  for (const std::string& part : parts) {
    ASSERT_OK(loaded.Load(part));
  }
  EXPECT_EQ(Shown(*ImageOf(loaded)), Shown(*ImageOf(original)));
  const std::size_t saved = log.records().size();
  mutate(200);
  for (std::size_t i = saved; i < log.records().size(); ++i) {
    ASSERT_OK(loaded.Apply(log.records()[i]));
  }
  EXPECT_EQ(ImageOf(loaded)->StateDigest(), ImageOf(original)->StateDigest());
  EXPECT_EQ(Shown(*ImageOf(loaded)), Shown(*ImageOf(original)));
  for (std::size_t size = 0; size < parts[0].size(); ++size) {
    StatusesProjection projection;
    EXPECT_THAT(projection.Load(parts[0].substr(0, size)), StatusIs(absl::StatusCode::kDataLoss));
  }
  loaded.Reset();
  EXPECT_EQ(ImageOf(loaded)->StateDigest(), 0U);
  EXPECT_EQ(ImageOf(loaded)->reports(), 0U);
  EXPECT_EQ(ImageOf(loaded)->WithCondition("A", ConditionStatus::kTrue).size(), 0U);
}

}  // namespace
}  // namespace projections
