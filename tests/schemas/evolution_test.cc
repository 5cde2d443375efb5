// What may become of a schema while records written with its older forms are kept.

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <flatbuffers/idl.h>
#include <gtest/gtest.h>

#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"
#include "tests/support/private_directory.h"
#include "tests/support/process.h"
#include "tests/support/status_matchers.h"

namespace schemas {
namespace {

using engine::Payload;

constexpr char kFlatc[] = HALO_FLATC;
const std::filesystem::path kSchemas = HALO_SCHEMAS;

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

std::string Replaced(std::string text, std::string_view part, std::string_view by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

// What `flatc --conform` says; empty when `current` can read all that `released` wrote.
std::string Objection(const std::filesystem::path& released, const std::filesystem::path& current) {
  const absl::StatusOr<support::Finished> finished =
      support::RunProcess({.argv = {kFlatc, "--conform", released.string(), current.string()}},
                          engine::Deadline::After(std::chrono::seconds(60)));
  EXPECT_OK(finished);
  if (finished->exit.code == 0) {
    return "";
  }
  return finished->out + finished->err;
}

TEST(EvolutionTest, EverySchemaConformsToItsRelease) {
  int released = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas / "released")) {
    if (entry.path().extension() == ".fbs") {
      EXPECT_EQ(Objection(entry.path(), kSchemas / entry.path().filename()), "");
      ++released;
    }
  }
  EXPECT_GE(released, 2);
}

class EvolvedKillTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make());
    killswitch_ = ReadFile(kSchemas / "killswitch.fbs");
  }

  // What is said against the kill switch's schema with `part` replaced.
  std::string ObjectionTo(std::string_view part, std::string_view by) {
    const auto evolved = directory_->Write("evolved.fbs", Replaced(killswitch_, part, by));
    EXPECT_OK(evolved);
    return Objection(kSchemas / "killswitch.fbs", *evolved);
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
  std::string killswitch_;
};

TEST_F(EvolvedKillTest, AppendedFieldIsAccepted) {
  EXPECT_EQ(ObjectionTo("reason: string;", "reason: string; ticket: string;"), "");
}

TEST_F(EvolvedKillTest, AppendedEnumeratorIsAccepted) {
  EXPECT_EQ(ObjectionTo("kLive = 2", "kLive = 2, kPaused = 3"), "");
}

TEST_F(EvolvedKillTest, ReorderedFieldIsRefused) {
  EXPECT_THAT(ObjectionTo("name: string (required);\n  state: KillState;",
                          "state: KillState;\n  name: string (required);"),
              testing::HasSubstr("offsets differ"));
}

TEST_F(EvolvedKillTest, ChangedTypeIsRefused) {
  EXPECT_THAT(ObjectionTo("reason: string;", "reason: uint;"), testing::HasSubstr("types differ"));
}

TEST_F(EvolvedKillTest, ChangedNumberIsRefused) {
  EXPECT_THAT(ObjectionTo("kLive = 2", "kLive = 3"), testing::HasSubstr("values differ"));
}

// A record as a later binary writes it, which knows one field more.
TEST_F(EvolvedKillTest, RecordOfALaterSchemaIsRead) {
  flatbuffers::Parser later;
  const std::string schema =
      Replaced(killswitch_, "reason: string;", "reason: string; ticket: string;");
  ASSERT_TRUE(later.Parse(schema.c_str())) << later.error_;
  ASSERT_TRUE(later.Parse(R"({name: "search", state: "kKilled", by: "ops", ticket: "T-1"})"))
      << later.error_;
  const std::string_view body(reinterpret_cast<const char*>(later.builder_.GetBufferPointer()),
                              later.builder_.GetSize());
  const Payload payload(EncodeBody(Tag::kKill, body, Skippable::kNo));
  ASSERT_OK_AND_ASSIGN(const Kill* kill, DecodeAs<Kill>(payload));
  EXPECT_EQ(Text(kill->name()), "search");
  EXPECT_EQ(kill->state(), KillState::kKilled);
  EXPECT_EQ(Text(kill->reason()), "");
}

}  // namespace
}  // namespace schemas
