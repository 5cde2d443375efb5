#include "engine/base/log_format.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/log_line.h"
#include "engine/base/mutex.h"

namespace engine {
namespace {

// Formats are kept for good, so that a line needs no lock to read the one that holds.
struct FormatHolder {
  Mutex mutex;
  std::vector<std::unique_ptr<const LogFormat>> formats ABSL_GUARDED_BY(mutex);
  const LogFormat stock = {};
  std::atomic<const LogFormat*> current = &stock;
};

FormatHolder& Holder() {
  static FormatHolder holder;
  return holder;
}

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warn";
    case Severity::kError:
      return "error";
  }
  return "error";
}

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

char Upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

template <class Number>
void AppendNumber(Number value, std::string& line) {
  char digits[32];
  line.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

struct AppendJson {
  std::string& line;

  void operator()(const std::string& text) const { AppendJsonString(text, line); }
  void operator()(bool value) const { line += value ? "true" : "false"; }
  template <class Number>
  void operator()(Number value) const {
    AppendNumber(value, line);
  }
};

// A text that could be taken for more than one value, or end the line, stands in quotes.
struct AppendText {
  std::string& line;

  void operator()(const std::string& text) const {
    const auto is_plain = [](char c) { return c > ' ' && c != '"' && c != '=' && c != '\x7F'; };
    if (!text.empty() && std::ranges::all_of(text, is_plain)) {
      line += text;
    } else {
      AppendJsonString(text, line);
    }
  }
  void operator()(bool value) const { line += value ? "true" : "false"; }
  template <class Number>
  void operator()(Number value) const {
    AppendNumber(value, line);
  }
};

void AppendMember(std::string_view key, std::string_view text, std::string& line) {
  if (!text.empty()) {
    line.push_back(',');
    AppendJsonString(key, line);
    line.push_back(':');
    AppendJsonString(text, line);
  }
}

bool IsMasked(const LogFormat& format, const LogField& field) {
  return !format.masked_fields.empty() && std::holds_alternative<std::string>(field.value) &&
         ContainsWord(field.key, format.masked_fields);
}

std::string JsonLine(const LogFormat& format, Severity severity, std::string_view message,
                     std::span<const LogField> fields) {
  std::string line = "{\"timestamp\":\"" + FormatTimestamp(SystemClock().Now()) + "\",\"level\":\"";
  line += Name(severity);
  line += "\",\"message\":";
  AppendJsonString(message, line);
  AppendMember("component", format.component, line);
  AppendMember("version", format.version, line);
  AppendMember("hostname", format.hostname, line);
  for (const LogField& field : fields) {
    line.push_back(',');
    AppendJsonString(field.key, line);
    line.push_back(':');
    if (IsMasked(format, field)) {
      AppendJsonString(kRedacted, line);
    } else {
      std::visit(AppendJson{line}, field.value);
    }
  }
  line.push_back('}');
  return line;
}

std::string TextLine(const LogFormat& format, Severity severity, std::string_view message,
                     std::span<const LogField> fields) {
  std::string line = FormatTimestamp(SystemClock().Now()) + " ";
  std::ranges::transform(Name(severity), std::back_inserter(line), Upper);
  for (const std::string* part : {&format.component, &format.version, &format.hostname}) {
    line += " [" + *part + "]";
  }
  line += " ";
  // Of a message too a line end would make two lines.
  const bool is_one_line = message.find_first_of("\r\n") == std::string_view::npos;
  is_one_line ? void(line += message) : AppendJsonString(message, line);
  for (const LogField& field : fields) {
    line.push_back(' ');
    line += field.key;
    line.push_back('=');
    if (IsMasked(format, field)) {
      line += kRedacted;
    } else {
      std::visit(AppendText{line}, field.value);
    }
  }
  return line;
}

}  // namespace

void SetLogFormat(LogFormat format) {
  MutexLock lock(Holder().mutex);
  Holder().formats.push_back(std::make_unique<const LogFormat>(std::move(format)));
  Holder().current.store(Holder().formats.back().get());
}

bool ContainsWord(std::string_view name, std::span<const std::string> words) {
  return std::ranges::any_of(words, [name](const std::string& word) {
    return !std::ranges::search(name, word, {}, Lower).empty();
  });
}

std::string FormatLogLine(Severity severity, std::string_view message,
                          std::span<const LogField> fields) {
  const LogFormat& format = *Holder().current.load();
  return (format.is_text ? TextLine : JsonLine)(format, severity, message, fields);
}

}  // namespace engine
