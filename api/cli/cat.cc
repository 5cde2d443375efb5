// `halo journal cat` and `tail`.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "schemas/json.h"

namespace api::cli {
namespace {

using engine::Deadline;
using engine::Record;
using engine::StreamSpec;

// Rows that are read at once.
constexpr int kRowsAtOnce = 1000;
constexpr engine::Duration kPause = std::chrono::milliseconds(500);

// Where a reader is in one stream.
struct Place {
  StreamSpec spec;
  std::uint64_t next = 1;
};

bool IsPast(const Place& place, const CatFlags& flags) {
  return flags.to.has_value() && place.next > *flags.to;
}

// Prints what is there of one stream.
absl::Status CatStream(engine::Journal& journal, const CatFlags& flags, Place& place,
                       std::ostream& out) {
  while (!IsPast(place, flags)) {
    ASSIGN_OR_RETURN(const std::vector<Record> rows,
                     journal.ReadStream(place.spec.id, engine::Position{place.next}, kRowsAtOnce,
                                        Deadline::Infinite()));
    if (rows.empty()) {
      break;
    }
    for (const Record& row : rows) {
      if (flags.to.has_value() && Raw(row.position) > *flags.to) {
        place.next = Raw(row.position);
        return absl::OkStatus();
      }
      RETURN_IF_ERROR(CheckRow(row, place.spec.name));
      ASSIGN_OR_RETURN(const std::string line, schemas::RowJson(row, place.spec.name));
      out << line << "\n";
      place.next = Raw(row.position) + 1;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Place>> PlacesOf(engine::Journal& journal, const CatFlags& flags) {
  std::vector<Place> places;
  if (flags.stream.empty()) {
    for (const StreamSpec& spec : journal.catalogue()) {
      places.push_back({spec});
    }
  } else {
    ASSIGN_OR_RETURN(StreamSpec spec, FindStream(journal.catalogue(), flags.stream));
    places.push_back({std::move(spec)});
  }
  ASSIGN_OR_RETURN(const auto tails, journal.Tails(Deadline::Infinite()));
  for (Place& place : places) {
    const auto tail = std::ranges::find(tails, place.spec.id, &engine::StreamTail::stream);
    const bool from_the_end = flags.tail && tail != tails.end();
    place.next =
        std::max<std::uint64_t>(flags.from.value_or(from_the_end ? Raw(tail->position) + 1 : 1), 1);
  }
  return places;
}

absl::Status CatAll(engine::Journal& journal, const CatFlags& flags, std::vector<Place>& places,
                    std::ostream& out) {
  for (Place& place : places) {
    RETURN_IF_ERROR(CatStream(journal, flags, place, out));
  }
  out.flush();
  return absl::OkStatus();
}

void Pause() {
  engine::Mutex mutex;
  engine::CondVar never;
  const auto end = Deadline::After(kPause);
  engine::MutexLock lock(mutex);
  while (never.WaitUntil(mutex, end)) {
  }
}

absl::StatusOr<bool> HasMore(engine::Journal& journal, const std::vector<Place>& places) {
  ASSIGN_OR_RETURN(const auto tails, journal.Tails(Deadline::Infinite()));
  return std::ranges::any_of(places, [&](const Place& place) {
    const auto tail = std::ranges::find(tails, place.spec.id, &engine::StreamTail::stream);
    return tail != tails.end() && Raw(tail->position) >= place.next;
  });
}

// A data directory is opened anew after it was written to: what was opened shows one moment.
absl::Status Follow(std::unique_ptr<engine::Engine> store, std::string mark, const CatFlags& flags,
                    std::vector<Place>& places, std::ostream& out) {
  const auto is_past = [&](const Place& place) { return IsPast(place, flags); };
  while (out.good() && !std::ranges::all_of(places, is_past)) {
    Pause();
    if (!flags.store.data_dir.empty()) {
      std::string now = WrittenMark(flags.store);
      if (now == mark) {
        continue;
      }
      mark = std::move(now);
      store.reset();
      ASSIGN_OR_RETURN(store, OpenStore(flags.store));
    }
    // One question a pause, however many streams there are.
    ASSIGN_OR_RETURN(const bool has_more, HasMore(store->journal(), places));
    if (has_more) {
      RETURN_IF_ERROR(CatAll(store->journal(), flags, places, out));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JournalCat(const CatFlags& flags, std::ostream& out) {
  RETURN_IF_ERROR(CheckRange(flags.from.value_or(1), flags.to));
  // Taken before the store is opened: what is written in between is looked for once too often.
  std::string mark = WrittenMark(flags.store);
  ASSIGN_OR_RETURN(auto store, OpenStore(flags.store));
  ASSIGN_OR_RETURN(std::vector<Place> places, PlacesOf(store->journal(), flags));
  RETURN_IF_ERROR(CatAll(store->journal(), flags, places, out));
  return flags.follow ? Follow(std::move(store), std::move(mark), flags, places, out)
                      : absl::OkStatus();
}

}  // namespace api::cli
