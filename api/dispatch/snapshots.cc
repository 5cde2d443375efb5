#include "api/dispatch/snapshots.h"

#include <algorithm>
#include <utility>

#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// A page of the verification; a store that is slower is asked again.
constexpr engine::Duration kPageTimeout = std::chrono::seconds(30);

std::uint64_t RowsOf(const engine::View& view) {
  std::uint64_t rows = 0;
  for (const engine::StreamView& stream : view.streams) {
    rows += engine::Raw(stream.position);
  }
  return rows;
}

bool IsHealthy(const engine::View& view) {
  return std::ranges::all_of(view.streams,
                             [](const engine::StreamView& stream) { return stream.health.ok(); });
}

}  // namespace

std::unique_ptr<Snapshots> Snapshots::Open(const SnapshotOptions& options) {
  if (options.dir.empty()) {
    return nullptr;
  }
  absl::StatusOr<engine::SnapshotDirectory> directory =
      engine::SnapshotDirectory::Open(options.dir);
  if (!directory.ok()) {
    engine::Log(engine::Severity::kWarning, "going without snapshots: every start reads all rows",
                {{"why", directory.status().ToString()}});
    return nullptr;
  }
  return std::unique_ptr<Snapshots>(new Snapshots(*std::move(directory), options));
}

Snapshots::~Snapshots() {
  verifier_.reset();
  if (saver_ != nullptr) {
    saver_.reset();
    for (Lane& lane : lanes_) {
      SaveIfGrown(lane, 1);
    }
  }
}

absl::Status Snapshots::Restore(std::string name, engine::Follower& follower,
                                engine::Journal& journal) {
  Lane lane{.name = std::move(name), .follower = &follower, .unverified = {}, .verifier = {}};
  ASSIGN_OR_RETURN(const std::optional<engine::SnapshotHeader> header,
                   directory_.Restore(lane.name, follower, journal, engine::Deadline::Infinite()));
  if (header.has_value()) {
    lane.saved_rows = RowsOf(*follower.view());
    for (const engine::SavedStream& stream : header->streams) {
      lane.unverified.push_back(stream.cursor);
    }
    engine::Log(
        engine::Severity::kInfo, "took over a snapshot",
        {{"lane", lane.name}, {"tx", engine::Raw(header->tx)}, {"rows_left_out", lane.saved_rows}});
  }
  lanes_.push_back(std::move(lane));
  return absl::OkStatus();
}

void Snapshots::Start(engine::Journal& journal) {
  for (Lane& lane : lanes_) {
    if (lane.unverified.empty()) {
      continue;
    }
    lane.verifier = std::make_unique<engine::HistoryVerifier>(
        journal, lane.unverified,
        [follower = lane.follower](engine::StreamId stream, const absl::Status& why) {
          // Reading it again ends where the damage is.
          follower->Rebuild({&stream, 1}, why);
        });
  }
  saver_ = std::make_unique<Ticker>("snapshots", options_.interval, [this] {
    for (Lane& lane : lanes_) {
      SaveIfGrown(lane, options_.rows);
    }
  });
  verifier_ =
      std::make_unique<Ticker>("verify-history", options_.verify_interval, [this] { Verify(); });
}

void Snapshots::SaveIfGrown(Lane& lane, std::uint64_t rows) {
  const engine::ViewPtr view = lane.follower->view();
  const std::uint64_t now = RowsOf(*view);
  if (now < lane.saved_rows + rows || !IsHealthy(*view)) {
    return;
  }
  const engine::Duration start = engine::SystemClock().SinceBoot();
  if (const absl::Status saved = directory_.Save(lane.name, *view); !saved.ok()) {
    engine::Log(engine::Severity::kWarning, "a snapshot could not be saved",
                {{"lane", lane.name}, {"why", saved.ToString()}});
    return;
  }
  lane.saved_rows = now;
  const engine::Duration took = engine::SystemClock().SinceBoot() - start;
  engine::Log(engine::Severity::kInfo, "saved a snapshot",
              {{"lane", lane.name},
               {"tx", engine::Raw(view->tx)},
               {"seconds", std::chrono::duration<double>(took).count()}});
}

void Snapshots::Verify() {
  for (Lane& lane : lanes_) {
    if (lane.verifier == nullptr || lane.verifier->Step(engine::Deadline::After(kPageTimeout))) {
      continue;
    }
    engine::Log(engine::Severity::kInfo, "read again what the snapshot left out",
                {{"lane", lane.name}, {"rows", lane.verifier->rows()}});
    lane.verifier.reset();
  }
}

}  // namespace api
