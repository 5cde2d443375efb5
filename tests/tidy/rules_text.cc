#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>

#include <absl/strings/str_format.h>

#include "tests/tidy/rules.h"

namespace tidy {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kFileLines = 500;
constexpr std::size_t kFunctionLines = 70;

std::string Place(const SourceFile& file, std::size_t index) {
  return absl::StrFormat("%s:%d", file.path, index + 1);
}

// Whether people write and read it line by line. Data, corpora and documents have lines as long
// as they need.
bool IsProgramText(const SourceFile& file) {
  static constexpr std::array<std::string_view, 5> kEndings = {".fbs", ".sql", ".py", ".sh",
                                                               "meson.build"};
  return file.IsCpp() || file.path == "dev" || file.path == ".ci/run" ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return file.path.ends_with(ending); });
}

std::size_t CountCharacters(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Follows braces through a file's code and measures what looks like a function: a block outside
// other functions whose head has a parenthesis and names no type or namespace.
class FunctionFinder {
 public:
  FunctionFinder(const SourceFile& file, Violations& violations)
      : file_(file), violations_(violations) {}

  void Run() {
    for (index_ = 0; index_ < file_.code.size(); ++index_) {
      const std::string& line = file_.code[index_];
      if (continues_directive_ || line.starts_with('#')) {
        continues_directive_ = line.ends_with('\\');
        continue;
      }
      for (const char c : line) {
        Step(c);
      }
      if (!head_.empty()) {
        head_ += ' ';
      }
    }
  }

 private:
  void Step(char c) {
    if (c == '{') {
      Open();
    } else if (c == '}') {
      Close();
    } else if (c == ';' || (c == ':' && IsAccessLabel())) {
      head_.clear();
    } else if (!std::isspace(static_cast<unsigned char>(c)) || !head_.empty()) {
      if (head_.empty()) {
        head_index_ = index_;
      }
      head_ += c;
    }
  }

  void Open() {
    ++depth_;
    if (function_depth_ == 0 && IsFunctionHead()) {
      function_depth_ = depth_;
      start_ = head_index_;
    }
    head_.clear();
  }

  void Close() {
    if (depth_ == function_depth_) {
      const std::size_t lines = index_ - start_ + 1;
      if (lines > kFunctionLines) {
        violations_.push_back(absl::StrFormat("%s: function of %d lines; %d at most",
                                              Place(file_, start_), lines, kFunctionLines));
      }
      function_depth_ = 0;
    }
    depth_ -= depth_ > 0 ? 1 : 0;
    head_.clear();
  }

  bool IsAccessLabel() const {
    return head_ == "public" || head_ == "protected" || head_ == "private";
  }

  bool IsFunctionHead() const {
    if (head_.find('(') == std::string::npos) {
      return false;
    }
    return std::none_of(kTypes.begin(), kTypes.end(), [&](std::string_view word) {
      // `(struct stat& out)` is a parameter; only a head that starts with the word is a type.
      const std::size_t at = FindWord(head_, word);
      return at != std::string::npos && at < head_.find('(');
    });
  }

  static constexpr std::array<std::string_view, 5> kTypes = {"namespace", "class", "struct",
                                                             "union", "enum"};
  const SourceFile& file_;
  Violations& violations_;
  std::size_t index_ = 0;
  bool continues_directive_ = false;
  std::string head_;            // What was read since the last brace or semicolon.
  std::size_t head_index_ = 0;  // The line it starts on.
  std::size_t depth_ = 0;
  std::size_t function_depth_ = 0;  // Of the block that is being measured; 0 outside.
  std::size_t start_ = 0;
};

// Whether `text`, which starts at the word, reads `NOLINT...(check): reason`.
bool SaysWhy(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.find("): ", open);
  if (open == std::string_view::npos || close == std::string_view::npos || close == open + 1) {
    return false;
  }
  const std::string_view checks = text.substr(open + 1, close - open - 1);
  return checks.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789-., ") == std::string_view::npos &&
         text.size() > close + 3;
}

struct Link {
  std::size_t index = 0;
  std::string target;
};

// The targets of `[text](target)` outside code blocks.
std::vector<Link> LinksOf(const SourceFile& file) {
  std::vector<Link> links;
  bool in_block = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.starts_with("```")) {
      in_block = !in_block;
    }
    for (std::size_t at = line.find("]("); !in_block && at != std::string::npos;
         at = line.find("](", at + 2)) {
      const std::size_t close = line.find(')', at);
      if (close != std::string::npos) {
        links.push_back({.index = i, .target = line.substr(at + 2, close - at - 2)});
      }
    }
  }
  return links;
}

}  // namespace

