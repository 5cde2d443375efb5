#include "api/feed/watch_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/feed/watch_event.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// What is handed over at once, a record more or less.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// Of records that are passed over, too.
constexpr int kPieceRows = 1000;
constexpr engine::Duration kReadTimeout = std::chrono::seconds(10);
// After a read that brought nothing, or failed.
constexpr engine::Duration kReadPause = std::chrono::seconds(1);

absl::StatusOr<std::vector<BacklogRow>> ReadRows(engine::Journal& journal,
                                                 const engine::Cursors& after, bool with_states) {
  const engine::Deadline deadline = engine::Deadline::After(kReadTimeout);
  if (with_states) {
    return ReadBacklogWithStates(journal, after, deadline);
  }
  ASSIGN_OR_RETURN(std::vector<engine::Record> records, ReadBacklog(journal, after, deadline));
  std::vector<BacklogRow> rows;
  rows.reserve(records.size());
  for (engine::Record& record : records) {
    rows.push_back({std::move(record), {}});
  }
  return rows;
}

}  // namespace

WatchStream::WatchStream(Feed& feed, Feed::PlacePtr place, HistoryCursor from, Audience audience)
    : feed_(feed),
      place_(std::move(place)),
      audience_(std::move(audience)),
      cursor_(std::move(from)),
      generation_(feed.store().recent().generation()) {}

WatchStream::~WatchStream() {
  if (subscription_ != 0) {
    feed_.store().recent().Unsubscribe(subscription_);
  }
}

void WatchStream::Start(std::function<void()> wake) {
  wake_ = std::move(wake);
  when_free_ = std::make_shared<const std::function<void()>>([turn = has_turn_, wake = wake_] {
    turn->store(true);
    wake();
  });
  subscription_ = feed_.store().recent().Subscribe(wake_);
}

BodySource::Piece WatchStream::Next() {
  const engine::Duration now = engine::SystemClock().SinceBoot();
  Piece piece;
  if (!std::exchange(has_begun_, true)) {
    piece.bytes += "retry: 1000\n";
    AppendId(piece.bytes);
    piece.bytes += '\n';
    asked_at_ = now;
    heartbeat_at_ = now + feed_.options().heartbeat;
  }
  if (!has_ended_) {
    Fill(now, piece.bytes);
  }
  if (piece.bytes.empty() && now >= heartbeat_at_) {
    piece.bytes += ": nothing new\n";
    if (!is_id_sent_) {
      AppendId(piece.bytes);
    }
    piece.bytes += '\n';
  }
  if (!piece.bytes.empty()) {
    heartbeat_at_ = now + feed_.options().heartbeat;
  }
  asked_at_ = now;
  piece.is_last = has_ended_;
  return piece;
}

void WatchStream::Fill(engine::Duration now, std::string& out) {
  if (is_ending_) {
    return Finish("end", "the server is going down", out);
  }
  if (!GUARD("watch.expired", !audience_.until.HasPassed())) {
    return Finish("expired", "the token has expired; with a new one, go on from the last id", out);
  }
  TakeBacklog(now, out);
  for (int rows = 0; !has_ended_ && out.size() < kPieceBytes; ++rows) {
    if (rows == kPieceRows) {
      return wake_();  // Others have their turn meanwhile.
    }
    if (!backlog_.empty()) {
      const BacklogRow row = std::move(backlog_.front());
      backlog_.pop_front();
      if (Advance(row.record, out) && Sees(row.record, row.before)) {
        Show(row.record, nullptr, out);
      }
    } else if (!Follow(now, out)) {
      return;
    }
  }
}

// Goes on by what is in memory. False: there is nothing (yet).
bool WatchStream::Follow(engine::Duration now, std::string& out) {
  if (is_reading_) {
    return false;
  }
  Recent& recent = feed_.store().recent();
  if (generation_ != recent.generation()) {
    ReadBacklogLater(now);
    return false;
  }
  const Recent::Step step = recent.Next(cursor_.streams);
  switch (step.reach) {
    case Recent::Reach::kRecord:
      is_live_ = true;
      if (Advance(step.record->record, out) && Sees(step.record->record, step.record->before)) {
        Show(step.record->record, step.record.get(), out);
      }
      return true;
    case Recent::Reach::kUpToDate:
      is_live_ = true;
      return false;
    case Recent::Reach::kRebuilt:
      return false;
    case Recent::Reach::kBehind:
      break;
  }
  const bool is_slow = is_live_ && now - asked_at_ > feed_.options().patience;
  if (!GUARD("watch.slow", !is_slow)) {
    feed_.counters().cut_off.fetch_add(1);
    Finish("cut-off", "the client is too slow; it may go on from the last id", out);
    return false;
  }
  ReadBacklogLater(now);
  return false;
}

