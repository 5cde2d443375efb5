// Value: what an expression of CEL deals with: null, booleans, integers with and without a sign,
// doubles, texts, lists, maps with texts as keys, and optionals (something or nothing).
//
// Immutable and cheap to copy: what is large is shared. Thread-safe; never blocks.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace projections::cel {

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::map<std::string, Value, std::less<>>;

  // In the order of the variant below.
  enum class Kind { kNull, kBool, kInt, kUint, kDouble, kText, kList, kMap, kOptional };

  Value() = default;  // Null.
  explicit Value(bool value) : held_(value) {}
  explicit Value(std::int64_t value) : held_(value) {}
  explicit Value(std::uint64_t value) : held_(value) {}
  explicit Value(double value) : held_(value) {}
  explicit Value(std::string text) : held_(std::make_shared<const std::string>(std::move(text))) {}
  explicit Value(List list) : held_(std::make_shared<const List>(std::move(list))) {}
  explicit Value(Map map) : held_(std::make_shared<const Map>(std::move(map))) {}
  static Value Nothing();
  static Value Something(Value value);

  Kind kind() const { return static_cast<Kind>(held_.index()); }
  // `int`, `string`, ... as CEL calls it.
  std::string_view kind_name() const;
  bool is_number() const;

  // REQUIRES of each: it is one.
  bool boolean() const { return std::get<bool>(held_); }
  std::int64_t integer() const { return std::get<std::int64_t>(held_); }
  std::uint64_t natural() const { return std::get<std::uint64_t>(held_); }
  double real() const { return std::get<double>(held_); }
  const std::string& text() const { return *std::get<std::shared_ptr<const std::string>>(held_); }
  const List& list() const { return *std::get<std::shared_ptr<const List>>(held_); }
  const Map& map() const { return *std::get<std::shared_ptr<const Map>>(held_); }
  // Null: nothing.
  const Value* optional() const;

 private:
  // A list of one or none: a value cannot hold itself.
  struct Optional {
    List held;
  };

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
               std::shared_ptr<const std::string>, std::shared_ptr<const List>,
               std::shared_ptr<const Map>, std::shared_ptr<const Optional>>
      held_;
};

// Numbers of every kind by what they are worth, exactly. Empty: they cannot be compared (a NaN, or
// kinds that have no common order).
std::optional<std::weak_ordering> Compare(const Value& a, const Value& b);

// Values of different kinds are different, but for numbers. Adds to `looked_at` how many values
// were.
bool Equal(const Value& a, const Value& b, std::size_t& looked_at);

}  // namespace projections::cel
