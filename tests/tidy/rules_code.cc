#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <absl/strings/str_format.h>

#include "tests/tidy/rules.h"

namespace tidy {
namespace {

constexpr std::array<std::string_view, 3> kBackends = {"engine/memory", "engine/file",
                                                       "engine/postgres"};

bool Starts(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// The part of the tree that a path belongs to, in the terms of the arrows.
std::string_view RoomOf(std::string_view path) {
  for (const std::string_view backend : kBackends) {
    if (Starts(path, backend)) {
      return backend;
    }
  }
  for (const std::string_view room :
       {"engine/base", "engine", "migrations", "schemas", "projections", "api", "tests", "bench"}) {
    if (Starts(path, room)) {
      return room;
    }
  }
  return {};
}

// The rooms that a room may include beside itself.
const std::vector<std::string_view>* RoomsBelow(std::string_view room) {
  static const std::map<std::string_view, std::vector<std::string_view>> kBelow = {
      {"engine/base", {}},
      {"engine", {"engine/base"}},
      {"engine/memory", {"engine", "engine/base"}},
      {"engine/file", {"engine", "engine/base", "engine/memory"}},
      {"engine/postgres", {"engine", "engine/base", "migrations"}},
      {"migrations", {"engine/base"}},
      {"schemas", {"engine", "engine/base"}},
      {"projections", {"schemas", "engine", "engine/base"}},
      {"api", {"projections", "schemas", "engine", "engine/base", "migrations"}},
  };
  const auto found = kBelow.find(room);
  return found == kBelow.end() ? nullptr : &found->second;
}

// Main files put a server together and so may name the backends.
bool IsMainFile(const SourceFile& file) {
  return file.IsUnder("api/main") || file.IsUnder("api/cli") || file.IsUnder("api/server") ||
         (file.IsUnder("api") && file.FileName().starts_with("main"));
}

bool IsBackend(std::string_view room) {
  return std::find(kBackends.begin(), kBackends.end(), room) != kBackends.end();
}

std::optional<std::string> WrongArrow(const SourceFile& file, const Include& include) {
  const std::string_view from = RoomOf(file.path);
  const std::vector<std::string_view>* below = RoomsBelow(from);
  if (!include.quoted || below == nullptr || include.path.ends_with("_generated.h")) {
    return std::nullopt;
  }
  const std::string_view to = RoomOf(include.path);
  if (to.empty()) {
    return absl::StrFormat("include \"%s\" from the root of the tree", include.path);
  }
  if (to == from || std::find(below->begin(), below->end(), to) != below->end()) {
    return std::nullopt;
  }
  if (IsBackend(to) && IsMainFile(file)) {
    return std::nullopt;
  }
  return absl::StrFormat("%s may not include %s", std::string(from), include.path);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower;
}

bool IsSql(std::string_view literal) {
  // The words a statement starts with, and one that must follow for it to be no prose.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kStatements = {{
      {"select ", " from "},
      {"select pg_", "("},
      {"insert into ", "("},
      {"update ", " set "},
      {"delete from ", ""},
      {"create table ", ""},
      {"create index ", ""},
      {"create unique index ", ""},
      {"alter table ", ""},
      {"drop table ", ""},
      {"set local ", ""},
      {"begin isolation ", ""},
      {"with ", " as ("},
      {"copy ", " to stdout"},
  }};
  std::string text = Lower(literal);
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  return std::any_of(kStatements.begin(), kStatements.end(), [&](const auto& statement) {
    return text.starts_with(statement.first) && text.find(statement.second) != std::string::npos;
  });
}

bool MayTalkToServers(const SourceFile& file) {
  return file.IsUnder("engine/postgres") || file.IsUnder("tests") || file.IsUnder("bench");
}

struct Ban {
  std::string_view word;  // What no line of code may have.
  std::string_view instead;
};

// Everywhere outside engine/base, tests included.
constexpr Ban kBansEverywhere[] = {
    {"std::mutex", "engine::Mutex"},
    {"std::shared_mutex", "engine::Mutex"},
    {"std::recursive_mutex", "engine::Mutex"},
    {"std::lock_guard", "engine::MutexLock"},
    {"std::unique_lock", "engine::MutexLock"},
    {"std::scoped_lock", "engine::MutexLock"},
    {"std::condition_variable", "engine::CondVar"},
    {"absl::Mutex", "engine::Mutex"},
    {"std::thread", "engine::Thread"},
    {"std::jthread", "engine::Thread"},
    {"rand()", "engine::Random"},
    {"srand", "engine::Random"},
    {"using namespace", "the name in full"},
};

// In what a simulation must be able to run: everything that serves.
constexpr Ban kBansInProduct[] = {
    {"std::this_thread::sleep_for", "engine::CondVar::WaitUntil"},
    {"std::this_thread::sleep_until", "engine::CondVar::WaitUntil"},
    {"usleep", "engine::CondVar::WaitUntil"},
    {"nanosleep", "engine::CondVar::WaitUntil"},
    {"system_clock::now", "engine::Clock::Now"},
    {"steady_clock::now", "engine::Clock::SinceBoot"},
    {"high_resolution_clock", "engine::Clock::SinceBoot"},
    {"clock_gettime", "engine::Clock"},
    {"gettimeofday", "engine::Clock"},
    {"absl::Now", "engine::Clock::Now"},
    {"std::time", "engine::Clock::Now"},
    {"std::mt19937", "engine::Random"},
    {"std::mt19937_64", "engine::Random"},
    {"RAND_bytes", "engine::Random"},
    {"std::async", "engine::Thread"},
    {"std::random_device", "engine::Random"},
    {"std::stoi", "std::from_chars"},
    {"std::stol", "std::from_chars"},
    {"std::stoul", "std::from_chars"},
    {"std::stoull", "std::from_chars"},
    {"std::stod", "std::from_chars"},
    {"atoi", "std::from_chars"},
    {"std::regex", "RE2, or a parser: std::regex recurses on its input"},
    {"assert", "ENGINE_CHECK"},
    {"std::getenv", "the configuration, which main files read"},
};

// In libraries: standard output and error belong to main files and the log.
constexpr Ban kBansInLibraries[] = {
    {"std::cout", "a result, or engine::Log"},   {"std::cerr", "engine::Log"},
    {"std::printf", "a result, or engine::Log"}, {"std::fprintf", "engine::Log"},
    {"std::puts", "a result, or engine::Log"},   {"std::exit", "absl::Status"},
};

template <std::size_t size>
void CheckBans(const SourceFile& file, const Ban (&bans)[size], Violations& violations) {
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    for (const Ban& ban : bans) {
      if (FindWord(file.code[i], ban.word) != std::string_view::npos) {
        violations.push_back(absl::StrFormat("%s:%d: %s is banned: use %s", file.path, i + 1,
                                             std::string(ban.word), std::string(ban.instead)));
      }
    }
  }
}

