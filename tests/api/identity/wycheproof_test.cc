// The vectors of the Wycheproof project (C2SP/wycheproof), where they are beside the repository:
// what they call valid and is in our list is accepted, everything else is refused.

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "api/identity/token.h"
#include "api/json/canonical.h"
#include "api/json/parser.h"

namespace api {
namespace {

// Beside the repository, or beside the folder of its work trees.
constexpr const char* kFolders[] = {HALO_SOURCE_ROOT "/../shared/data/wycheproof/testvectors_v1/",
                                    HALO_SOURCE_ROOT
                                    "/../../shared/data/wycheproof/testvectors_v1/"};

// Null when the file is not there.
JsonValue ReadVectors(const std::string& name) {
  std::ifstream file;
  for (const char* folder : kFolders) {
    if (!file.is_open()) {
      file.open(folder + name, std::ios::binary);
    }
  }
  if (!file.is_open()) {
    return {};
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  JsonParse parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error.message;
  return parsed.ok() ? *std::move(parsed.value) : JsonValue();
}

// The public keys of a group as a key set; of a symmetric group the secret, which is no key for us.
std::string KeysOf(const JsonObject& group) {
  const JsonValue* keys = group.if_contains("public");
  keys = keys == nullptr ? group.if_contains("private") : keys;
  const std::string text = CanonicalJson(*keys);
  return keys->get_object().contains("keys") ? text : "{\"keys\":[" + text + "]}";
}

bool IsAccepted(const std::string& keys, const std::string& jws) {
  const auto set = KeySet::Parse(keys);
  const auto token = Token::Parse(jws);
  return set.ok() && token.ok() && token->CheckSignature(*set) == SignatureVerdict::kGood;
}

// Whether the header names an algorithm of our list.
bool IsInOurList(const std::string& jws) {
  return Token::Parse(jws).ok();
}

struct Counts {
  int accepted = 0;
  int refused = 0;
};

void RunFile(const std::string& name, Counts& counts) {
  const JsonValue vectors = ReadVectors(name);
  if (vectors.is_null()) {
    GTEST_SKIP() << "no " << kFolders[0] << name;
  }
  for (const JsonValue& group : vectors.at("testGroups").get_array()) {
    for (const JsonValue& test : group.at("tests").get_array()) {
      const JsonValue* jws = test.get_object().if_contains("jws");
      if (jws == nullptr || !jws->is_string()) {
        continue;  // Encryption, or the JSON form.
      }
      const std::string text(jws->get_string());
      const bool accepted = IsAccepted(KeysOf(group.get_object()), text);
      const bool valid = test.at("result") == "valid" && IsInOurList(text);
      ++(accepted ? counts.accepted : counts.refused);
      EXPECT_EQ(accepted, valid) << name << " " << test.at("tcId").to_number<int>() << " "
                                 << std::string(test.at("comment").get_string());
    }
  }
}

TEST(WycheproofTest, Signatures) {
  Counts counts;
  RunFile("json_web_signature_test.json", counts);
  if (!IsSkipped()) {
    EXPECT_GT(counts.accepted, 20);
    EXPECT_GT(counts.refused, 200);
  }
}

TEST(WycheproofTest, Keys) {
  Counts counts;
  RunFile("json_web_key_test.json", counts);
}

TEST(WycheproofTest, Crypto) {
  Counts counts;
  RunFile("json_web_crypto_test.json", counts);
}

}  // namespace
}  // namespace api
