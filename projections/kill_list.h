// KillList: which experiments are killed. Folds the stream `killswitch`, whose records are kills
// and unkills; the newest one about a name counts.
//
// The state is the killed names alone: an unkill leaves nothing but a higher version. Only an
// unkill lifts a kill; none expires.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "engine/command.h"
#include "engine/projection.h"
#include "engine/view.h"
#include "projections/persistent_tree.h"
#include "schemas/streams.h"

namespace projections {

struct Killed {
  std::string name;  // An experiment, or `toggle:` and a toggle.
  std::string by;
  std::string reason;  // Can be empty.
  engine::Timestamp at;
  engine::Position position = engine::Position::kBeforeFirst;  // Of the record that killed it.
};
using KilledPtr = std::shared_ptr<const Killed>;

// The order of the list: names by their bytes.
struct KilledLess {
  bool operator()(const KilledPtr& a, const KilledPtr& b) const { return a->name < b->name; }
  bool operator()(const KilledPtr& a, std::string_view b) const { return a->name < b; }
  bool operator()(std::string_view a, const KilledPtr& b) const { return a < b->name; }
};

// The list at one position, for administrators. Immutable; thread-safe.
class KillList : public engine::ProjectionImage {
 public:
  static constexpr engine::StreamId kStream = schemas::kKillSwitchStream;
  static constexpr engine::Freshness kNeeds = engine::Freshness::kLatest;
  using Entries = TreeSnapshot<KilledPtr, KilledLess>;

  // Equal on every replica, never falls: the base plus the number of records.
  std::uint64_t version() const { return version_; }
  // The killed ones, sorted by name.
  const Entries& killed() const { return killed_; }
  // Null when `name` is not killed. Lives as long as the list.
  const Killed* Find(std::string_view name) const;
  // Records of types that this binary does not know, left out of the list.
  std::uint64_t carried() const { return carried_; }

  std::uint64_t StateDigest() const override;
  absl::Status Save(const engine::StatePartSink& sink) const override;

 protected:
  KillList() = default;

 private:
  friend class KillListProjection;

  Entries killed_;
  std::uint64_t entries_digest_ = 0;  // Sum over the entries: independent of their order.
  std::uint64_t version_ = 0;
  std::uint64_t carried_ = 0;
};

// The same list for whoever acts on it (gateways, devices): only a proven view gives it out, and
// a KillList does not turn into one, so a function that takes this type cannot be handed less.
class ProvenKillList final : public KillList {
 public:
  static constexpr engine::Freshness kNeeds = engine::Freshness::kProven;
};

// One thread, as any projection; never blocks.
class KillListProjection final : public engine::Projection {
 public:
  // `version_base` is added to the position: above zero for a list that continues an older one.
  explicit KillListProjection(std::uint64_t version_base = 0);

  engine::StreamId stream() const override { return KillList::kStream; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override;
  std::shared_ptr<const engine::ProjectionImage> Publish() override;
  absl::Status Load(std::string_view part) override;
  void Reset() override;

 private:
  void Put(Killed killed);
  void Remove(std::string_view name);

  const std::uint64_t version_base_;
  PersistentTree<KilledPtr, KilledLess> killed_;
  std::uint64_t entries_digest_ = 0;
  std::uint64_t version_;
  std::uint64_t carried_ = 0;
  bool loading_ = false;  // The first part of a saved state was taken.
};

struct KillRequest {
  std::string name;
  bool killed = true;  // False: lift the kill.
  std::string by;      // Who asks; the audit entry's actor too.
  std::string reason;
};

// What `request` writes, judged against `list` under the lock: one record and its audit entry, or
// nothing when the name is in the wanted state already. The caller adds address and request id to
// the audit draft. Facts: `kill/<name>`.
engine::Proposal ProposeKill(const KillRequest& request, const KillList& list,
                             engine::Footprint& footprint);

}  // namespace projections
