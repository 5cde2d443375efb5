#include "engine/view.h"

#include <algorithm>

#include "engine/base/guard.h"

namespace engine {

const StreamView* View::Find(StreamId stream) const {
  const auto found =
      std::find_if(streams.begin(), streams.end(),
                   [stream](const StreamView& candidate) { return candidate.stream == stream; });
  return found == streams.end() ? nullptr : &*found;
}

Cursors View::cursors() const {
  Cursors cursors;
  cursors.reserve(streams.size());
  for (const StreamView& stream : streams) {
    const bool is_read = stream.health.ok() || stream.rebuilding == Rebuilding::kRefolded;
    if (GUARD("view.stopped-streams", is_read)) {
      cursors.push_back({stream.stream, stream.position, stream.digest});
    }
  }
  return cursors;
}

absl::Status View::Whole() const {
  for (const StreamView& stream : streams) {
    if (stream.rebuilding != Rebuilding::kNo) {
      return stream.health;
    }
  }
  return absl::OkStatus();
}

}  // namespace engine
