// halo: the operator's command line over a store.

#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "api/cli/commands.h"
#include "api/cli/print.h"
#include "engine/base/logging.h"

namespace {

using api::cli::Format;
using Action = std::function<absl::Status(Format)>;

void AddStorageFlags(CLI::App& command, api::cli::StorageFlags& flags) {
  command.add_option("--data-dir", flags.data_dir, "data directory of the file backend");
  command.add_option("--database-url-file", flags.database_url_file,
                     "file that holds a Postgres connection URL");
  command.add_flag("--database-insecure-tls", flags.insecure_tls,
                   "allow a database on another machine without sslmode=verify-full");
}

// Everything that is parsed into; `action` is what the chosen subcommand does.
struct CommandLine {
  api::cli::AuditVerifyFlags audit_verify;
  api::cli::StreamsFlags streams;
  api::cli::CatFlags cat;
  api::cli::CatFlags tail;
  api::cli::DiffFlags diff;
  api::cli::VerifyFlags verify;
  api::cli::ExportFlags exported;
  api::cli::TrimFlags trim;
  api::cli::ReplayFlags replay;
  Action action;
};

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& what,
                     const std::string& example) {
  CLI::App* const command = parent.add_subcommand(name, what);
  command->footer("example: " + example);
  return command;
}

void AddAudit(CLI::App& app, CommandLine& line) {
  CLI::App& audit =
      *AddCommand(app, "audit", "the audit chain", "halo audit verify --data-dir ./halo-data");
  audit.require_subcommand(1);
  CLI::App& verify = *AddCommand(audit, "verify", "read and check the whole chain again",
                                 "halo audit verify --data-dir ./halo-data --expect-total 12");
  AddStorageFlags(verify, line.audit_verify.store);
  verify.add_option("--expect-head", line.audit_verify.expect_head,
                    "fail unless the chain ends with this hash");
  verify.add_option("--expect-total", line.audit_verify.expect_total,
                    "fail unless the chain has this many entries");
  verify.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::AuditVerify(line.audit_verify, format, std::cout);
    };
  });
}

void AddRecordFlags(CLI::App& command, CommandLine& line, api::cli::CatFlags& flags) {
  AddStorageFlags(command, flags.store);
  command.add_option("--stream", flags.stream, "this stream only");
  command.add_option("--from", flags.from, "first position");
  command.add_option("--to", flags.to, "last position");
  command.add_flag("--follow", flags.follow, "wait for more, up to --to where that is given");
  command.callback([&line, &flags] {
    line.action = [&flags](Format) { return api::cli::JournalCat(flags, std::cout); };
  });
}

void AddJournalCat(CLI::App& journal, CommandLine& line) {
  AddRecordFlags(*AddCommand(journal, "cat", "print records as JSON lines, secrets masked",
                             "halo journal cat --data-dir ./halo-data --stream resources --follow"),
                 line, line.cat);
  line.tail.tail = line.tail.follow = true;
  AddRecordFlags(*AddCommand(journal, "tail",
                             "print records as they are written, like cat --follow "
                             "from the end",
                             "halo journal tail --data-dir ./halo-data --stream resources"),
                 line, line.tail);
}

void AddJournalDiff(CLI::App& journal, CommandLine& line) {
  CLI::App& diff = *AddCommand(journal, "diff", "where two journals differ first, by stream",
                               "halo journal diff --data-dir ./halo-data --compare ./backup");
  AddStorageFlags(diff, line.diff.store);
  diff.add_option("--compare", line.diff.compare, "the other data directory or URL file")
      ->required();
  diff.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::JournalDiff(line.diff, format, std::cout);
    };
  });
}

void AddJournalExport(CLI::App& journal, CommandLine& line) {
  CLI::App& exported = *AddCommand(
      journal, "export", "write a stream's records to a file, nothing masked",
      "halo journal export --data-dir ./halo-data --stream resources --file resources.jsonl");
  AddStorageFlags(exported, line.exported.store);
  exported.add_option("--stream", line.exported.stream, "the stream")->required();
  exported.add_option("--file", line.exported.file, "the file, which is made")->required();
  exported.add_option("--from", line.exported.from, "first position");
  exported.add_option("--to", line.exported.to, "last position");
  exported.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::JournalExport(line.exported, format, std::cout);
    };
  });
}

void AddJournalTrim(CLI::App& journal, CommandLine& line) {
  CLI::App& trim = *AddCommand(
      journal, "trim", "export a stream's old records, then compact it",
      "halo journal trim --data-dir ./halo-data --stream resources --older-than 30d --file "
      "old.jsonl");
  AddStorageFlags(trim, line.trim.store);
  trim.add_option("--stream", line.trim.stream, "the stream; never the audit")->required();
  trim.add_option("--older-than", line.trim.older_than, "records at least this old: 30d, 12h")
      ->required();
  trim.add_option("--file", line.trim.file, "where they are exported to; it is made")->required();
  trim.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::JournalTrim(line.trim, format, std::cout);
    };
  });
}

void AddJournal(CLI::App& app, CommandLine& line) {
  CLI::App& journal = *AddCommand(app, "journal", "streams and their records",
                                  "halo journal streams --data-dir ./halo-data");
  journal.require_subcommand(1);
  CLI::App& streams = *AddCommand(journal, "streams", "heads, floors and digests",
                                  "halo journal streams --database-url-file url.txt");
  AddStorageFlags(streams, line.streams.store);
  streams.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::JournalStreams(line.streams, format, std::cout);
    };
  });
  AddJournalCat(journal, line);
  AddJournalExport(journal, line);
  AddJournalTrim(journal, line);
  AddJournalDiff(journal, line);
  CLI::App& verify = *AddCommand(journal, "verify", "check checksums, digests and density",
                                 "halo journal verify --data-dir ./halo-data");
  AddStorageFlags(verify, line.verify.store);
  verify.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::JournalVerify(line.verify, format, std::cout);
    };
  });
}

void AddReplay(CLI::App& app, CommandLine& line) {
  CLI::App& replay = *AddCommand(app, "replay", "fold the journal and print state digests",
                                 "halo replay --data-dir ./halo-data --stream resources --print");
  AddStorageFlags(replay, line.replay.store);
  replay.add_option("--until", line.replay.until, "stop after this transaction or time");
  replay.add_option("--stream", line.replay.stream, "this stream's projection only");
  replay.add_flag("--print", line.replay.print, "print the state as JSON too");
  replay.add_option("--compare", line.replay.compare,
                    "a data directory, URL file or snapshot that must have the same state");
  replay.callback([&line] {
    line.action = [&line](Format format) {
      return api::cli::Replay(line.replay, format, std::cout);
    };
  });
}

int Run(int argc, char** argv) {
  CommandLine line;
  CLI::App app("halo: look into a store", "halo");
  app.set_version_flag("--version", std::string("halo ") + HALO_VERSION);
  app.require_subcommand(1);
  app.footer("example: halo journal verify --data-dir ./halo-data");
  app.fallthrough();
  std::string output = "text";
  app.add_option("--output", output, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  AddAudit(app, line);
  AddJournal(app, line);
  AddReplay(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is wrong use.
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    std::cerr << "error: " << error.what() << "\n";
    return 2;
  }
  // An operator reads what was asked for, and what went wrong.
  engine::SetLogLevel(engine::Severity::kWarning);
  const absl::Status status = line.action(output == "json" ? Format::kJson : Format::kText);
  std::cout.flush();
  if (status.ok()) {
    return 0;
  }
  std::cerr << "error: " << api::cli::Text(status) << "\n";
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
