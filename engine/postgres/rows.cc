#include "engine/postgres/rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/news_page.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {
namespace {

std::uint64_t Unsigned(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}
std::int64_t Signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}
std::int32_t Signed(StreamId stream) {
  return static_cast<std::int32_t>(stream);
}

Record RowAt(const Result& result, int row) {
  Record record;
  record.stream = StreamId{static_cast<std::uint32_t>(result.Int32(row, kStream))};
  record.position = Position{Unsigned(result.Int64(row, kPosition))};
  record.tx = Tx{Unsigned(result.Int64(row, kTx))};
  if (!result.IsNull(row, kKey)) {
    record.key = result.Bytes(row, kKey);
  }
  if (!result.IsNull(row, kPrevious)) {
    record.previous = Position{Unsigned(result.Int64(row, kPrevious))};
  }
  record.flags = static_cast<std::uint16_t>(result.Int16(row, kFlags));
  record.at = result.Time(row, kAt);
  record.checksum = Unsigned(result.Int64(row, kChecksum));
  record.digest = Digest{Unsigned(result.Int64(row, kDigest))};
  record.payload = Payload(result.Bytes(row, kRecord));
  return record;
}

StreamTail TailAt(const Result& result, int row) {
  StreamTail tail;
  tail.stream = StreamId{static_cast<std::uint32_t>(result.Int32(row, kTailStream))};
  tail.floor = FloorAt(result, row, kTailFloor);
  if (result.IsNull(row, kTailPosition)) {
    return tail;
  }
  tail.position = Position{Unsigned(result.Int64(row, kTailPosition))};
  tail.tx = Tx{Unsigned(result.Int64(row, kTailTx))};
  tail.at = result.Time(row, kTailAt);
  tail.digest = Digest{Unsigned(result.Int64(row, kTailDigest))};
  if (!result.IsNull(row, kTailRecord)) {
    tail.last_payload = Payload(result.Bytes(row, kTailRecord));
  }
  return tail;
}

// Takes the fields of a copied row one after another.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  // The next field; a null pointer for NULL and when the row ended too soon.
  std::string_view Next() {
    if (rest_.size() < 4) {
      good_ = false;
      return {};
    }
    const std::int32_t length = WireInt32(rest_.data());
    rest_.remove_prefix(4);
    if (length < 0) {
      return {};
    }
    if (rest_.size() < static_cast<std::size_t>(length)) {
      good_ = false;
      return {};
    }
    const std::string_view field = rest_.substr(0, static_cast<std::size_t>(length));
    rest_.remove_prefix(static_cast<std::size_t>(length));
    return field;
  }
  std::int64_t Int64() {
    const std::string_view field = Next();
    good_ = good_ && field.size() == 8;
    return good_ ? WireInt64(field.data()) : 0;
  }
  std::int64_t Int64OrZero() {
    const std::string_view field = Next();
    return field.size() == 8 ? WireInt64(field.data()) : 0;
  }
  std::int16_t Int16() {
    const std::string_view field = Next();
    good_ = good_ && field.size() == 2;
    return good_ ? WireInt16(field.data()) : std::int16_t{0};
  }

  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

Params AnyNewsParams(const Cursors& after) {
  ArrayParam streams(kInt4Oid, after.size());
  ArrayParam positions(kInt8Oid, after.size());
  for (const StreamCursor& cursor : after) {
    streams.AddInt32(Signed(cursor.stream));
    positions.AddInt64(Signed(Raw(cursor.position)));
  }
  Params params;
  params.Array(std::move(streams)).Array(std::move(positions));
  return params;
}

Params NewsParams(const Cursors& after, std::int64_t rows, std::int64_t bytes) {
  Params params = AnyNewsParams(after);
  params.Int64(rows).Int64(bytes);
  return params;
}

