// World: a running server that the behaviour cases ask things of, whatever it is made of.
//
// The cases are written once, against this. tests/api/cases runs them on a server in this process
// that keeps everything in memory; tests/e2e on real processes over the file backend and Postgres.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/json/parser.h"
#include "tests/support/openapi.h"

namespace cases {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;

  // Null when the body is not JSON.
  api::JsonValue Json() const;
  std::string Header(const std::string& name) const;
};

// Thread-safe: each call is a request of its own.
class World {
 public:
  virtual ~World() = default;

  // How many servers share the store.
  virtual int servers() const { return 1; }
  virtual Answer Call(int server, const std::string& method, const std::string& target,
                      const std::string& body, const Headers& headers) = 0;
};

// The token that every world's servers know, its name, and one whose name is not UTF-8.
inline constexpr std::string_view kAdminToken = "token-of-the-operator";
inline constexpr std::string_view kAdminName = "ops";
inline constexpr std::string_view kOddToken = "token-of-the-odd-operator";
inline constexpr std::string_view kOddName =
    "od\xFF"
    "x";
// The file of tokens.
std::string TokenFile();
// The configuration file: the stock kinds, and kinds that refer to each other and that are three
// levels deep. RefSource needs one `dep`, OptSource takes any number of `link`s, both to
// RefTargets. A Region owns Zones, which go with it; a Zone owns Hosts (go with it), Locks (hold
// it) and Drives (go with it once their adapter has finalized). Clusters have two conditions of
// their own: QuotaValid, from the condition QuotaSufficient that `validation` reports, and
// PolicyValid, from `policy.valid` in the data of whoever reports PolicyChecked. Regions, which
// require no adapter, have Surveyed, from `done` in the data of `survey`.
std::string ConfigFile();
// The OpenAPI document with the schemas of specs. Permissive, but for some members of WifConfigs.
std::string SpecDocument();
// The limit of request bodies in every world.
inline constexpr std::size_t kMaxBody = std::size_t{2} << 20;

struct WorldFactory {
  std::string name;
  // Fails the test and returns null when it cannot.
  std::function<std::unique_ptr<World>()> make;

  friend void PrintTo(const WorldFactory& factory, std::ostream* out) { *out << factory.name; }
};

// The base of all cases: one world for all tests of a program, so each makes names of its own.
// Whatever they ask below /api/hyperfleet must be answered as the world's OpenAPI document says.
class ApiCase : public testing::TestWithParam<WorldFactory> {
 protected:
  void SetUp() override;

  World& world() { return *world_; }
  // Each call asks the next server: what one acknowledged, the other has to know.
  Answer Call(const std::string& method, const std::string& target, const std::string& body = "",
              const Headers& headers = {}) {
    return CallServer(NextServer(), method, target, body, headers);
  }
  Answer CallServer(int server, const std::string& method, const std::string& target,
                    const std::string& body, const Headers& headers);
  Answer Get(const std::string& target) { return Call("GET", target); }
  // The same with the operator's token; `server` asks that one.
  Answer AsAdmin(const std::string& method, const std::string& target, const std::string& body = "",
                 std::optional<int> server = std::nullopt);

  // New in this program.
  std::string FreshName(const std::string& prefix);

  // Make something that has to work; the document.
  api::JsonValue MakeCluster(const std::string& name, const std::string& spec = "{}");
  api::JsonValue MakeNodePool(const std::string& cluster_id, const std::string& name);
  api::JsonValue MakeChannel(const std::string& name);
  api::JsonValue MakeVersion(const std::string& channel_id, const std::string& name);
  api::JsonValue Make(const std::string& path, const std::string& kind, const std::string& name,
                      const std::string& spec);

  // The number of the newest transaction.
  std::uint64_t Tx();

 private:
  int NextServer();

  World* world_ = nullptr;
  const support::OpenApi* contract_ = nullptr;
};

// Base path of resources.
inline const std::string kBase = "/api/hyperfleet/v1";

// A member of an object as text (numbers and booleans too); "" when it is not there.
std::string Text(const api::JsonValue& value, std::string_view member);
const api::JsonValue& Member(const api::JsonValue& value, std::string_view member);
// The condition of that type; null when there is none.
const api::JsonValue* Condition(const api::JsonValue& resource, std::string_view type);
// `name` of every item of a list.
std::vector<std::string> Names(const api::JsonValue& list);

// What the world's servers are told at construction of the case programs; see WorldFactory.
std::string PrintFactory(const testing::TestParamInfo<WorldFactory>& info);

}  // namespace cases
