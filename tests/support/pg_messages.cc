#include "tests/support/pg_messages.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace support {
namespace {

// Requests for encryption, after whose answer the client starts afresh.
constexpr std::uint32_t kSslRequest = 80877103;
constexpr std::uint32_t kGssRequest = 80877104;
constexpr std::size_t kLengthSize = 4;

std::uint32_t ReadU32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, kLengthSize)) {
    value = value << 8U | static_cast<unsigned char>(byte);
  }
  return value;
}

// A string that ends with NUL, taken from the front.
std::string TakeString(std::string_view& rest) {
  std::string text(rest.substr(0, rest.find('\0')));
  rest.remove_prefix(std::min(text.size() + 1, rest.size()));
  return text;
}

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool HasWordCommit(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (IsWordByte(c)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (word == "commit") {
      return true;
    } else {
      word.clear();
    }
  }
  return word == "commit";
}

}  // namespace

std::vector<PgMessage> PgMessages::Feed(std::string_view bytes) {
  buffer_.append(bytes);
  std::vector<PgMessage> messages;
  for (std::size_t length = NextLength(); length > 0 && buffer_.size() >= length;
       length = NextLength()) {
    messages.push_back(Take(length));
  }
  return messages;
}

std::size_t PgMessages::NextLength() const {
  const std::size_t type_size = started_ ? 1 : 0;
  if (buffer_.size() < type_size + kLengthSize) {
    return 0;
  }
  return type_size + ReadU32(std::string_view(buffer_).substr(type_size));
}

PgMessage PgMessages::Take(std::size_t length) {
  PgMessage message = {.bytes = buffer_.substr(0, length)};
  buffer_.erase(0, length);
  if (started_) {
    Note(message);
  } else {
    const std::uint32_t code = ReadU32(std::string_view(message.bytes).substr(kLengthSize));
    started_ = code != kSslRequest && code != kGssRequest;
  }
  return message;
}

void PgMessages::Note(PgMessage& message) {
  std::string_view rest = std::string_view(message.bytes).substr(1 + kLengthSize);
  switch (message.bytes[0]) {
    case 'Q':
      message.commits = HasWordCommit(rest);
      message.ends_request = true;
      break;
    case 'P': {
      const std::string statement = TakeString(rest);
      statements_[statement] = HasWordCommit(TakeString(rest));
      break;
    }
    case 'B': {
      const std::string portal = TakeString(rest);
      portals_[portal] = statements_[TakeString(rest)];
      break;
    }
    case 'E':
      message.commits = portals_[TakeString(rest)];
      break;
    case 'S':
      message.ends_request = true;
      break;
    default:
      break;
  }
}

}  // namespace support
