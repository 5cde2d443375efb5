// View is everything the followed streams say at one transaction: whole transactions only, never
// part of one.
//
// A view is immutable and shared. What may be read through it depends, by type, on how fresh it
// is: FreshView<F> gives out only projections whose image type asks for F or less, so a security
// decision seen through less than `proven` does not compile.

#pragma once

#include <concepts>
#include <memory>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"
#include "engine/projection.h"

namespace engine {

// Weakest first. docs/architecture.md, "The life of one read".
enum class Freshness {
  kCached,  // The last view; nobody was asked.
  kLatest,  // A flight sent after the request arrived.
  kProven,  // As latest, from the server that just acknowledged a commit of ours.
};

// How far a stream is with starting over (engine/follower.h, Rebuild).
enum class Rebuilding {
  kNo,
  kForgotten,  // Folded to nothing, and to be read from its start.
  kRefolded,   // Folded again, but not yet to one cut with the other streams.
};

struct StreamView {
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  Digest digest = Digest::kEmpty;
  Tx tx = Tx::kBeforeFirst;  // Of the row at `position`.
  Timestamp at;              // Likewise.
  std::uint32_t fold_version = 0;
  // Not ok: the image is not to be served. kDataLoss: the stream is stopped after `position`, and
  // why. kUnavailable: it is being rebuilt, and why.
  absl::Status health;
  Rebuilding rebuilding = Rebuilding::kNo;
  std::shared_ptr<const ProjectionImage> image;
};

struct View {
  Tx tx = Tx::kBeforeFirst;         // The newest transaction in it that touched a followed stream.
  Timestamp at;                     // That transaction's time.
  std::vector<StreamView> streams;  // Ascending.

  // Null when the stream is not followed.
  const StreamView* Find(StreamId stream) const;
  // Where to read on from. A stopped or forgotten stream is left out: what it would bring is
  // ignored, and its backlog would fill every page for ever.
  Cursors cursors() const;
  // Ok, or why the first stream that is being rebuilt is.
  absl::Status Whole() const;
};
using ViewPtr = std::shared_ptr<const View>;

// The image of a projection in `view`. Image is a ProjectionImage with a constant `kStream`.
// Fails as the stream's health does. REQUIRES: the view follows Image::kStream.
template <std::derived_from<ProjectionImage> Image>
absl::StatusOr<const Image*> ImageIn(const View& view) {
  const StreamView* stream = view.Find(Image::kStream);
  if (!stream->health.ok()) {
    return stream->health;
  }
  return static_cast<const Image*>(stream->image.get());
}

template <Freshness F>
class FreshView {
 public:
  explicit FreshView(ViewPtr view) : view_(std::move(view)) {}

  // Image::kNeeds is the least freshness with which it may be read.
  template <std::derived_from<ProjectionImage> Image>
    requires(Image::kNeeds <= F)
  absl::StatusOr<const Image*> Get() const {
    return ImageIn<Image>(*view_);
  }
  Tx tx() const { return view_->tx; }
  Timestamp at() const { return view_->at; }
  const ViewPtr& ptr() const { return view_; }

 private:
  ViewPtr view_;
};

}  // namespace engine
