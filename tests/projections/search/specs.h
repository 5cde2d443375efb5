// Random specs, and searches that meet them, for tests of what is faster than reading them.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "projections/search/tree.h"
#include "tests/support/seeded_random.h"

namespace projections::search {

// Most are canonical JSON but for the order of their keys; some have a key twice or are no JSON at
// all. Keys and values are few, and stand in texts too. One thread.
class RandomSpec {
 public:
  explicit RandomSpec(support::SeededRandom& random) : random_(random) {}

  std::string Spec() {
    std::string spec = Object(3);
    if (random_.Below(4) == 0) {
      spec[random_.Below(spec.size())] = Pick<std::string>({"\"", "{", "}", "]", ",", ":", "1"})[0];
    }
    if (random_.Below(8) == 0) {
      spec.resize(random_.Below(spec.size()));
    }
    return spec;
  }

  std::vector<std::string> Path() {
    std::vector<std::string> path;
    for (std::size_t i = random_.Below(3) + 1; i > 0; --i) {
      path.push_back(Pick<std::string>({"a", "b", "my-key", "size"}));
    }
    return path;
  }

  Node Search(int depth) {
    const std::size_t shape = depth == 0 ? 0 : random_.Below(5);
    if (shape < 2) {
      return {.test = OneTest()};
    }
    if (shape == 2) {
      return {.kind = NodeKind::kNot, .children = {Search(depth - 1)}};
    }
    return {.kind = shape == 3 ? NodeKind::kOr : NodeKind::kAnd,
            .children = {Search(depth - 1), Search(depth - 1)}};
  }

  std::string Number() {
    return Pick<std::string>({"0",
                              "-0",
                              "0.0",
                              "1",
                              "1.0",
                              "1e0",
                              "100",
                              "1e2",
                              "1E+2",
                              "-1.5",
                              "-2",
                              "0.1",
                              "0.10000000000000001",
                              "16383",
                              "16384",
                              "16385",
                              "16385.5",
                              "16386",
                              "1048577",
                              "1048576",
                              "9007199254740992",
                              "9007199254740993",
                              "-9007199254740993",
                              "1e20",
                              "1e400",
                              "-1e400",
                              "1e-400",
                              "123456789012345678901234567890",
                              "1e1000001",
                              "00",
                              "1."});
  }
  // As it is written in JSON.
  std::string Text() {
    return Pick<std::string>({"", "a", "b", "a\\\"b", "\\u0001", "é", "1", "100", "true", "null",
                              "\\\"size\\\":1", "{\\\"a\\\":1}", "}", "\\\\", "[1]", "long text"});
  }

 private:
  template <typename T>
  T Pick(std::vector<T> from) {
    return from[random_.Below(from.size())];
  }

  std::string Object(int depth) {
    std::vector<std::string> keys = {"a", "a.b", "b", "my-key", "size", "size\\\"", "", "é"};
    std::string object = "{";
    for (std::size_t i = random_.Below(6); i > 0; --i) {
      const std::size_t key = random_.Below(keys.size());
      object += (object.size() > 1 ? ",\"" : "\"") + keys[key] + "\":" + AnyValue(depth);
      if (random_.Below(16) > 0) {
        keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(key));
      }
    }
    return object + "}";
  }

  std::string AnyValue(int depth) {
    switch (random_.Below(depth == 0 ? 4 : 7)) {
      case 0:
        return Pick<std::string>({"null", "true", "false"});
      case 1:
        return "\"" + Text() + "\"";
      case 2:
      case 3:
        return Number();
      case 4:
        return "[" + AnyValue(depth - 1) + "," + Object(depth - 1) + "]";
      default:
        return Object(depth - 1);
    }
  }

  Test OneTest() {
    Test test{.field = {.kind = FieldKind::kSpec, .path = Path()},
              .op = static_cast<Operator>(random_.Below(11))};
    if (test.op == Operator::kIsNull) {
      return test;
    }
    if (test.op == Operator::kLike || test.op == Operator::kILike) {
      test.values = {Pick<std::string>({"%a%", "1%", "_", "%", "TRUE"})};
      return test;
    }
    const bool is_of_numbers = random_.Below(2) == 0;
    std::size_t values = test.op == Operator::kBetween ? 2 : 1;
    values += test.op == Operator::kIn ? random_.Below(3) : 0;
    for (; values > 0; --values) {
      test.values.push_back(is_of_numbers ? Value(Number(Decimal())) : Value(Said()));
    }
    return test;
  }

  // A number that there is.
  Decimal Number(const Decimal& otherwise) { return Decimal::Parse(Number()).value_or(otherwise); }
  std::string Said() {
    return Pick<std::string>({"", "a", "b", "a\"b", "\x01", "é", "1", "100", "true", "null",
                              "\"size\":1", "[1]", "{}", "1e2", "-0", "long text"});
  }

  support::SeededRandom& random_;
};

}  // namespace projections::search
