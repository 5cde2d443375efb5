// A journal of one stream in a vector, and the mutations of resources against it: every rule can
// be tried in one line, and everything that was written can be replayed.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "projections/resources/projection.h"
#include "projections/resources/report.h"
#include "projections/resources/rules.h"
#include "projections/resources/settle.h"
#include "projections/statuses/projection.h"

namespace projections {

inline std::shared_ptr<const ResourcesImage> ImageOf(ResourcesProjection& projection) {
  return std::static_pointer_cast<const ResourcesImage>(projection.Publish());
}

inline std::shared_ptr<const StatusesImage> ImageOf(StatusesProjection& projection) {
  return std::static_pointer_cast<const StatusesImage>(projection.Publish());
}

// One thread.
class TestStore {
 public:
  explicit TestStore(Registry registry = Registry::Stock())
      : registry_(std::move(registry)),
        image_(ImageOf(projection_)),
        statuses_(ImageOf(statuses_projection_)) {}

  const Registry& registry() const { return registry_; }
  const std::shared_ptr<const ResourcesImage>& image() const { return image_; }
  const std::shared_ptr<const StatusesImage>& statuses() const { return statuses_; }
  const ResourceEntry* Find(std::string_view id) const { return image_->Find(id); }
  // The records of resources, and those of statuses.
  const std::vector<engine::Record>& log() const { return log_; }
  const std::vector<engine::Record>& status_log() const { return status_log_; }
  const engine::Footprint& footprint() const { return footprint_; }  // Of the last judgement.
  engine::Timestamp now() const { return now_; }
  void Pass(std::int64_t micros) { now_.micros += micros; }

  Judgement Judge(const CreateRequest& request) { return JudgeCreate(request, Context()); }
  Judgement Judge(const PatchRequest& request) { return JudgePatch(request, Context()); }
  Judgement Judge(const DeleteRequest& request) { return JudgeDelete(request, Context()); }
  Judgement Judge(const ForceDeleteRequest& request) {
    return JudgeForceDelete(request, Context());
  }

  Judgement Judge(const ReportRequest& request) { return JudgeReport(request, Context()); }

  // Judges and commits.
  template <typename Request>
  Judgement Do(const Request& request) {
    Judgement judgement = Judge(request);
    Commit(judgement.proposal);
    return judgement;
  }

  void Commit(const engine::Proposal& proposal) {
    for (const engine::RecordDraft& draft : proposal.records) {
      const bool is_status = draft.stream == StatusesImage::kStream;
      std::vector<engine::Record>& log = is_status ? status_log_ : log_;
      EXPECT_EQ(draft.previous,
                is_status ? StatusPosition(draft.key) : ResourcePosition(draft.key));
      engine::Record record;
      record.stream = draft.stream;
      record.position = engine::Position{log.size() + 1};
      record.tx = engine::Tx{log.size() + 1};
      record.key = draft.key;
      record.previous = draft.previous;
      record.flags = draft.flags;
      record.at = now_;
      record.payload = engine::Payload(draft.payload);
      EXPECT_TRUE(
          (is_status ? statuses_projection_.Apply(record) : projection_.Apply(record)).ok());
      log.push_back(std::move(record));
    }
    image_ = ImageOf(projection_);
    statuses_ = ImageOf(statuses_projection_);
    now_.micros += 1;
  }

  // Takes over what another store wrote, or a part of it.
  void Replay(const std::vector<engine::Record>& records) {
    for (const engine::Record& record : records) {
      const bool is_status = record.stream == StatusesImage::kStream;
      EXPECT_TRUE(
          (is_status ? statuses_projection_.Apply(record) : projection_.Apply(record)).ok());
      (is_status ? status_log_ : log_).push_back(record);
    }
    image_ = ImageOf(projection_);
    statuses_ = ImageOf(statuses_projection_);
  }
  Judgement Settle(std::string_view id) {
    Judgement judgement = JudgeSettle(id, "settler", Context());
    Commit(judgement.proposal);
    return judgement;
  }

  // Creates a resource and returns its id.
  std::string Add(std::string_view kind, std::string_view name, std::string_view parent_id = {}) {
    CreateRequest request{.id = NextId(),
                          .kind = std::string(kind),
                          .name = std::string(name),
                          .parent_id = std::string(parent_id),
                          .spec = "{}",
                          .labels = {},
                          .tenancy = {},
                          .actor = "alice"};
    EXPECT_FALSE(Do(request).refusal.has_value());
    return request.id;
  }
  Judgement Delete(std::string_view id, std::string_view actor = "carol") {
    return Do(DeleteRequest{{std::string(id), {}, {}}, {}, std::string(actor)});
  }
  Judgement ForceDelete(std::string_view id) {
    return Do(ForceDeleteRequest{{std::string(id), {}, {}}, {}, "dave", "stuck"});
  }
  Judgement PatchSpec(std::string_view id, std::string_view spec) {
    return Do(PatchRequest{{std::string(id), {}, {}}, {}, std::string(spec), {}, "bob"});
  }

  // Looks like a UUID and rises.
  std::string NextId() {
    std::string digits = std::to_string(++ids_);
    return "01936d3c-0000-7000-8000-" + std::string(12 - digits.size(), '0') + digits;
  }

 private:
  RuleContext Context() {
    footprint_ = {};
    return {registry_, *image_, *statuses_, now_, footprint_};
  }
  engine::Position ResourcePosition(std::string_view key) const {
    const ResourceEntry* entry = image_->Find(key);
    return entry == nullptr ? engine::Position::kBeforeFirst : entry->position();
  }
  engine::Position StatusPosition(std::string_view key) const {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos) {
      const StatusEntry* entry = statuses_->Find(key);
      return entry == nullptr ? engine::Position::kBeforeFirst : entry->position();
    }
    const ReportEntry* entry = statuses_->FindReport(key.substr(0, slash), key.substr(slash + 1));
    return entry == nullptr ? engine::Position::kBeforeFirst : entry->position();
  }

  const Registry registry_;
  ResourcesProjection projection_;
  std::shared_ptr<const ResourcesImage> image_;
  StatusesProjection statuses_projection_;
  std::shared_ptr<const StatusesImage> statuses_;
  std::vector<engine::Record> log_;
  std::vector<engine::Record> status_log_;
  engine::Footprint footprint_;
  engine::Timestamp now_{1'780'000'000'000'000};
  int ids_ = 0;
};

inline RefusalReason ReasonOf(const Judgement& judgement) {
  EXPECT_TRUE(judgement.refusal.has_value());
  EXPECT_TRUE(judgement.proposal.records.empty());
  EXPECT_FALSE(judgement.proposal.audit.has_value());
  return judgement.refusal.has_value() ? judgement.refusal->reason : RefusalReason{};
}

}  // namespace projections
