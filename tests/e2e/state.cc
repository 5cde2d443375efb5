#include "tests/e2e/state.h"

#include <algorithm>

#include <absl/strings/str_format.h>
#include <boost/json.hpp>

#include "engine/base/status_macros.h"
#include "engine/file/file.h"
#include "engine/postgres/postgres.h"
#include "schemas/streams.h"

namespace e2e {
namespace {

using support::HttpResponse;

std::string String(const boost::json::value& object, const char* name) {
  return std::string(object.at(name).as_string());
}

std::string Number(const boost::json::value& object, const char* name) {
  return boost::json::serialize(object.at(name));
}

absl::StatusOr<boost::json::value> GetJson(support::HttpClient& client, const std::string& path) {
  ASSIGN_OR_RETURN(const HttpResponse response, client.Get(path, support::HaloServer::Admin()));
  if (response.status != 200) {
    return absl::InternalError(absl::StrFormat("%s: %d %s", path, response.status, response.body));
  }
  return boost::json::parse(response.body);
}

absl::StatusOr<boost::json::value> RunTool(std::vector<std::string> args,
                                           const std::vector<std::string>& store_flags) {
  args.insert(args.end(), store_flags.begin(), store_flags.end());
  args.insert(args.end(), {"--output", "json"});
  ASSIGN_OR_RETURN(const support::Finished finished, support::RunHalo(args));
  if (finished.exit.code != 0) {
    return absl::InternalError(absl::StrFormat("halo %s %s: %s", args[0], args[1], finished.err));
  }
  return boost::json::parse(finished.out);
}

absl::Status Same(const Digests& expected, const Digests& actual, std::string_view who) {
  for (const auto& [stream, digest] : expected) {
    const auto found = actual.find(stream);
    if (found == actual.end() || found->second != digest) {
      return absl::DataLossError(
          absl::StrFormat("%s: stream %s is %s, not %s", who, stream,
                          found == actual.end() ? std::string("missing") : found->second, digest));
    }
  }
  return absl::OkStatus();
}

// Every row of a journal, transaction by transaction.
absl::StatusOr<std::map<engine::Tx, std::vector<engine::Record>>> ReadTransactions(
    engine::Journal& journal) {
  std::map<engine::Tx, std::vector<engine::Record>> transactions;
  engine::ScanOptions options;
  for (const engine::StreamSpec& spec : journal.catalogue()) {
    options.after.push_back({spec.id, {}, {}});
  }
  const auto take = [&](std::span<const engine::Record> rows) {
    for (const engine::Record& row : rows) {
      transactions[row.tx].push_back(row);
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(journal.Scan(options, take, engine::Deadline::Infinite()));
  return transactions;
}

absl::Status CopyJournal(engine::Journal& from, engine::Journal& to) {
  ASSIGN_OR_RETURN(const auto transactions, ReadTransactions(from));
  for (const auto& [tx, rows] : transactions) {
    ASSIGN_OR_RETURN(const auto transaction, to.Begin(engine::Deadline::Infinite()));
    RETURN_IF_ERROR(transaction->Read({}).status());
    RETURN_IF_ERROR(transaction->Append(rows, {}));
    RETURN_IF_ERROR(transaction->Commit(engine::Deadline::Infinite()).why);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<State> ReadState(support::HttpClient& client) {
  State state;
  ASSIGN_OR_RETURN(const boost::json::value streams, GetJson(client, "/api/v1/streams"));
  for (const boost::json::value& stream : streams.at("streams").as_array()) {
    if (const std::string name = String(stream, "name"); name != "audit") {
      state.digests[name] = Number(stream, "position") + " " + String(stream, "state_digest");
    }
  }
  ASSIGN_OR_RETURN(const boost::json::value audit, GetJson(client, "/api/v1/audit?limit=1"));
  if (!audit.at("verified").as_bool()) {
    return absl::DataLossError("the audit does not verify");
  }
  state.digests["audit"] = Number(audit, "total") + " " + String(audit, "head");
  ASSIGN_OR_RETURN(state.contents, ReadContents(client));
  return state;
}

absl::StatusOr<Digests> ReplayedDigests(const std::vector<std::string>& store_flags) {
  Digests digests;
  ASSIGN_OR_RETURN(const boost::json::value replayed, RunTool({"replay"}, store_flags));
  for (const boost::json::value& projection : replayed.at("projections").as_array()) {
    digests[String(projection, "name")] =
        Number(projection, "position") + " " + String(projection, "state_digest");
  }
  RETURN_IF_ERROR(RunTool({"journal", "verify"}, store_flags).status());
  ASSIGN_OR_RETURN(const boost::json::value audit, RunTool({"audit", "verify"}, store_flags));
  digests["audit"] = Number(audit, "total") + " " + String(audit, "head");
  return digests;
}

absl::Status AgreesWithTools(const support::TestStore& store, const Digests& digests) {
  ASSIGN_OR_RETURN(const Digests replayed, ReplayedDigests(store.flags()));
  return Same(digests, replayed, "halo replay");
}

absl::Status AgreesAfterRestart(const support::TestStore& store, const Digests& digests,
                                const Contents& contents) {
  ASSIGN_OR_RETURN(const auto server, support::HaloServer::Start(store));
  support::HttpClient client(server->url());
  ASSIGN_OR_RETURN(const State state, ReadState(client));
  RETURN_IF_ERROR(Same(digests, state.digests, "after a restart"));
  if (state.contents != contents) {
    return absl::DataLossError("after a restart the fleet is another");
  }
  return server->Stop();
}

absl::Status CopyFoldsToTheSame(const support::TestStore& database) {
  ASSIGN_OR_RETURN(const Digests expected, ReplayedDigests(database.flags()));
  ASSIGN_OR_RETURN(const auto files, support::TestStore::OnFiles());
  {
    engine::postgres::Options options;
    options.url = database.url();
    ASSIGN_OR_RETURN(const auto from, engine::postgres::Open(schemas::Streams(), options));
    engine::file::Options file_options;
    file_options.dir = files->data_dir();
    ASSIGN_OR_RETURN(const auto to, engine::file::Open(schemas::Streams(), file_options));
    RETURN_IF_ERROR(CopyJournal(from->journal(), to->journal()));
  }
  ASSIGN_OR_RETURN(const Digests copied, ReplayedDigests(files->flags()));
  return Same(expected, copied, "the copy");
}

}  // namespace e2e
