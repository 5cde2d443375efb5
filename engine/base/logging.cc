#include "engine/base/logging.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/base/log_format.h"
#include "engine/base/log_line.h"
#include "engine/base/mutex.h"

namespace engine {
namespace {

using Sink = std::function<void(Severity, std::string_view)>;

std::atomic<Severity> lowest_severity{Severity::kInfo};

struct SinkHolder {
  Mutex mutex;
  std::shared_ptr<const Sink> sink ABSL_GUARDED_BY(mutex);
};

SinkHolder& Holder() {
  static SinkHolder holder;
  return holder;
}

// Printable ASCII that JSON shows as it is.
bool IsPlain(char c) {
  return c >= ' ' && c < '\x7F' && c != '"' && c != '\\';
}

// How many characters at the front are plain. Eight at a time: answers are mostly such text, and
// looking at each character alone would be a good part of making them.
std::size_t PlainLength(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  // The high bits of bytes that are zero; what is behind the first such byte may have more.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighs; };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t controls = (word - kOnes * 0x20) & ~word & kHighs;
    if ((controls | (word & kHighs) | zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) |
         zeros(word ^ (kOnes * 0x7F))) != 0) {
      break;
    }
  }
  while (at < text.size() && IsPlain(text[at])) {
    ++at;
  }
  return at;
}

void WriteToStandardError(std::string_view line) {
  std::string whole(line);
  whole.push_back('\n');
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t written = write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) {
      return;  // Nowhere left to say so.
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out.push_back('"');
  while (!text.empty()) {
    // Most text is a run of plain characters, which is taken at once.
    const std::size_t run = PlainLength(text);
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) {
      break;
    }
    const std::size_t length = Utf8SequenceLength(text);
    const char c = text.front();
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out.push_back(kHex[(c >> 4) & 0xF]);
      out.push_back(kHex[c & 0xF]);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out.push_back('"');
}

bool IsLogged(Severity severity) {
  return severity >= lowest_severity.load(std::memory_order_relaxed);
}

void LogFields(Severity severity, std::string_view message, std::span<const LogField> fields) {
  if (!IsLogged(severity)) {
    return;
  }
  const std::string line = FormatLogLine(severity, message, fields);
  std::shared_ptr<const Sink> sink;
  {
    MutexLock lock(Holder().mutex);
    sink = Holder().sink;
  }
  if (sink != nullptr) {
    (*sink)(severity, line);
  } else {
    WriteToStandardError(line);
  }
}

void Log(Severity severity, std::string_view message, std::initializer_list<LogField> fields) {
  LogFields(severity, message, std::span(fields.begin(), fields.size()));
}

void SetLogLevel(Severity severity) {
  lowest_severity.store(severity);
}

void SetLogSink(std::function<void(Severity, std::string_view)> sink) {
  auto shared = sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
  MutexLock lock(Holder().mutex);
  Holder().sink = std::move(shared);
}

}  // namespace engine
