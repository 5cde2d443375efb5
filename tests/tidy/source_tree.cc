#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <utility>

namespace tidy {
namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Walks a C++ text once, copying each character to the plane it belongs to.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  void Run(SourceFile& file) {
    while (at_ < text_.size()) {
      Step();
    }
    file.code = SplitLines(code_);
    file.comments = SplitLines(comments_);
    file.literals = std::move(literals_);
  }

 private:
  enum class Plane { kCode, kComment, kNeither };

  void Step() {
    if (At("//")) {
      const std::size_t end = text_.find('\n', at_);
      Take(Plane::kComment, (end == std::string_view::npos ? text_.size() : end) - at_);
    } else if (At("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      Take(Plane::kComment, end == std::string_view::npos ? text_.size() - at_ : end + 2 - at_);
    } else if (At("R\"") && (at_ == 0 || !IsWordCharacter(text_[at_ - 1]))) {
      RawString();
    } else if (At("\"")) {
      QuotedString();
    } else if (At("'") && !InNumber()) {
      Character();
    } else {
      if (!std::isspace(static_cast<unsigned char>(text_[at_]))) {
        joins_ = false;
      }
      Take(Plane::kCode, 1);
    }
  }

  bool At(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // Copies `count` characters to one plane and blanks to the others; newlines go to both.
  void Take(Plane plane, std::size_t count) {
    for (const char c : text_.substr(at_, count)) {
      if (c == '\n') {
        ++line_;
      }
      code_ += plane == Plane::kCode || c == '\n' ? c : ' ';
      comments_ += plane == Plane::kComment || c == '\n' ? c : ' ';
    }
    at_ += count;
  }

  void AddLiteral(std::size_t line, std::string_view text) {
    if (joins_) {
      literals_.back().text += text;
    } else {
      literals_.push_back({.line = line, .text = std::string(text)});
    }
    joins_ = true;
  }

  void RawString() {
    const std::size_t open = text_.find('(', at_);
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t close = text_.find(end, open);
    if (open == std::string_view::npos || close == std::string_view::npos) {
      Take(Plane::kNeither, text_.size() - at_);
      return;
    }
    AddLiteral(line_, text_.substr(open + 1, close - open - 1));
    Take(Plane::kCode, 2);
    Take(Plane::kNeither, close + end.size() - 1 - at_);
    Take(Plane::kCode, 1);
  }

  void QuotedString() {
    const std::size_t length = QuotedLength('"');
    AddLiteral(line_, text_.substr(at_ + 1, length - 2));
    TakeQuoted(length);
  }

  void Character() {
    joins_ = false;
    TakeQuoted(QuotedLength('\''));
  }

  void TakeQuoted(std::size_t length) {
    Take(Plane::kCode, 1);
    Take(Plane::kNeither, length - 2);
    Take(Plane::kCode, 1);
  }

  // Length with both quotes; at least 2 and within the text, so that broken code does no harm.
  std::size_t QuotedLength(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) {
      end += text_[end] == '\\' ? 2 : 1;
    }
    return std::max<std::size_t>(std::min(end + 1, text_.size()) - at_, 2);
  }

  // Whether the quote here separates digits, as in 1'000.
  bool InNumber() const {
    std::size_t start = at_;
    while (start > 0 && (IsWordCharacter(text_[start - 1]) || text_[start - 1] == '\'')) {
      --start;
    }
    return start < at_ && std::isdigit(static_cast<unsigned char>(text_[start]));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool joins_ = false;  // Whether a literal here continues the last one.
  std::string code_;
  std::string comments_;
  std::vector<Literal> literals_;
};

// What .gitignore names, and what is not text.
bool IsLeftOut(const std::filesystem::path& path, bool at_top) {
  const std::string name = path.filename().string();
  if (name == ".git" || name == "__pycache__") {
    return true;
  }
  return at_top && (name.starts_with("build") || name.starts_with("halo-data") || name == ".halo" ||
                    name == ".cache");
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

bool SourceFile::IsUnder(std::string_view folder) const {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string SourceFile::Folder() const {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string SourceFile::FileName() const {
  return path.substr(path.rfind('/') + 1);
}

SourceFile MakeFile(std::string path, std::string_view text) {
  SourceFile file;
  file.path = std::move(path);
  file.lines = SplitLines(text);
  if (file.IsCpp()) {
    Lexer(text).Run(file);
  }
  return file;
}

bool SourceTree::Has(std::string_view path) const {
  return std::any_of(files.begin(), files.end(), [path](const SourceFile& file) {
    return file.path == path || file.IsUnder(path);
  });
}

SourceTree ReadTree(const std::filesystem::path& root) {
  SourceTree tree;
  auto end = std::filesystem::recursive_directory_iterator();
  for (auto entry = std::filesystem::recursive_directory_iterator(root); entry != end; ++entry) {
    if (IsLeftOut(entry->path(), entry.depth() == 0)) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() || entry->is_symlink()) {
      continue;
    }
    const std::string text = ReadFile(entry->path());
    const std::string path = entry->path().lexically_relative(root).generic_string();
    // A file with a NUL is bytes: it is there for links, but has no lines to judge.
    const bool binary = text.find('\0') != std::string::npos;
    tree.files.push_back(MakeFile(path, binary ? std::string_view() : text));
  }
  std::sort(tree.files.begin(), tree.files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return tree;
}

std::vector<Include> IncludesOf(const SourceFile& file) {
  static constexpr std::string_view kDirective = "#include ";
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    if (!file.code[i].starts_with(kDirective)) {
      continue;
    }
    const std::string_view rest = std::string_view(file.lines[i]).substr(kDirective.size());
    if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) {
      continue;
    }
    const bool quoted = rest[0] == '"';
    const std::size_t close = rest.find(quoted ? '"' : '>', 1);
    includes.push_back(
        {.line = i + 1, .path = std::string(rest.substr(1, close - 1)), .quoted = quoted});
  }
  return includes;
}

std::size_t FindWord(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t after = at + word.size();
    const bool starts = at == 0 || !IsWordCharacter(line[at - 1]) || !IsWordCharacter(word[0]);
    const bool ends =
        after >= line.size() || !IsWordCharacter(line[after]) || !IsWordCharacter(word.back());
    if (starts && ends) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace tidy
