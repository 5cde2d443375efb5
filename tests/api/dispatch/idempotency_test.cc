// Idempotency keys: what is one, whose it is, and what is kept under it.

#include "api/dispatch/idempotency.h"

#include <fstream>
#include <iterator>
#include <set>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "tests/api/dispatch/hooked_engine.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using support::StatusIs;
using testing::HasSubstr;

// The key of a request with these headers.
absl::StatusOr<std::optional<engine::RetryKey>> KeyOf(const std::vector<HeaderField>& headers,
                                                      const std::string& method = "POST",
                                                      const std::string& target = "/things",
                                                      const std::string& body = "{}",
                                                      const Caller& caller = {}) {
  return RetryKeyOf(*MakeRequest(method, target, headers, body), caller);
}

const std::vector<HeaderField> kKey = {{"Idempotency-Key", "k-1"}};

TEST(RetryKeyTest, NoHeaderIsNoKey) {
  ASSERT_OK_AND_ASSIGN(const auto key, KeyOf({}));
  EXPECT_FALSE(key.has_value());
}

TEST(RetryKeyTest, VisibleAsciiIsAKeyAndNothingElseIs) {
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Idempotency-Key"));
  for (const std::string& good : {std::string("a"), std::string("\"quoted-~!\""),
                                  std::string(kMaxIdempotencyKeyBytes, 'x')}) {
    ASSERT_OK_AND_ASSIGN(const auto key, KeyOf({{"idempotency-key", good}}));
    EXPECT_TRUE(key.has_value());
  }
  for (const std::string& bad :
       {std::string(), std::string("two words"), std::string("tab\t"), std::string("\xc3\xa4"),
        std::string("\x7f"), std::string(kMaxIdempotencyKeyBytes + 1, 'x')}) {
    EXPECT_THAT(KeyOf({{"Idempotency-Key", bad}}), invalid) << bad;
  }
  EXPECT_THAT(KeyOf({{"Idempotency-Key", "a"}, {"IDEMPOTENCY-KEY", "a"}}), invalid);
}

TEST(RetryKeyTest, AKeyBelongsToItsTenant) {
  using projections::TenantScope;
  std::set<std::string> keys;
  const std::vector<Caller> callers = {
      {"ops", false, TenantScope::All(), false},
      {"ops", false, TenantScope::All(), true},
      {"ops", false, TenantScope::Of({{"org", "a"}}), false},
      {"ops", false, TenantScope::Of({{"org", "b"}}), false},
      {"ops", false, TenantScope::Of({{"org", "a"}, {"project", "b"}}), false}};
  for (const Caller& caller : callers) {
    ASSERT_OK_AND_ASSIGN(const auto key, KeyOf(kKey, "POST", "/things", "{}", caller));
    keys.insert(key->key);
  }
  EXPECT_EQ(keys.size(), callers.size());
}

TEST(RetryKeyTest, AKeyBelongsToCallerMethodAndPath) {
  const Caller ops{"ops", true};
  ASSERT_OK_AND_ASSIGN(const auto mine, KeyOf(kKey, "POST", "/things", "{}", ops));
  EXPECT_EQ(mine->key.size(), engine::kAnswerHashBytes);
  for (const Caller& other : {Caller{"op", true}, Caller{"ops", false}, Caller{}}) {
    ASSERT_OK_AND_ASSIGN(const auto theirs, KeyOf(kKey, "POST", "/things", "{}", other));
    EXPECT_NE(theirs->key, mine->key) << other.actor;
  }
  ASSERT_OK_AND_ASSIGN(const auto method, KeyOf(kKey, "PATCH", "/things", "{}", ops));
  EXPECT_NE(method->key, mine->key);
  ASSERT_OK_AND_ASSIGN(const auto path, KeyOf(kKey, "POST", "/things/1", "{}", ops));
  EXPECT_NE(path->key, mine->key);
  ASSERT_OK_AND_ASSIGN(const auto slash, KeyOf(kKey, "POST", "/things/", "{}", ops));
  EXPECT_EQ(slash->key, mine->key);
}

TEST(RetryKeyTest, ARequestIsTheSameByBodyQueryAndIfMatch) {
  ASSERT_OK_AND_ASSIGN(const auto one, KeyOf(kKey));
  ASSERT_OK_AND_ASSIGN(const auto same, KeyOf({{"X-Other", "y"}, kKey[0]}));
  EXPECT_EQ(one->request, same->request);
  ASSERT_OK_AND_ASSIGN(const auto body, KeyOf(kKey, "POST", "/things", "{ }"));
  ASSERT_OK_AND_ASSIGN(const auto query, KeyOf(kKey, "POST", "/things?force=1"));
  ASSERT_OK_AND_ASSIGN(const auto match, KeyOf({kKey[0], {"If-Match", "\"1-0\""}}));
  for (const auto& other : {body, query, match}) {
    EXPECT_EQ(other->key, one->key);
    EXPECT_NE(other->request, one->request);
  }
}

Response Example() {
  Response response = JsonResponse(201, "{}");
  response.With("ETag", "\"17-0\"");
  return response;
}

TEST(AnswerTest, ComesBackAsItWas) {
  Response empty;
  empty.status = 204;
  empty.content_type.clear();
  for (const Response& answer : {Example(), empty}) {
    ASSERT_OK_AND_ASSIGN(const Response back, DecodeAnswer(EncodeAnswer(answer)));
    EXPECT_EQ(back.status, answer.status);
    EXPECT_EQ(back.content_type, answer.content_type);
    EXPECT_EQ(back.body, answer.body);
    ASSERT_EQ(back.headers.size(), answer.headers.size());
    for (std::size_t i = 0; i < back.headers.size(); ++i) {
      EXPECT_EQ(back.headers[i].name, answer.headers[i].name);
      EXPECT_EQ(back.headers[i].value, answer.headers[i].value);
    }
  }
}

TEST(AnswerTest, BytesThatAreNoneAreDamage) {
  const std::string bytes = EncodeAnswer(Example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(DecodeAnswer(bytes.substr(0, size)), StatusIs(absl::StatusCode::kDataLoss));
  }
  EXPECT_THAT(DecodeAnswer(bytes + "x"), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(DecodeAnswer("\x02" + bytes.substr(1)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(AnswerTest, TheExampleOfTheDocumentIsTheBytesKept) {
  std::ifstream in(std::string(HALO_SOURCE_ROOT) + "/docs/formats/answer.md");
  const std::string document{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string bytes = EncodeAnswer(Example());
  std::string dump;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    dump += absl::StrFormat("%04x ", at);
    for (const char c : bytes.substr(at, 16)) {
      dump += " " + engine::ToHex(std::string_view(&c, 1));
    }
    dump += "\n";
  }
  EXPECT_THAT(document, HasSubstr("```\n" + dump + "```\n"));
}

}  // namespace
}  // namespace api
