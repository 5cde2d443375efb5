// `halo journal export` and `trim`, and what the other commands make of a compacted store.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "api/cli/commands.h"
#include "engine/file/file.h"
#include "projections/resources/state.h"
#include "schemas/streams.h"
#include "tests/support/private_directory.h"
#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"

namespace api::cli {
namespace {

using engine::Position;
using support::StatusIs;
using testing::HasSubstr;

class Yesterday final : public engine::Clock {
 public:
  engine::Timestamp Now() const override {
    return {engine::SystemClock().Now().micros - 24LL * 3600 * 1'000'000};
  }
  engine::Duration SinceBoot() const override { return engine::SystemClock().SinceBoot(); }
};

// Ten states of one resource, written yesterday.
class TrimTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    flags_.data_dir = directory_->path() + "/data";
    engine::file::Options options;
    options.dir = flags_.data_dir;
    options.clock = &yesterday_;
    ASSERT_OK_AND_ASSIGN(const auto store, engine::file::Open(schemas::Streams(), options));
    for (std::uint64_t i = 0; i < 10; ++i) {
      auto transaction = store->journal().Begin(support::Soon());
      ASSERT_OK(transaction);
      const auto state = (*transaction)->Read({});
      ASSERT_OK(state);
      ASSERT_OK((*transaction)
                    ->Append(support::RowBuilder(*state)
                                 .Add(schemas::kResourcesStream, "a", Encoded(), Position{i})
                                 .rows(),
                             {}));
      ASSERT_OK((*transaction)->Commit(support::Soon()).why);
    }
  }
  static std::string Encoded() {
    projections::ResourceState state;
    state.id = "a";
    state.kind = "Channel";
    state.name = "n";
    state.href = "/h";
    state.spec = "{}";
    state.created_by = state.updated_by = "alice";
    return projections::EncodeResource(state);
  }
  TrimFlags Flags(const std::string& stream, const std::string& age) {
    return {.store = flags_, .stream = stream, .older_than = age, .file = File("trimmed")};
  }
  std::string File(const std::string& name) const { return directory_->path() + "/" + name; }
  static std::vector<std::string> Lines(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }
  std::string Replayed(const std::string& until = "") {
    std::ostringstream out;
    ReplayFlags flags;
    flags.store = flags_;
    flags.stream = "resources";
    flags.until = until;
    const absl::Status status = Replay(flags, Format::kJson, out);
    return status.ok() ? out.str() : status.ToString();
  }

  Yesterday yesterday_;
  std::unique_ptr<support::PrivateDirectory> directory_;
  StorageFlags flags_;
  std::ostringstream out_;
};

TEST_F(TrimTest, ExportsFirstAndThenCompacts) {
  const std::string before = Replayed();
  ASSERT_OK(JournalTrim(Flags("resources", "12h"), Format::kText, out_));
  EXPECT_THAT(out_.str(), HasSubstr("exported 9 records, removed 8, floor 9"));
  const std::vector<std::string> lines = Lines(File("trimmed"));
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_THAT(lines[1], HasSubstr(R"({"stream":"resources","position":2,"tx":2,)"));
  EXPECT_THAT(lines[1], HasSubstr(R"("key":"61","previous":1,)"));
  EXPECT_EQ(Replayed(), before);
  out_.str("");
  ASSERT_OK(JournalStreams({flags_}, Format::kJson, out_));
  EXPECT_THAT(out_.str(), HasSubstr(R"({"name":"resources","head":10,"tx":10,"floor":9,)"));
}

TEST_F(TrimTest, ACompactedJournalVerifiesAndOldStatesAreRefused) {
  const std::string at_nine = Replayed("9");
  ASSERT_OK(JournalTrim(Flags("resources", "12h"), Format::kJson, out_));
  EXPECT_THAT(out_.str(),
              HasSubstr(R"({"stream":"resources","exported":9,"removed":8,"floor":9})"));
  out_.str("");
  EXPECT_OK(JournalVerify({flags_}, Format::kText, out_));
  EXPECT_THAT(out_.str(), testing::ContainsRegex("resources +2 rows"));
  EXPECT_EQ(Replayed("9"), at_nine);
  EXPECT_THAT(Replayed("8"), HasSubstr("cannot be told any more"));
}

TEST_F(TrimTest, WhatIsYoungStays) {
  ASSERT_OK(JournalTrim(Flags("resources", "48h"), Format::kText, out_));
  EXPECT_THAT(out_.str(), HasSubstr("exported 0 records, removed 0, floor 0"));
}

TEST_F(TrimTest, TheAuditIsNeverTrimmed) {
  for (const char* stream : {"audit", "killswitch"}) {
    EXPECT_THAT(JournalTrim(Flags(stream, "12h"), Format::kText, out_),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("keeps every record")));
  }
  EXPECT_THAT(JournalTrim(Flags("nothing", "12h"), Format::kText, out_),
              StatusIs(absl::StatusCode::kNotFound));
  for (const char* age : {"never", "soon"}) {
    EXPECT_THAT(JournalTrim(Flags("resources", age), Format::kText, out_),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_FALSE(std::filesystem::exists(File("trimmed")));
}

TEST_F(TrimTest, WithoutItsExportNothingIsRemoved) {
  std::ofstream(File("trimmed")) << "mine";
  EXPECT_THAT(JournalTrim(Flags("resources", "12h"), Format::kText, out_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is there already")));
  TrimFlags nowhere = Flags("resources", "12h");
  nowhere.file = File("no/such/place");
  EXPECT_FALSE(JournalTrim(nowhere, Format::kText, out_).ok());
  EXPECT_EQ(Lines(File("trimmed")), std::vector<std::string>{"mine"});
  out_.str("");
  ASSERT_OK(JournalStreams({flags_}, Format::kJson, out_));
  EXPECT_THAT(out_.str(), HasSubstr(R"({"name":"resources","head":10,"tx":10,"floor":0,)"));
}

TEST_F(TrimTest, ADirectoryThatIsInUseOrIsNoneIsRefused) {
  engine::file::Options options;
  options.dir = flags_.data_dir;
  ASSERT_OK_AND_ASSIGN(const auto server, engine::file::Open(schemas::Streams(), options));
  EXPECT_THAT(JournalTrim(Flags("resources", "12h"), Format::kText, out_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in use")));
  flags_.data_dir = File("nowhere");
  EXPECT_FALSE(JournalTrim(Flags("resources", "12h"), Format::kText, out_).ok());
  EXPECT_FALSE(std::filesystem::exists(flags_.data_dir));
}

TEST_F(TrimTest, ExportWritesAnyPartOfAnyStream) {
  ASSERT_OK(JournalExport(
      {.store = flags_, .stream = "resources", .file = File("part"), .from = 3, .to = 5},
      Format::kJson, out_));
  EXPECT_EQ(out_.str(), "{\"stream\":\"resources\",\"exported\":3}\n");
  ASSERT_EQ(Lines(File("part")).size(), 3U);
  EXPECT_THAT(Lines(File("part"))[0], HasSubstr("\"position\":3"));
  ASSERT_OK(JournalExport({.store = flags_, .stream = "audit", .file = File("audit"), .to = {}},
                          Format::kText, out_));
  EXPECT_TRUE(Lines(File("audit")).empty());
  EXPECT_THAT(
      JournalExport(
          {.store = flags_, .stream = "resources", .file = File("none"), .from = 5, .to = 2},
          Format::kText, out_),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("before --from 5")));
  EXPECT_FALSE(std::filesystem::exists(File("none")));
}

}  // namespace
}  // namespace api::cli