void WatchStream::ReadBacklogLater(engine::Duration now) {
  if (now < read_again_at_) {
    return;
  }
  // Whose turn it was may not have taken it: so it is tried now and then, too.
  const bool is_in_line = is_waiting_ && !has_turn_->exchange(false);
  if (is_in_line && now - waits_since_ < kReadPause) {
    return;
  }
  Feed::PlacePtr place = feed_.TakeRead(is_in_line ? nullptr : when_free_);
  is_waiting_ = place == nullptr;
  waits_since_ = now;
  if (is_waiting_) {
    return;
  }
  feed_.counters().reads.fetch_add(1);
  const std::uint64_t generation = feed_.store().recent().generation();
  const bool is_scoped = static_cast<bool>(audience_.sees);
  const Work sort = GUARD("watch.apart", false) ? Work::kShort : Work::kLong;
  auto read = [self = shared_from_this(), place = std::move(place), is_scoped,
               after = cursor_.streams, wake = wake_]() mutable {
    auto rows = ReadRows(self->feed_.store().journal(), after, is_scoped);
    {
      engine::MutexLock lock(self->mutex_);
      self->read_ = std::move(rows);
    }
    place.reset();
    wake();
  };
  is_reading_ = feed_.workers().Run(std::move(read), sort);
  if (is_reading_) {
    generation_ = generation;
  }
}

void WatchStream::TakeBacklog(engine::Duration now, std::string& out) {
  std::optional<absl::StatusOr<Rows>> read;
  {
    engine::MutexLock lock(mutex_);
    read.swap(read_);
  }
  if (!read) {
    return;
  }
  is_reading_ = false;
  if (read->ok()) {
    if ((*read)->empty()) {
      read_again_at_ = now + kReadPause;
    }
    std::ranges::move(**read, std::back_inserter(backlog_));
    return;
  }
  const absl::Status& why = read->status();
  engine::Log(engine::Severity::kWarning, "a watch could not read on",
              {{"reason", why.ToString()}});
  if (absl::IsOutOfRange(why) || absl::IsFailedPrecondition(why)) {
    feed_.counters().gone.fetch_add(1);
    Finish("gone", "the history after the last id is gone: start anew", out);
  } else if (absl::IsDataLoss(why)) {
    Finish("damaged", "the stored history is damaged; /readyz says where", out);
  } else {
    read_again_at_ = now + kReadPause;
    generation_ = ~std::uint64_t{0};  // It has still to be compared.
  }
}

// Whichever way a record came: it has to be the next one of its stream, and of its history.
bool WatchStream::Advance(const engine::Record& record, std::string& out) {
  const auto at = std::ranges::find(cursor_.streams, record.stream, &engine::StreamCursor::stream);
  const bool follows = record.position == engine::Next(at->position) &&
                       record.digest == engine::ChainDigest(at->digest, record.checksum);
  if (!GUARD("watch.chain", follows)) {
    feed_.counters().gone.fetch_add(1);
    Finish("gone", "the history after the last id is gone: start anew", out);
    return false;
  }
  at->position = record.position;
  at->digest = record.digest;
  cursor_.tx = std::max(cursor_.tx, record.tx);
  is_id_sent_ = false;
  return true;
}

bool WatchStream::Sees(const engine::Record& record, const engine::Payload& before) const {
  return !audience_.sees || audience_.sees(record, before);
}

void WatchStream::Show(const engine::Record& record, const RecentRecord* shared, std::string& out) {
  AppendId(out);
  out += "data: {";
  if (audience_.is_admin) {
    AppendPlace(record, out);
  }
  const auto make = [this](const engine::Record& row) { return TextOf(row); };
  out += shared != nullptr ? shared->Text(make) : TextOf(record);
  out += "}\n\n";
  feed_.counters().events.fetch_add(1, std::memory_order_relaxed);
}

std::string WatchStream::TextOf(const engine::Record& record) const {
  return EventText(record, feed_.store().journal().catalogue(), feed_.registry());
}

void WatchStream::AppendId(std::string& out) {
  out += "id: ";
  out += feed_.store().cursors().Show(cursor_);
  out += '\n';
  is_id_sent_ = true;
}

void WatchStream::Finish(std::string_view event, std::string_view reason, std::string& out) {
  has_ended_ = true;
  backlog_.clear();
  AppendId(out);
  out += "event: ";
  out += event;
  out += "\ndata: {\"reason\":\"";
  out += reason;
  out += "\"}\n\n";
}

}  // namespace api
