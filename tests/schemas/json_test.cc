#include "schemas/json.h"

#include <string>

#include <flatbuffers/idl.h>
#include <flatbuffers/reflection.h>
#include <gtest/gtest.h>

#include "engine/audit_chain.h"
#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"
#include "schemas/streams.h"
#include "tests/support/status_matchers.h"

namespace schemas {
namespace {

using engine::Payload;
using reflection::BaseType;
using support::StatusIs;

Payload KillPayload(std::string_view name, std::string_view reason) {
  flatbuffers::FlatBufferBuilder body;
  const auto name_at = body.CreateString(name);
  const auto by_at = body.CreateString("ops");
  flatbuffers::Offset<flatbuffers::String> reason_at;
  if (!reason.empty()) {
    reason_at = body.CreateString(reason);
  }
  return Payload(Encode(body, CreateKill(body, name_at, KillState::kKilled, by_at, reason_at)));
}

std::string JsonOf(engine::StreamId stream, const Payload& payload) {
  const absl::StatusOr<std::string> json = RecordJson(stream, payload);
  return json.ok() ? *json : json.status().ToString();
}

TEST(RecordJsonTest, KillIsShown) {
  EXPECT_EQ(JsonOf(kKillSwitchStream, KillPayload("search", "errors")),
            R"({"type":"kill","record":)"
            R"({"name":"search","state":"killed","by":"ops","reason":"errors"}})");
}

TEST(RecordJsonTest, AbsentTextIsLeftOut) {
  EXPECT_EQ(JsonOf(kKillSwitchStream, KillPayload("search", "")),
            R"({"type":"kill","record":{"name":"search","state":"killed","by":"ops"}})");
}

TEST(RecordJsonTest, TextIsEscaped) {
  EXPECT_EQ(JsonOf(kKillSwitchStream, KillPayload("a\"b\n\xff", "")),
            "{\"type\":\"kill\",\"record\":{\"name\":\"a\\\"b\\u000a\uFFFD\",\"state\":\"killed\","
            "\"by\":\"ops\"}}");
}

TEST(RecordJsonTest, UnknownTypeIsCountedNotShown) {
  const Payload payload(EncodeBody(Tag{4711}, "could be a secret", Skippable::kYes));
  EXPECT_EQ(JsonOf(kKillSwitchStream, payload), R"({"type":4711,"skippable":true,"bytes":17})");
}

TEST(RecordJsonTest, DamagedRecordIsRefused) {
  EXPECT_THAT(RecordJson(kKillSwitchStream, Payload("garbage")),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(RecordJsonTest, AuditPassesThrough) {
  const std::string entry = engine::EncodeAuditEntry(
      {.seq = engine::Position{1}, .time = {0}, .what = {.actor = "ops"}, .prev = ""});
  EXPECT_EQ(JsonOf(kAuditStream, Payload(entry)), entry);
  EXPECT_THAT(RecordJson(kAuditStream, Payload(entry + "\n")),
              StatusIs(absl::StatusCode::kDataLoss));
}

// A schema of the test's own, with every kind of field that schemas may have.
constexpr char kEverySchema[] = R"(
  namespace test;
  attribute "secret";
  enum Color : ubyte { kInvalid = 0, kDarkRed = 1 }
  table Inner { text: string; token: string (secret); }
  table Every {
    zeta: bool;
    color: Color;
    big: ulong;
    small: long;
    real: double;
    maybe: int = null;
    text: string;
    bytes: [ubyte];
    numbers: [int];
    reals: [double];
    colors: [Color];
    texts: [string];
    inner: Inner;
    inners: [Inner];
    password: string (secret);
    key: [ubyte] (secret);
    pin: int (secret);
    hidden: Inner (secret);
  }
  root_type Every;
)";

class TableJsonTest : public testing::Test {
 protected:
  TableJsonTest() {
    EXPECT_TRUE(parser_.Parse(kEverySchema)) << parser_.error_;
    flatbuffers::Parser schema;
    EXPECT_TRUE(schema.Parse(kEverySchema));
    schema.Serialize();
    schema_ = Payload(View(schema));
  }
  std::string Show(const char* json) {
    EXPECT_TRUE(parser_.Parse(json)) << parser_.error_;
    const Payload bytes(View(parser_));
    return TableJson(*reflection::GetSchema(schema_.view().data()), "test.Every",
                     *flatbuffers::GetRoot<flatbuffers::Table>(
                         reinterpret_cast<const std::uint8_t*>(bytes.view().data())));
  }
  static std::string_view View(const flatbuffers::Parser& parser) {
    return {reinterpret_cast<const char*>(parser.builder_.GetBufferPointer()),
            parser.builder_.GetSize()};
  }

  flatbuffers::Parser parser_;
  Payload schema_;
};

TEST_F(TableJsonTest, EmptyTableShowsItsDefaults) {
  EXPECT_EQ(Show("{}"),
            R"({"zeta":false,"color":"invalid","big":0,"small":0,"real":0,"pin":"***"})");
}

TEST_F(TableJsonTest, EveryKindOfFieldIsShown) {
  EXPECT_EQ(Show(R"({zeta: true, color: "kDarkRed", big: 18446744073709551615,
                     small: -9223372036854775808, real: 0.1, maybe: 0, text: "é",
                     bytes: [0, 255], numbers: [1, -2], reals: [1.5], colors: [1, 0],
                     texts: ["a", "b"], inner: {text: "x"}, inners: [{}, {text: "y"}]})"),
            R"({"zeta":true,"color":"darkRed","big":18446744073709551615,)"
            R"("small":-9223372036854775808,"real":0.10000000000000001,"maybe":0,"text":"é",)"
            R"("bytes":"00ff","numbers":[1,-2],"reals":[1.5],"colors":["darkRed","invalid"],)"
            R"("texts":["a","b"],"inner":{"text":"x"},"inners":[{},{"text":"y"}],"pin":"***"})");
}

TEST_F(TableJsonTest, UnknownEnumeratorIsShownAsNumber) {
  parser_.opts.strict_json = false;
  EXPECT_THAT(Show("{color: 9}"), testing::HasSubstr("\"color\":9,"));
}

TEST_F(TableJsonTest, SecretsAreMaskedWhereverTheyAre) {
  const std::string json = Show(
      R"({password: "hunter2", key: [222, 173], pin: 1234, hidden: {text: "hunter3"},
          inner: {token: "hunter4"}, inners: [{token: "hunter5"}]})");
  EXPECT_THAT(json, testing::HasSubstr(R"("password":"***","key":"***","pin":"***",)"
                                       R"("hidden":"***"})"));
  EXPECT_THAT(json, testing::HasSubstr(R"("inner":{"token":"***"},"inners":[{"token":"***"}])"));
  for (const char* secret : {"hunter", "dead", "1234"}) {
    EXPECT_THAT(json, testing::Not(testing::HasSubstr(secret)));
  }
}

bool IsShowable(const reflection::Type& type, const reflection::Schema& schema) {
  const BaseType shown = type.base_type() == BaseType::Vector ? type.element() : type.base_type();
  if (shown == BaseType::Obj) {
    return !schema.objects()->Get(static_cast<unsigned>(type.index()))->is_struct();
  }
  return shown == BaseType::String || (flatbuffers::IsScalar(shown) && shown != BaseType::UType);
}

TEST(SchemasTest, EveryKnownTypeHasATableThatCanBeShown) {
  int known = 0;
  for (const Tag tag : EnumValuesTag()) {
    if (TypeName(tag).empty()) {
      continue;  // kInvalid, and types of which no record can be decoded yet.
    }
    ++known;
    const std::string table = TableNameOf(tag);
    const reflection::Schema* schema = FindSchema(table);
    ASSERT_NE(schema, nullptr) << table;
    // No unions either: an old reader would refuse what it could have carried.
    for (const reflection::Object* object : *schema->objects()) {
      for (const reflection::Field* field : *object->fields()) {
        EXPECT_TRUE(IsShowable(*field->type(), *schema)) << field->name()->str();
      }
    }
  }
  EXPECT_GE(known, 1);
}

}  // namespace
}  // namespace schemas
