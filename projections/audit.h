// AuditTrail: folds the stream `audit`, and by folding it verifies the hash chain.
//
// An entry that does not fit stops the stream with kDataLoss and a message that names its `seq`,
// so everything that was folded is verified. In memory there are only the head of the chain, the
// number of entries and the newest payloads; older ones are read from the journal. Rules of the
// chain: docs/formats/audit.md.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/status.h>

#include "engine/audit_chain.h"
#include "engine/projection.h"
#include "engine/view.h"
#include "projections/persistent_tree.h"
#include "schemas/streams.h"

namespace projections {

// A recent entry: `payload` is its canonical JSON.
struct RecentEntry {
  engine::Position seq = engine::Position::kBeforeFirst;
  engine::Payload payload;
};

struct RecentLess {
  bool operator()(const RecentEntry& a, const RecentEntry& b) const { return a.seq < b.seq; }
  bool operator()(const RecentEntry& a, engine::Position b) const { return a.seq < b; }
  bool operator()(engine::Position a, const RecentEntry& b) const { return a < b.seq; }
};

// The chain at one position, verified from its start. Immutable; thread-safe.
class AuditTrail final : public engine::ProjectionImage {
 public:
  static constexpr engine::StreamId kStream = schemas::kAuditStream;
  static constexpr engine::Freshness kNeeds = engine::Freshness::kLatest;
  using Entries = TreeSnapshot<RecentEntry, RecentLess>;

  // The number of entries, which is the newest one's `seq`.
  std::uint64_t total() const { return total_; }
  // Hash of the newest entry, 64 digits in lower case; empty when there is none.
  const std::string& head() const { return head_; }
  // The newest entries, oldest first, without a gap up to the head.
  const Entries& recent() const { return recent_; }

  std::uint64_t StateDigest() const override;
  absl::Status Save(const engine::StatePartSink& sink) const override;

 private:
  friend class AuditProjection;

  std::uint64_t total_ = 0;
  std::string head_;
  Entries recent_;
};

struct AuditLimits {
  std::size_t recent_entries = 1024;
  std::size_t recent_bytes = std::size_t{4} << 20;  // Of payloads; the newest one is always kept.
};

// One thread, as any projection; never blocks.
class AuditProjection final : public engine::Projection {
 public:
  explicit AuditProjection(AuditLimits limits = {}) : limits_(limits) {}

  engine::StreamId stream() const override { return AuditTrail::kStream; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override;
  std::shared_ptr<const engine::ProjectionImage> Publish() override;
  absl::Status Load(std::string_view part) override;
  void Reset() override;

 private:
  absl::Status Verify(const engine::Record& record) const;
  absl::Status LoadEntry(std::string_view part);
  void Remember(engine::Position seq, engine::Payload payload);

  const AuditLimits limits_;
  std::uint64_t total_ = 0;
  std::string head_;
  PersistentTree<RecentEntry, RecentLess> recent_;
  engine::Position oldest_ = engine::Position::kBeforeFirst;  // Of `recent_`.
  std::size_t recent_bytes_ = 0;
  bool loading_ = false;  // The first part of a saved state was taken.
};

}  // namespace projections
