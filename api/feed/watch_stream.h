// WatchStream: one client's watch, as the body of its answer: server-sent events.
//
// It has a position, and no queue: what comes next is taken from memory (api/dispatch/recent.h)
// when the client has taken what came before, or, where that does not reach back to it, from the
// journal by a worker, a megabyte at a time. Every record is checked to follow the one before it
// by position and digest, whichever way it came, so none is skipped, doubled or of another history.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "api/dispatch/cursor.h"
#include "api/dispatch/recent.h"
#include "api/feed/backlog.h"
#include "api/feed/feed.h"
#include "api/http/response.h"
#include "engine/base/mutex.h"

namespace api {

// What a client may see, and how.
struct Audience {
  // Positions and transactions are shown.
  bool is_admin = false;
  // Given a record and, of a tombstone, what its key held before. Empty: everything is seen.
  std::function<bool(const engine::Record&, const engine::Payload& before)> sees = {};
  // Nothing is shown from then on: what says who this is has expired.
  engine::Deadline until = engine::Deadline::Infinite();
};

// One thread (the transport's), but for what a worker hands back.
class WatchStream final : public BodySource, public std::enable_shared_from_this<WatchStream> {
 public:
  // `place` is one of Feed::TakeWatch. The streams of `from` are watched, from there on.
  WatchStream(Feed& feed, Feed::PlacePtr place, HistoryCursor from, Audience audience);
  ~WatchStream() override;

  void Start(std::function<void()> wake) override;
  Piece Next() override;
  void End() override { is_ending_ = true; }

 private:
  using Rows = std::vector<BacklogRow>;

  void Fill(engine::Duration now, std::string& out);
  bool Follow(engine::Duration now, std::string& out);
  void TakeBacklog(engine::Duration now, std::string& out);
  void ReadBacklogLater(engine::Duration now);
  bool Advance(const engine::Record& record, std::string& out);
  bool Sees(const engine::Record& record, const engine::Payload& before) const;
  void Show(const engine::Record& record, const RecentRecord* shared, std::string& out);
  std::string TextOf(const engine::Record& record) const;
  void AppendId(std::string& out);
  void Finish(std::string_view event, std::string_view reason, std::string& out);

  Feed& feed_;
  const Feed::PlacePtr place_;
  const Audience audience_;
  HistoryCursor cursor_;
  std::uint64_t generation_;  // Of the recent records, when the history was last compared.
  std::deque<BacklogRow> backlog_;
  std::uint64_t subscription_ = 0;
  std::function<void()> wake_;
  Feed::WhenFree when_free_;
  bool has_begun_ = false;
  bool is_live_ = false;  // Was, at least once, where the view is.
  bool is_reading_ = false;
  bool is_waiting_ = false;  // For a place to read, since then.
  engine::Duration waits_since_{};
  const std::shared_ptr<std::atomic<bool>> has_turn_ = std::make_shared<std::atomic<bool>>(false);
  bool is_ending_ = false;  // The server goes down.
  bool has_ended_ = false;
  bool is_id_sent_ = false;           // The client has the cursor.
  engine::Duration asked_at_{};       // When Next was last called.
  engine::Duration read_again_at_{};  // Not before.
  engine::Duration heartbeat_at_{};

  engine::Mutex mutex_;
  std::optional<absl::StatusOr<Rows>> read_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace api
