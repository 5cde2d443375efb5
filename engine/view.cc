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
    if (GUARD("view.stopped-streams", stream.health.ok())) {
      cursors.push_back({stream.stream, stream.position, stream.digest});
    }
  }
  return cursors;
}

}  // namespace engine
