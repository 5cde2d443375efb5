// A store with a feed, a writer of transactions, and a reader of events.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/feed/feed.h"
#include "api/feed/watch_stream.h"
#include "projections/registry.h"
#include "projections/resources/state.h"
#include "schemas/killswitch_generated.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"

namespace feed_test {

// One block of an event stream.
struct Event {
  std::string id;
  std::string type;  // Empty: a record.
  std::string data;
};

inline std::vector<Event> ParseEvents(std::string_view text) {
  std::vector<Event> events;
  Event event;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) {
      events.push_back(std::exchange(event, {}));
    } else if (line.starts_with("id: ")) {
      event.id = line.substr(4);
    } else if (line.starts_with("event: ")) {
      event.type = line.substr(7);
    } else if (line.starts_with("data: ")) {
      event.data = line.substr(6);
    }
  }
  return events;
}

inline std::string KillPayload(const std::string& name) {
  flatbuffers::FlatBufferBuilder body;
  const auto experiment = body.CreateString(name);
  const auto by = body.CreateString("ops");
  return schemas::Encode(body,
                         schemas::CreateKill(body, experiment, schemas::KillState::kKilled, by));
}

inline std::string ChannelPayload(const std::string& id, int generation) {
  projections::ResourceState state;
  state.id = id;
  state.kind = "Channel";
  state.name = "c-" + id;
  state.href = "/api/hyperfleet/v1/channels/" + id;
  state.spec = "{\"filler\":\"" + std::string(200, 'x') + "\"}";
  state.generation = generation;
  state.created_by = state.updated_by = "ops";
  return projections::EncodeResource(state);
}

// Writes to a journal. One thread.
class Writer {
 public:
  explicit Writer(engine::Journal& journal) : journal_(journal) {}

  // One transaction.
  void Write(int kills, int channels) {
    auto transaction = *journal_.Begin(support::Soon());
    support::RowBuilder rows(*transaction->Read({}));
    for (int i = 0; i < kills; ++i) {
      rows.Add(schemas::kKillSwitchStream, "", KillPayload("exp" + std::to_string(i)));
    }
    for (int i = 0; i < channels; ++i) {
      const std::string id = "id-" + std::to_string(++ids_);
      rows.Add(schemas::kResourcesStream, id, ChannelPayload(id, 1));
    }
    EXPECT_OK(transaction->Append(rows.rows(), {}));
    EXPECT_OK(transaction->Commit(support::Soon()).why);
  }

 private:
  engine::Journal& journal_;
  int ids_ = 0;
};

// One server's half.
class Half {
 public:
  explicit Half(engine::Engine& engine, std::size_t recent_bytes = std::size_t{16} << 20,
                const api::FeedOptions& options = {},
                engine::Duration look_interval = std::chrono::milliseconds(2)) {
    api::StoreOptions store;
    store.look_interval = look_interval;
    store.recent_bytes = recent_bytes;
    store_ = *api::Store::Open(engine, projections::MainProjections(),
                               projections::AuditProjections(), store);
    feed_.emplace(*store_, workers_, registry_, options);
  }

  api::Store& store() { return *store_; }
  api::Feed& feed() { return *feed_; }
  api::Workers& workers() { return workers_; }

  // From a cursor's token, else from where the view is.
  std::shared_ptr<api::WatchStream> Watch(std::vector<engine::StreamId> streams,
                                          const std::string& token = "",
                                          api::Audience audience = {.is_admin = true}) {
    const api::HistoryCursor all =
        token.empty() ? api::CursorOf(*store_->main().Last()) : *store_->cursors().Read(token);
    api::HistoryCursor from{.tx = all.tx, .streams = {}};
    for (const engine::StreamCursor& cursor : all.streams) {
      if (std::ranges::find(streams, cursor.stream) != streams.end()) {
        from.streams.push_back(cursor);
      }
    }
    auto watch =
        std::make_shared<api::WatchStream>(*feed_, feed_->TakeWatch(), from, std::move(audience));
    watch->Start([] {});
    return watch;
  }
  // A cursor before everything.
  std::string StartToken() {
    return store_->cursors().Show(
        {engine::Tx::kBeforeFirst,
         {{schemas::kKillSwitchStream, {}, {}}, {schemas::kResourcesStream, {}, {}}}});
  }

  bool CatchesUp(engine::Position resources) {
    return support::WaitFor(
        [&] {
          return store_->main().Last()->Find(schemas::kResourcesStream)->position >= resources;
        },
        support::Soon());
  }

 private:
  std::unique_ptr<api::Store> store_;
  const projections::Registry registry_ = projections::Registry::Stock();
  std::optional<api::Feed> feed_;
  api::Workers workers_{2, 64};  // Ends first: its tasks use the rest.
};

// The next events that say something, within half a minute: at least `count`, or up to the end.
inline std::vector<Event> Read(api::WatchStream& watch, std::size_t count) {
  std::vector<Event> events;
  bool has_ended = false;
  support::WaitFor(
      [&] {
        const api::BodySource::Piece piece = watch.Next();
        for (Event& event : ParseEvents(piece.bytes)) {
          if (!event.data.empty()) {
            events.push_back(std::move(event));
          }
        }
        has_ended = piece.is_last;
        return has_ended || events.size() >= count;
      },
      support::Soon(), std::chrono::milliseconds(1));
  return events;
}

}  // namespace feed_test