bool IsProduct(const SourceFile& file) {
  return file.IsUnder("engine") || file.IsUnder("schemas") || file.IsUnder("projections") ||
         file.IsUnder("api") || file.IsUnder("migrations");
}

}  // namespace

Violations CheckIncludeArrows(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    for (const Include& include : IncludesOf(file)) {
      if (const auto wrong = WrongArrow(file, include)) {
        violations.push_back(absl::StrFormat("%s:%d: %s", file.path, include.line, *wrong));
      }
    }
  }
  return violations;
}

Violations CheckSqlStaysInPostgres(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (MayTalkToServers(file)) {
      continue;
    }
    for (const Include& include : IncludesOf(file)) {
      if (include.path.starts_with("pqxx") || include.path.find("libpq") != std::string::npos) {
        violations.push_back(absl::StrFormat("%s:%d: %s belongs to engine/postgres", file.path,
                                             include.line, include.path));
      }
    }
    for (const Literal& literal : file.literals) {
      if (IsSql(literal.text)) {
        violations.push_back(
            absl::StrFormat("%s:%d: SQL belongs to engine/postgres", file.path, literal.line));
      }
    }
  }
  return violations;
}

Violations CheckHttpLibraryStaysInTransport(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    // The library is header-only; the third-party source compiles its one copy.
    if (file.path.starts_with("api/http/transport") || file.path.starts_with("api/third_party") ||
        file.IsUnder("tests") || file.IsUnder("bench")) {
      continue;
    }
    for (const Include& include : IncludesOf(file)) {
      if (include.path.starts_with("boost/asio") || include.path.starts_with("boost/beast")) {
        violations.push_back(absl::StrFormat("%s:%d: %s belongs to the transport, api/http",
                                             file.path, include.line, include.path));
      }
    }
  }
  return violations;
}

Violations CheckBannedCalls(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (!file.IsCpp() || file.IsUnder("engine/base")) {
      continue;
    }
    CheckBans(file, kBansEverywhere, violations);
    if (IsProduct(file)) {
      for (const Include& include : IncludesOf(file)) {
        if (include.path.starts_with("absl/strings/") &&
            include.path != "absl/strings/str_format.h") {
          violations.push_back(
              absl::StrFormat("%s:%d: %s is banned: absl::string_view is a type of its own here",
                              file.path, include.line, include.path));
        }
      }
    }
    if (IsProduct(file) && !IsMainFile(file)) {
      CheckBans(file, kBansInProduct, violations);
      CheckBans(file, kBansInLibraries, violations);
    }
  }
  return violations;
}

Violations CheckLoopsOutliveTheirRange(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    for (std::size_t i = 0; file.IsCpp() && i < file.code.size(); ++i) {
      const std::string_view line = file.code[i];
      const std::size_t loop = line.find("for (");
      const std::size_t range = line.find(" : ", std::min(loop, line.size()));
      const std::string_view whole = line.substr(std::min(range, line.size()));
      if (whole.find("view()->") != whole.npos || whole.find("Last()->") != whole.npos) {
        violations.push_back(absl::StrFormat(
            "%s:%d: what the call gave is gone before the loop begins: name it first", file.path,
            i + 1));
      }
    }
  }
  return violations;
}

Violations CheckGuardIds(const SourceTree& tree) {
  static constexpr std::string_view kGuard = "GUARD(";
  static constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  Violations violations;
  std::map<std::string, std::string> places;
  for (const SourceFile& file : tree.files) {
    if (!IsProduct(file) || file.path == "engine/base/guard.h") {
      continue;
    }
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      const std::size_t at = FindWord(file.code[i], kGuard);
      if (at == std::string_view::npos) {
        continue;
      }
      const std::string place = absl::StrFormat("%s:%d", file.path, i + 1);
      std::string_view id = file.lines[i];
      id.remove_prefix(at + kGuard.size());
      id = id.starts_with('"') ? id.substr(1, id.find('"', 1) - 1) : std::string_view();
      if (id.find('.') == std::string_view::npos ||
          id.find_first_not_of(kCharacters) != std::string_view::npos) {
        violations.push_back(place + ": a guard's id reads \"room.what\" and follows on its line");
        continue;
      }
      const auto [first, inserted] = places.emplace(id, place);
      if (!inserted) {
        violations.push_back(absl::StrFormat("%s: guard %s is already at %s", place,
                                             std::string(id), first->second));
      }
    }
  }
  return violations;
}

}  // namespace tidy
