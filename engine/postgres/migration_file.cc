#include "engine/postgres/migration_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "migrations/embedded_migrations.h"

namespace engine::postgres {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Takes the words of SQL, in lower case, that are neither in comments nor quoted. A statement's
// end is a word too: ";".
class WordReader {
 public:
  explicit WordReader(std::string_view text) : rest_(text) {}

  // Empty at the end.
  std::string Next() {
    while (!rest_.empty()) {
      if (rest_.front() == ';') {
        rest_.remove_prefix(1);
        return ";";
      }
      if (IsWordCharacter(rest_.front())) {
        return TakeWord();
      }
      if (!SkipQuoted()) {
        rest_.remove_prefix(1);
      }
    }
    return "";
  }

 private:
  std::string TakeWord() {
    const auto end = std::ranges::find_if_not(rest_, IsWordCharacter);
    std::string word(rest_.begin(), end);
    rest_.remove_prefix(word.size());
    std::ranges::transform(word, word.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    });
    return word;
  }

  bool SkipQuoted() {
    if (rest_.starts_with("--")) {
      return SkipPast("\n", 2);
    }
    if (rest_.starts_with("/*")) {
      return SkipPast("*/", 2);
    }
    if (rest_.front() == '\'' || rest_.front() == '"') {
      return SkipPast(rest_.substr(0, 1), 1);
    }
    if (rest_.front() == '$') {
      const auto end = std::find_if_not(rest_.begin() + 1, rest_.end(), IsWordCharacter);
      if (end != rest_.end() && *end == '$') {
        const std::string_view tag(rest_.data(), static_cast<std::size_t>(end - rest_.begin()) + 1);
        return SkipPast(tag, tag.size());
      }
    }
    return false;
  }

  bool SkipPast(std::string_view closing, std::size_t opening_size) {
    const std::size_t at = rest_.find(closing, opening_size);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + closing.size());
    return true;
  }

  std::string_view rest_;
};

absl::Status Refuse(std::string_view name, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrFormat("migration %s: %s", name, why));
}

// Words that no migration may contain, wherever they stand.
constexpr std::string_view kForbiddenWords[] = {"drop", "rename", "truncate", "concurrently",
                                                "vacuum"};
// Statements that end or split the transaction.
constexpr std::string_view kForbiddenStarts[] = {"begin",    "start", "commit",    "end",
                                                 "rollback", "abort", "savepoint", "release"};

absl::Status CheckStatements(const MigrationSource& source) {
  WordReader words(source.text);
  std::string first;
  std::string second;
  for (std::string word = words.Next(); !word.empty(); word = words.Next()) {
    if (word == ";") {
      first.clear();
      second.clear();
      continue;
    }
    if (std::ranges::count(kForbiddenWords, word) != 0) {
      return Refuse(source.name, absl::StrFormat("it contains `%s`", word));
    }
    if (first.empty()) {
      if (std::ranges::count(kForbiddenStarts, word) != 0) {
        return Refuse(source.name, absl::StrFormat("a statement starts with `%s`", word));
      }
      first = word;
    } else if (second.empty()) {
      second = word;
    }
    if (first == "alter" && second == "table" && word == "type") {
      return Refuse(source.name, "it changes a type");
    }
  }
  return absl::OkStatus();
}

std::optional<int> LeadingNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end != text.data() ? std::optional<int>(number) : std::nullopt;
}

absl::StatusOr<int> MinBinarySchema(const MigrationSource& source, int version) {
  constexpr std::string_view kHeader = "-- min-binary-schema: ";
  std::string_view rest = source.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.starts_with(kHeader)) {
      continue;
    }
    const std::optional<int> number = LeadingNumber(line.substr(kHeader.size()));
    if (!number.has_value() || *number < 1 || *number > version) {
      return Refuse(source.name, "min-binary-schema is not between 1 and its own number");
    }
    return *number;
  }
  return Refuse(source.name, "the line `-- min-binary-schema: N` is missing");
}

absl::StatusOr<Migration> ParseMigration(const MigrationSource& source, int version) {
  const std::string start = absl::StrFormat("%04d_", version);
  const std::string_view name = source.name;
  if (name.size() <= start.size() + 4 || !name.ends_with(".sql") || name.find('/') != name.npos) {
    return Refuse(name, "the name is not NNNN_what.sql");
  }
  if (!name.starts_with(start)) {
    return Refuse(name, absl::StrFormat("the next number is %04d", version));
  }
  ASSIGN_OR_RETURN(const int min_binary_schema, MinBinarySchema(source, version));
  RETURN_IF_ERROR(CheckStatements(source));
  return Migration{version, std::string(name), min_binary_schema, std::string(source.text)};
}

}  // namespace

absl::StatusOr<std::vector<Migration>> ParseMigrations(std::span<const MigrationSource> sources) {
  std::vector<Migration> migrations;
  for (const MigrationSource& source : sources) {
    ASSIGN_OR_RETURN(Migration migration,
                     ParseMigration(source, static_cast<int>(migrations.size()) + 1));
    migrations.push_back(std::move(migration));
  }
  return migrations;
}

const std::vector<Migration>& EmbeddedMigrations() {
  static const std::vector<Migration> migrations = [] {
    absl::StatusOr<std::vector<Migration>> parsed = ParseMigrations(kEmbeddedMigrations);
    ENGINE_CHECK(parsed.ok());
    return *std::move(parsed);
  }();
  return migrations;
}

}  // namespace engine::postgres
