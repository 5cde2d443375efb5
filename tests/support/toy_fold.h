// A projection for tests of the engine: keys to values, as the keyed stream of the conformance
// catalogue has them.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/status_macros.h"
#include "engine/projection.h"
#include "engine/view.h"

namespace support {

struct ToyEntry {
  std::string value;
  engine::Position position;
  friend bool operator==(const ToyEntry&, const ToyEntry&) = default;
};

class ToyImage final : public engine::ProjectionImage {
 public:
  static constexpr engine::StreamId kStream{3};
  static constexpr engine::Freshness kNeeds = engine::Freshness::kLatest;

  explicit ToyImage(std::map<std::string, ToyEntry> entries) : entries_(std::move(entries)) {}

  const std::map<std::string, ToyEntry>& entries() const { return entries_; }
  std::uint64_t StateDigest() const override {
    std::uint64_t digest = 0;
    for (const auto& [key, entry] : entries_) {
      digest += engine::Checksum64(key + "=" + entry.value);
    }
    return digest;
  }
  absl::Status Save(const engine::StatePartSink& sink) const override {
    for (const auto& [key, entry] : entries_) {
      std::string part;
      engine::AppendU64(engine::Raw(entry.position), part);
      RETURN_IF_ERROR(sink(part + key + "=" + entry.value));
    }
    return absl::OkStatus();
  }

 private:
  std::map<std::string, ToyEntry> entries_;
};

class ToyProjection final : public engine::Projection {
 public:
  explicit ToyProjection(engine::StreamId stream = ToyImage::kStream) : stream_(stream) {}

  engine::StreamId stream() const override { return stream_; }
  std::uint32_t fold_version() const override { return 1; }
  absl::Status Apply(const engine::Record& record) override {
    if (record.payload.view() == "undecodable") {
      return absl::DataLossError("undecodable");
    }
    if ((record.flags & engine::kTombstone) != 0) {
      entries_.erase(record.key);
    } else {
      entries_[record.key] = {std::string(record.payload.view()), record.position};
    }
    return absl::OkStatus();
  }
  std::shared_ptr<const engine::ProjectionImage> Publish() override {
    return std::make_shared<ToyImage>(entries_);
  }
  absl::Status Load(std::string_view part) override {
    const std::size_t equals = part.find('=', 8);
    if (part.size() < 8 || equals == std::string_view::npos) {
      return absl::DataLossError("no saved toy");
    }
    entries_[std::string(part.substr(8, equals - 8))] = {std::string(part.substr(equals + 1)),
                                                         engine::Position{engine::ReadU64(part)}};
    return absl::OkStatus();
  }
  void Reset() override { entries_.clear(); }

 private:
  const engine::StreamId stream_;
  std::map<std::string, ToyEntry> entries_;
};

}  // namespace support
