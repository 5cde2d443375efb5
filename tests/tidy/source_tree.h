// SourceTree: the files of the repository as the rules of tests/tidy look at them.
//
// A C++ file is split once into what the compiler reads, what it says to the machine (literals)
// and what it says to people (comments), so that a rule about calls does not trip over a word in
// a comment. The lexer knows comments, raw strings and digit separators, and nothing else of C++.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tidy {

// A string literal; literals that follow each other are one. `line` counts from 1.
struct Literal {
  std::size_t line = 0;
  std::string text;
};

struct SourceFile {
  std::string path;  // From the root, with slashes.
  std::vector<std::string> lines;

  // For C++ only. `code` and `comments` have the shape of `lines`, with all else blanked;
  // the quotes of literals stay in `code`, their contents do not.
  std::vector<std::string> code;
  std::vector<std::string> comments;
  std::vector<Literal> literals;

  bool IsCpp() const { return path.ends_with(".cc") || path.ends_with(".h"); }
  bool IsUnder(std::string_view folder) const;
  std::string Folder() const;    // `a/b` of `a/b/c.cc`; empty at the root.
  std::string FileName() const;  // `c.cc`
};

// Splits `text` as above.
SourceFile MakeFile(std::string path, std::string_view text);

struct SourceTree {
  std::vector<SourceFile> files;  // Sorted by path.

  // Whether a file or a folder of that path is there.
  bool Has(std::string_view path) const;
};

// Every text file under `root` but for what .gitignore names at the top: build folders and data.
SourceTree ReadTree(const std::filesystem::path& root);

// An `#include`, without its quotes or angle brackets.
struct Include {
  std::size_t line = 0;
  std::string path;
  bool quoted = false;
};
std::vector<Include> IncludesOf(const SourceFile& file);

// The first place of `word` in `line` where no identifier character touches it; npos when none.
std::size_t FindWord(std::string_view line, std::string_view word);

}  // namespace tidy
