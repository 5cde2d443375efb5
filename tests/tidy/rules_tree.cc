#include <algorithm>
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

// The header a source implements: the one of its name, else the first of ours that it includes.
std::string HeaderOf(const SourceTree& tree, const SourceFile& file) {
  const std::string same = Stem(file.path) + ".h";
  if (tree.Has(same)) {
    return same;
  }
  for (const Include& include : IncludesOf(file)) {
    if (include.quoted) {
      return include.path;
    }
  }
  return {};
}

// What tests reach: the headers they include, and what those units include of their own folder,
// step by step, since a room's private parts are tested through its door.
struct Covered {
  std::set<std::string> headers;
  std::set<std::string> names;
};

void AddPrivateParts(const SourceTree& tree, std::set<std::string>& headers) {
  std::multimap<std::string, const SourceFile*> units;  // A header and what implements it.
  for (const SourceFile& file : tree.files) {
    if (file.IsCpp() && !file.IsUnder("tests")) {
      units.emplace(HeaderOf(tree, file), &file);
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
        const bool same_folder = include.path.substr(0, include.path.rfind('/')) == folder;
        if (same_folder && headers.insert(include.path).second) {
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

bool IsNamedInMeson(const SourceTree& tree, const SourceFile& file) {
  for (std::string folder = file.Folder();;) {
    const std::string build = folder.empty() ? "meson.build" : folder + "/meson.build";
    const std::string name =
        "'" + (folder.empty() ? file.path : file.path.substr(folder.size() + 1)) + "'";
    const auto found = std::find_if(tree.files.begin(), tree.files.end(),
                                    [&](const SourceFile& f) { return f.path == build; });
    if (found != tree.files.end() &&
        std::any_of(found->lines.begin(), found->lines.end(), [&](const std::string& line) {
          return line.find(name) != std::string::npos;
        })) {
      return true;
    }
    if (folder.empty()) {
      return false;
    }
    const std::size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
  }
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
    const std::string header = HeaderOf(tree, file);
    if (!covered.headers.contains(header) && !covered.names.contains(name)) {
      violations.push_back(absl::StrFormat("%s:1: no test reaches %s or is named %s_test.cc",
                                           file.path, header.empty() ? "its header" : header,
                                           name));
    }
  }
  return violations;
}

Violations CheckSourcesAreBuilt(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (file.path.ends_with(".cc") && !IsNamedInMeson(tree, file)) {
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