absl::StatusOr<Origin> OriginOf(const Result& result, int first_column) {
  if (result.rows() == 0) {
    return absl::UnavailableError("the database did not say who it is");
  }
  if (!GUARD("postgres.in-recovery", !result.Bool(0, first_column + 2))) {
    return WithReason(Reason::kReadOnly, absl::UnavailableError("the database is a standby"));
  }
  if (result.IsNull(0, first_column + 1)) {
    return absl::UnavailableError("the table halo_journal is gone");
  }
  return Origin{absl::StrFormat("%d.%d", result.Time(0, first_column).micros,
                                static_cast<std::uint32_t>(result.Int32(0, first_column + 1)))};
}

Floor FloorAt(const Result& result, int row, int first_column) {
  Floor floor;
  floor.position = Position{Unsigned(result.Int64(row, first_column))};
  if (floor.position != Position::kBeforeFirst) {
    floor.digest = Digest{Unsigned(result.Int64(row, first_column + 1))};
    floor.rows = Unsigned(result.Int64(row, first_column + 2));
    floor.sum = Unsigned(result.Int64(row, first_column + 3));
  }
  return floor;
}

std::vector<Record> NewsRows(const Result& result) {
  std::vector<Record> rows;
  rows.reserve(static_cast<std::size_t>(result.rows()));
  for (int row = 0; row < result.rows(); ++row) {
    if (!result.IsNull(row, kStream) && !result.IsNull(row, kPosition)) {
      rows.push_back(RowAt(result, row));
    }
  }
  // The plan gives them in this order; only a promise of SQL is missing.
  const auto before = [](const Record& a, const Record& b) {
    return std::tie(a.stream, a.position) < std::tie(b.stream, b.position);
  };
  if (!std::ranges::is_sorted(rows, before)) {
    std::ranges::sort(rows, before);
  }
  return rows;
}

absl::StatusOr<News> NewsOf(const Cursors& after, const Result& result) {
  ASSIGN_OR_RETURN(Origin origin, OriginOf(result, kServerStart));
  NewsPage page(after);
  for (int row = 0; row < result.rows(); ++row) {
    if (!result.IsNull(row, kStream) && result.IsNull(row, kPosition)) {
      page.Leave(StreamId{static_cast<std::uint32_t>(result.Int32(row, kStream))});
    }
  }
  std::optional<StreamId> full;
  for (Record& row : NewsRows(result)) {
    const StreamId stream = row.stream;
    if (full != stream && !page.Add(std::move(row))) {
      full = stream;
    }
  }
  News news = std::move(page).Finish();
  news.origin = std::move(origin);
  return news;
}

Params TailsParams(const Catalogue& catalogue) {
  const auto chained = std::ranges::count_if(catalogue, &StreamSpec::chained);
  ArrayParam streams(kInt4Oid, static_cast<std::size_t>(chained));
  for (const StreamSpec& spec : catalogue) {
    if (spec.chained) {
      streams.AddInt32(Signed(spec.id));
    }
  }
  Params params;
  params.Array(std::move(streams));
  return params;
}

absl::StatusOr<AllTails> TailsOf(const Catalogue& catalogue, const Result& result) {
  AllTails all;
  ASSIGN_OR_RETURN(all.origin, OriginOf(result, kTailServerStart));
  all.clock = result.Time(0, kTailNow);
  all.now = all.clock;
  for (int row = 0; row < result.rows(); ++row) {
    StreamTail tail = TailAt(result, row);
    all.last_tx = std::max(all.last_tx, tail.tx);
    // The clock can have been set back, or be another machine's since a failover.
    all.now = GUARD("postgres.time", false) ? all.now : std::max(all.now, tail.at);
    if (std::ranges::find(catalogue, tail.stream, &StreamSpec::id) != catalogue.end()) {
      all.tails.push_back(std::move(tail));
    }
  }
  if (all.tails.size() != catalogue.size()) {
    return absl::FailedPreconditionError("a stream of the catalogue is gone from halo_streams");
  }
  return all;
}