Violations CheckNoUnfinishedWork(const SourceTree& tree) {
  // Put together here so that this file does not break its own rule.
  static const std::array<std::string, 3> kWords = {
      std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X"};
  Violations violations;
  for (const SourceFile& file : tree.files) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& word : kWords) {
        if (FindWord(file.lines[i], word) != std::string_view::npos) {
          violations.push_back(
              absl::StrFormat("%s: %s: finish it, or file it elsewhere", Place(file, i), word));
        }
      }
    }
  }
  return violations;
}

Violations CheckLineLength(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    for (std::size_t i = 0; IsProgramText(file) && i < file.lines.size(); ++i) {
      const std::size_t columns = CountCharacters(file.lines[i]);
      if (columns > kColumns) {
        violations.push_back(absl::StrFormat("%s: line of %d columns; %d at most", Place(file, i),
                                             columns, kColumns));
      }
    }
  }
  return violations;
}

Violations CheckFileLength(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (IsProgramText(file) && file.lines.size() > kFileLines) {
      violations.push_back(absl::StrFormat("%s:1: file of %d lines; %d at most", file.path,
                                           file.lines.size(), kFileLines));
    }
  }
  return violations;
}

Violations CheckFunctionLength(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (file.IsCpp()) {
      FunctionFinder(file, violations).Run();
    }
  }
  return violations;
}

Violations CheckSuppressions(const SourceTree& tree) {
  static constexpr std::string_view kWord = "NOLINT";
  Violations violations;
  for (const SourceFile& file : tree.files) {
    for (std::size_t i = 0; i < file.comments.size(); ++i) {
      const std::string_view comment = file.comments[i];
      const std::size_t at = comment.find(kWord);
      if (at == std::string_view::npos || comment.substr(at).starts_with("NOLINTEND")) {
        continue;
      }
      if (!SaysWhy(comment.substr(at))) {
        violations.push_back(Place(file, i) + ": write NOLINT(check): reason");
      }
    }
  }
  return violations;
}

Violations CheckNoForeignPlaces(const SourceTree& tree) {
  // Put together here so that this file does not break its own rule.
  static const std::array<std::string, 9> kPlaces = {
      std::string("/wo") + "rk/",          std::string("/ro") + "ot/",
      std::string("/ho") + "me/",          std::string("deb.deb") + "ian.org",
      std::string("security.deb") + "ian", std::string("archive.ubu") + "ntu.com",
      std::string("registry.np") + "mjs",  std::string("pypi") + ".org",
      std::string("proxy.gol") + "ang.org"};
  Violations violations;
  for (const SourceFile& file : tree.files) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& place : kPlaces) {
        if (file.lines[i].find(place) != std::string::npos) {
          violations.push_back(
              absl::StrFormat("%s: %s is a place of one machine", Place(file, i), place));
        }
      }
    }
  }
  return violations;
}

Violations CheckLinks(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (!file.path.ends_with(".md")) {
      continue;
    }
    for (const Link& link : LinksOf(file)) {
      const std::string target = link.target.substr(0, link.target.find('#'));
      if (target.empty() || target.find(':') != std::string::npos) {
        continue;  // A heading of the same page, or another site.
      }
      std::string path =
          (std::filesystem::path(file.Folder()) / target).lexically_normal().generic_string();
      if (path.ends_with('/')) {
        path.pop_back();
      }
      if (path != "." && !tree.Has(path)) {
        violations.push_back(absl::StrFormat("%s: dead link %s", Place(file, link.index), target));
      }
    }
  }
  return violations;
}

}  // namespace tidy
