#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <absl/strings/str_format.h>

#include "tests/tidy/rules.h"

namespace tidy {
namespace {

std::string Stem(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// The headers a source may implement: the one of its name, else all of its folder that it
// includes (`kill.cc` implements a part of `routes.h`).
std::vector<std::string> HeadersOf(const SourceTree& tree, const SourceFile& file) {
  const std::string same = Stem(file.path) + ".h";
  if (tree.Has(same)) {
    return {same};
  }
  std::vector<std::string> headers;
  for (const Include& include : IncludesOf(file)) {
    if (include.quoted && FolderOf(include.path) == file.Folder()) {
      headers.push_back(include.path);
    }
  }
  return headers;
}

// What tests reach: the headers they include, and what those units include of their own folder,
// step by step, since a room's private parts are tested through its door.
struct Covered {
  std::set<std::string> headers;
  std::set<std::string> names;
};

// Whether a unit of `folder` uses a header of `other` as a part of its own. The folders behind
// api/server/server.h are one room: the tests of the routes go through that door.
bool IsOnePlace(const std::string& folder, const std::string& other) {
  static const std::set<std::string> kBehindServer = {"api/control", "api/dispatch", "api/feed",
                                                      "api/resources", "api/server"};
  return folder == other || (kBehindServer.contains(folder) && kBehindServer.contains(other));
}

void AddPrivateParts(const SourceTree& tree, std::set<std::string>& headers) {
  std::multimap<std::string, const SourceFile*> units;  // A header and what implements it.
  for (const SourceFile& file : tree.files) {
    if (file.IsCpp() && !file.IsUnder("tests")) {
      for (const std::string& header : HeadersOf(tree, file)) {
        units.emplace(header, &file);
      }
    }
  }
  std::vector<std::string> open(headers.begin(), headers.end());
  while (!open.empty()) {
    const std::string header = open.back();
    open.pop_back();
    const auto [first, last] = units.equal_range(header);
    for (auto unit = first; unit != last; ++unit) {
      const std::string folder = unit->second->Folder();
      for (const Include& include : IncludesOf(*unit->second)) {
        if (IsOnePlace(folder, FolderOf(include.path)) && headers.insert(include.path).second) {
          open.push_back(include.path);
        }
      }
    }
  }
}

Covered CoveredByTests(const SourceTree& tree) {
  static constexpr std::string_view kEnding = "_test.cc";
  Covered covered;
  for (const SourceFile& file : tree.files) {
    if (!file.IsUnder("tests") || !file.IsCpp()) {
      continue;
    }
    for (const Include& include : IncludesOf(file)) {
      covered.headers.insert(include.path);
    }
    const std::string name = file.FileName();
    if (name.ends_with(kEnding)) {
      covered.names.insert(name.substr(0, name.size() - kEnding.size()));
    }
  }
  AddPrivateParts(tree, covered.headers);
  return covered;
}

// A program is tested by running it.
bool HasMain(const SourceFile& file) {
  return std::any_of(file.code.begin(), file.code.end(),
                     [](const std::string& line) { return line.starts_with("int main("); });
}

bool NeedsTest(const SourceFile& file) {
  const bool ours = file.IsUnder("engine") || file.IsUnder("schemas") ||
                    file.IsUnder("projections") || file.IsUnder("api");
  return ours && file.path.ends_with(".cc") && !HasMain(file) &&
         !file.FileName().starts_with("third_party");
}

std::string Resolve(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).lexically_normal().generic_string();
}

// Every path that a meson.build names between quotes, seen from its folder. Where one puts names
// together with `name + '.cc'`, each of its words is a name.
std::set<std::string> NamedInMeson(const SourceTree& tree) {
  std::set<std::string> named;
  for (const SourceFile& file : tree.files) {
    if (file.FileName() != "meson.build") {
      continue;
    }
    const bool adds_endings = std::any_of(
        file.lines.begin(), file.lines.end(),
        [](const std::string& line) { return line.find("+ '.cc'") != std::string::npos; });
    for (const std::string& line : file.lines) {
      for (std::size_t at = line.find('\''); at != std::string::npos;
           at = line.find('\'', at + 1)) {
        const std::size_t start = at + 1;
        at = std::min(line.find('\'', start), line.size());
        const std::string name = line.substr(start, at - start);
        named.insert(Resolve(file.Folder(), name));
        if (adds_endings) {
          named.insert(Resolve(file.Folder(), name + ".cc"));
        }
      }
    }
  }
  return named;
}

}  // namespace

Violations CheckSourcesHaveTests(const SourceTree& tree) {
  const Covered covered = CoveredByTests(tree);
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (!NeedsTest(file)) {
      continue;
    }
    const std::string name = Stem(file.FileName());
    const std::vector<std::string> headers = HeadersOf(tree, file);
    const bool reached =
        std::any_of(headers.begin(), headers.end(),
                    [&](const std::string& header) { return covered.headers.contains(header); });
    if (!reached && !covered.names.contains(name)) {
      violations.push_back(absl::StrFormat("%s:1: no test reaches %s or is named %s_test.cc",
                                           file.path, headers.empty() ? "it" : headers.front(),
                                           name));
    }
  }
  return violations;
}

Violations CheckSourcesAreBuilt(const SourceTree& tree) {
  const std::set<std::string> named = NamedInMeson(tree);
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (file.path.ends_with(".cc") && !named.contains(file.path)) {
      violations.push_back(file.path + ":1: no meson.build names it");
    }
  }
  return violations;
}

Violations CheckHeadersHavePragmaOnce(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (file.path.ends_with(".h") &&
        std::find(file.code.begin(), file.code.end(), "#pragma once") == file.code.end()) {
      violations.push_back(file.path + ":1: a header has #pragma once");
    }
  }
  return violations;
}

}  // namespace tidy