Params InsertParams(const std::vector<Record>& rows, std::optional<Timestamp> latest) {
  const std::size_t size = rows.size();
  ArrayParam streams(kInt4Oid, size), positions(kInt8Oid, size), txs(kInt8Oid, size),
      keys(kByteaOid, size), previous(kInt8Oid, size), flags(kInt2Oid, size),
      ats(kTimestamptzOid, size), checksums(kInt8Oid, size), digests(kInt8Oid, size),
      records(kByteaOid, size);
  for (const Record& row : rows) {
    streams.AddInt32(Signed(row.stream));
    positions.AddInt64(Signed(Raw(row.position)));
    txs.AddInt64(Signed(Raw(row.tx)));
    row.key.empty() ? keys.AddNull() : keys.AddBytes(row.key);
    row.previous == Position::kBeforeFirst ? previous.AddNull()
                                           : previous.AddInt64(Signed(Raw(row.previous)));
    flags.AddInt16(static_cast<std::int16_t>(row.flags));
    ats.AddTimestamp(row.at);
    checksums.AddInt64(Signed(row.checksum));
    digests.AddInt64(Signed(Raw(row.digest)));
    records.AddBytes(row.payload.view());
  }
  Params params;
  params.Array(std::move(streams)).Array(std::move(positions)).Array(std::move(txs));
  params.Array(std::move(keys)).Array(std::move(previous)).Array(std::move(flags));
  params.Array(std::move(ats)).Array(std::move(checksums)).Array(std::move(digests));
  params.Array(std::move(records));
  params.Int64(GUARD("postgres.row-count", false) ? 0 : static_cast<std::int64_t>(size));
  latest.has_value() ? params.Time(*latest) : params.EndOfTime();
  return params;
}

Params AnswersParams(const std::vector<std::string>& keys) {
  ArrayParam wanted(kByteaOid, keys.size());
  for (const std::string& key : keys) {
    wanted.AddBytes(key);
  }
  Params params;
  params.Array(std::move(wanted));
  return params;
}

std::vector<KeptAnswer> AnswersOf(const Result& result) {
  std::vector<KeptAnswer> answers;
  answers.reserve(static_cast<std::size_t>(result.rows()));
  for (int row = 0; row < result.rows(); ++row) {
    answers.push_back({.key = std::string(result.Bytes(row, 0)),
                       .request = std::string(result.Bytes(row, 1)),
                       .answer = std::string(result.Bytes(row, 2)),
                       .tx = Tx{Unsigned(result.Int64(row, 3))},
                       .at = result.Time(row, 4)});
  }
  return answers;
}

Params KeepParams(const std::vector<KeptAnswer>& answers) {
  const std::size_t size = answers.size();
  ArrayParam keys(kByteaOid, size), requests(kByteaOid, size), bytes(kByteaOid, size),
      txs(kInt8Oid, size), ats(kTimestamptzOid, size);
  for (const KeptAnswer& answer : answers) {
    keys.AddBytes(answer.key);
    requests.AddBytes(answer.request);
    bytes.AddBytes(answer.answer);
    txs.AddInt64(Signed(Raw(answer.tx)));
    ats.AddTimestamp(answer.at);
  }
  Params params;
  params.Array(std::move(keys)).Array(std::move(requests)).Array(std::move(bytes));
  params.Array(std::move(txs)).Array(std::move(ats));
  params.Int64(static_cast<std::int64_t>(size));
  return params;
}

absl::StatusOr<Record> CopiedRow(StreamId stream, std::string_view bytes) {
  FieldReader fields(bytes);
  Record record;
  record.stream = stream;
  record.position = Position{Unsigned(fields.Int64())};
  record.tx = Tx{Unsigned(fields.Int64())};
  record.key = fields.Next();
  record.previous = Position{Unsigned(fields.Int64OrZero())};
  record.flags = static_cast<std::uint16_t>(fields.Int16());
  record.at = Timestamp{fields.Int64() + kPostgresEpochMicros};
  record.checksum = Unsigned(fields.Int64());
  record.digest = Digest{Unsigned(fields.Int64())};
  record.payload = Payload(fields.Next());
  if (!fields.good()) {
    return absl::DataLossError(
        absl::StrFormat("stream %d after position %d: the database sent half a row", Raw(stream),
                        Raw(record.position)));
  }
  return record;
}

}  // namespace engine::postgres
