// Bodies that come piece by piece (BodySource), on their way to the client.

#include <array>
#include <atomic>
#include <charconv>
#include <utility>

#include "api/http/transport_connection.h"

namespace api {
namespace {

// Pieces that one connection may send before the others have their turn again.
constexpr int kPiecesATurn = 4;

void AppendChunk(std::string_view bytes, std::string& out) {
  std::array<char, 20> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16).ptr;
  out.append(digits.data(), end);
  out += "\r\n";
  out += bytes;
  out += "\r\n";
}

}  // namespace

void Connection::BeginStream(std::shared_ptr<BodySource> source) {
  source_ = std::move(source);
  core_.CountStream(1);
  SetWait(Wait::kAnswer);
  // The source may keep it for longer than the connection lives. However often it is called, one
  // call of Pump is on its way.
  const auto is_woken = std::make_shared<std::atomic<bool>>(false);
  source_->Start([core = core_.shared_from_this(), connection = weak_from_this(), is_woken] {
    if (is_woken->exchange(true)) {
      return;
    }
    core->Post([connection, is_woken] {
      is_woken->store(false);
      if (const auto alive = connection.lock()) {
        alive->Pump();
      }
    });
  });
  if (core_.draining()) {
    source_->End();
  }
}

void Connection::EndStream() {
  if (source_ != nullptr) {
    source_.reset();
    core_.CountStream(-1);
  }
}

// Asks the source for as long as the client takes what comes.
void Connection::Pump() {
  for (int turn = 0; source_ != nullptr && !is_writing_ && !is_closed_; ++turn) {
    if (turn == kPiecesATurn) {
      core_.Post([self = weak_from_this()] {
        if (const auto alive = self.lock()) {
          alive->Pump();
        }
      });
      return;
    }
    const BodySource::Piece piece = source_->Next();
    if (piece.bytes.empty() && !piece.is_last) {
      return;
    }
    if (is_http_1_0_) {
      out_ += piece.bytes;
    } else if (!piece.bytes.empty()) {
      AppendChunk(piece.bytes, out_);
    }
    if (piece.is_last) {
      out_ += is_http_1_0_ ? "" : "0\r\n\r\n";
      EndStream();
    }
    Flush();
    if (!is_writing_ && !is_closed_ && !is_settled_) {
      SetWait(Wait::kAnswer);
    }
  }
}

}  // namespace api
