#include "api/identity/key_source.h"

#include <functional>
#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/key_server.h"
#include "tests/support/poll.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/token_key.h"

namespace api {
namespace {

using support::KeyServer;
using support::KeySetText;
using support::StatusIs;
using support::TokenKey;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const TokenKey kOld = TokenKey::Make("ES256", "old");
const TokenKey kNew = TokenKey::Make("ES256", "new");

bool Eventually(const std::function<bool()>& condition) {
  return support::WaitFor(condition, engine::Deadline::After(std::chrono::seconds(20)));
}

std::vector<std::string> KidsOf(const KeySource& source) {
  std::vector<std::string> kids;
  if (const auto keys = source.Keys()) {
    for (const VerificationKey& key : keys->keys()) {
      kids.push_back(key.kid());
    }
  }
  return kids;
}

KeySourceOptions From(const std::string& url) {
  KeySourceOptions options;
  options.fetch.url = url;
  options.pause = std::chrono::milliseconds(1);
  return options;
}

// Asks for newer keys until it is worth it, and waits for what came of it.
void RefreshAndWait(KeySource& source) {
  std::latch done(1);
  ASSERT_TRUE(Eventually([&] { return source.Refresh([&done] { done.count_down(); }); }));
  done.wait();
}

TEST(KeySourceTest, KeysComeFromAFile) {
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string path, directory->Write("keys", KeySetText({&kOld})));
  ASSERT_OK_AND_ASSIGN(const auto source, KeySource::Open({.file = path}));
  EXPECT_THAT(KidsOf(*source), UnorderedElementsAre("old"));
  EXPECT_FALSE(source->Refresh([] {})) << "there is nobody to ask";
  EXPECT_THAT(KeySource::Open({.file = "/nowhere"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere")));
  ASSERT_OK_AND_ASSIGN(const std::string bad, directory->Write("bad", "{}"));
  EXPECT_THAT(KeySource::Open({.file = bad}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad)));
}

TEST(KeySourceTest, RotatedKeysAreFetchedWhenSomebodyNeedsThem) {
  KeyServer server(KeySetText({&kOld}));
  ASSERT_OK_AND_ASSIGN(const auto source, KeySource::Open(From(server.url())));
  ASSERT_TRUE(Eventually([&] { return source->fetched() == 1; }));
  EXPECT_THAT(KidsOf(*source), UnorderedElementsAre("old"));
  server.Set(KeySetText({&kNew}));
  RefreshAndWait(*source);
  EXPECT_THAT(KidsOf(*source), UnorderedElementsAre("new"));
}

TEST(KeySourceTest, KeysOfTheFileStayBesideThoseOfTheUrl) {
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string path, directory->Write("keys", KeySetText({&kOld})));
  KeyServer server(KeySetText({&kNew}));
  KeySourceOptions options = From(server.url());
  options.file = path;
  ASSERT_OK_AND_ASSIGN(const auto source, KeySource::Open(options));
  ASSERT_TRUE(Eventually([&] { return source->fetched() == 1; }));
  EXPECT_THAT(KidsOf(*source), UnorderedElementsAre("old", "new"));
}

TEST(KeySourceTest, WhatCameLastStaysWhenNothingBetterComes) {
  KeyServer server(KeySetText({&kOld}));
  ASSERT_OK_AND_ASSIGN(const auto source, KeySource::Open(From(server.url())));
  ASSERT_TRUE(Eventually([&] { return source->fetched() == 1; }));
  for (const auto& [text, status] :
       std::vector<std::pair<std::string, int>>{{"<html>", 200},
                                                {"{\"keys\":[]}", 200},
                                                {KeySetText({&kNew}), 503},
                                                {std::string(std::size_t{2} << 20, ' '), 200}}) {
    server.Set(text, status);
    RefreshAndWait(*source);
    EXPECT_THAT(KidsOf(*source), UnorderedElementsAre("old")) << text.substr(0, 20);
  }
  EXPECT_GE(source->failed(), 4U);
}

TEST(KeySourceTest, UnknownKeysAreNotWorthAFetchEach) {
  KeyServer server(KeySetText({&kOld}));
  KeySourceOptions options = From(server.url());
  options.pause = std::chrono::hours(1);
  ASSERT_OK_AND_ASSIGN(const auto source, KeySource::Open(options));
  ASSERT_TRUE(Eventually([&] { return source->fetched() == 1; }));
  RefreshAndWait(*source);
  const int asked = server.asked();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(source->Refresh([] {}));
  }
  EXPECT_EQ(server.asked(), asked);
}

TEST(KeySourceTest, OneFetchServesAllThatWait) {
  KeyServer server(KeySetText({&kOld}));
  server.Hold();
  ASSERT_OK_AND_ASSIGN(const auto source, KeySource::Open(From(server.url())));
  std::latch done(10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(source->Refresh([&done] { done.count_down(); }));
  }
  EXPECT_EQ(source->Keys(), nullptr);
  server.Release();
  done.wait();
  EXPECT_EQ(server.asked(), 1);
  EXPECT_NE(source->Keys(), nullptr);
}

TEST(KeySourceTest, AFetchUnderWayDoesNotOutlastTheSource) {
  KeyServer server(KeySetText({&kOld}));
  server.Hold();
  ASSERT_OK_AND_ASSIGN(auto source, KeySource::Open(From(server.url())));
  ASSERT_TRUE(Eventually([&] { return server.asked() == 1; }));
  bool called = false;
  EXPECT_TRUE(source->Refresh([&called] { called = true; }));
  source.reset();  // Not after the ten seconds that a fetch may take.
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace api
