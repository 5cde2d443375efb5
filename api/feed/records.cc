// GET /api/v1/streams/{name}/records: the records of a stream, decoded, for operators.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <absl/strings/str_format.h>

#include "api/feed/routes.h"
#include "api/http/problem.h"
#include "api/json/writer.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "schemas/json.h"

namespace api {
namespace {

constexpr char kPattern[] = "/api/v1/streams/{name}/records";
constexpr std::uint64_t kDefaultLimit = 100;
constexpr std::uint64_t kMaxLimit = 1000;
// A page ends early where its records are large.
constexpr std::size_t kPageBytes = std::size_t{4} << 20;

struct Query {
  engine::StreamSpec stream;
  std::uint64_t from = 0;  // 0: where the history begins.
  std::uint64_t limit = kDefaultLimit;
};

// False: it is there and no number of that range.
bool ReadNumber(const Request& request, std::string_view name, std::uint64_t most,
                std::uint64_t& number) {
  const auto text = request.Query(name);
  if (!text) {
    return true;
  }
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() && number >= 1 &&
         number <= most;
}

std::variant<Response, Query> ParseQuery(const Request& request,
                                         const engine::Catalogue& catalogue) {
  const std::string_view name = request.PathParameter("name");
  const auto spec = std::ranges::find(catalogue, name, &engine::StreamSpec::name);
  if (spec == catalogue.end()) {
    return ControlError(404, absl::StrFormat("there is no stream '%s'", name));
  }
  Query query{.stream = *spec};
  if (!ReadNumber(request, "from", ~std::uint64_t{0} >> 1, query.from)) {
    return ControlError(400, "from must be a position, from 1 on");
  }
  if (!ReadNumber(request, "limit", kMaxLimit, query.limit)) {
    return ControlError(400, "limit must be a number from 1 to 1000");
  }
  return query;
}

struct Page {
  std::vector<std::string> records;
  std::uint64_t next = 0;  // 0: there is no more.
  engine::StreamTail tail;
};

// Fails with kOutOfRange below the floor, with kDataLoss for a damaged record, and as the journal's
// calls do.
absl::StatusOr<Page> ReadPage(engine::Journal& journal, const Query& query,
                              engine::Deadline deadline) {
  Page page;
  ASSIGN_OR_RETURN(const std::vector<engine::StreamTail> tails, journal.Tails(deadline));
  page.tail = *std::ranges::find(tails, query.stream.id, &engine::StreamTail::stream);
  const std::uint64_t floor = engine::Raw(page.tail.floor.position);
  const std::uint64_t from = query.from == 0 ? std::max<std::uint64_t>(floor, 1) : query.from;
  if (!GUARD("records.floor", from >= floor)) {
    return absl::OutOfRangeError("it was compacted");
  }
  ASSIGN_OR_RETURN(const std::vector<engine::Record> rows,
                   journal.ReadStream(query.stream.id, engine::Position{from},
                                      static_cast<int>(query.limit), deadline));
  std::size_t bytes = 0;
  for (const engine::Record& row : rows) {
    if (bytes > kPageBytes) {
      break;
    }
    if (!GUARD("records.row", row.checksum == engine::RowChecksum(row))) {
      return absl::DataLossError(absl::StrFormat("stream %s position %d is damaged",
                                                 query.stream.name, engine::Raw(row.position)));
    }
    ASSIGN_OR_RETURN(std::string record, schemas::RowJson(row, query.stream.name));
    bytes += record.size();
    page.records.push_back(std::move(record));
    page.next = engine::Raw(row.position) + 1;
  }
  if (page.next > engine::Raw(page.tail.position)) {
    page.next = 0;
  }
  return page;
}

Response ShowPage(const Page& page, const Query& query) {
  Response response;
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("stream").String(query.stream.name);
  json.Key("records").BeginArray();
  for (const std::string& record : page.records) {
    json.Raw(record);
  }
  json.EndArray();
  json.Key("floor").Uint(engine::Raw(page.tail.floor.position));
  json.Key("head").Uint(engine::Raw(page.tail.position));
  if (page.next != 0) {
    json.Key("next").Uint(page.next);
  }
  json.EndObject();
  return response;
}

Response AnswerRecords(const Request& request, const Query& query, engine::Journal& journal) {
  const auto page = ReadPage(journal, query, request.deadline());
  if (page.ok()) {
    return ShowPage(*page, query);
  }
  if (absl::IsOutOfRange(page.status())) {
    return ControlError(410, "what was at this position, and next to it, was compacted");
  }
  return StoreFailure(request, page.status());
}

}  // namespace

void AddRecordsRoute(Dispatcher& dispatcher) {
  dispatcher.Read(Access::kAdmin, kPattern,
                  [&dispatcher](const Call& call, const LatestView&) -> Dispatcher::ReadAnswer {
                    engine::Journal& journal = dispatcher.store().journal();
                    auto query = ParseQuery(*call.request, journal.catalogue());
                    if (auto* refusal = std::get_if<Response>(&query)) {
                      return std::move(*refusal);
                    }
                    return [&journal, request = call.request,
                            query = std::get<Query>(std::move(query))](const auto& /*gone*/) {
                      return AnswerRecords(*request, query, journal);
                    };
                  });
}

}  // namespace api
