#include "projections/cel/names.h"

#include <array>
#include <span>

namespace projections::cel {
namespace {

struct Named {
  std::string_view name;
  Function function = Function::kNone;
  std::size_t arguments = 0;
};

constexpr auto kFunctions = std::to_array<Named>({{"size", Function::kSize, 1},
                                                  {"int", Function::kToInt, 1},
                                                  {"uint", Function::kToUint, 1},
                                                  {"double", Function::kToDouble, 1},
                                                  {"string", Function::kToText, 1},
                                                  {"bool", Function::kToBool, 1},
                                                  {"dyn", Function::kDynamic, 1},
                                                  {"matches", Function::kMatches, 2},
                                                  {"toJson", Function::kToJson, 1},
                                                  {"dig", Function::kDig, 2}});
constexpr auto kMethods = std::to_array<Named>({{"size", Function::kSize, 1},
                                                {"startsWith", Function::kStartsWith, 2},
                                                {"endsWith", Function::kEndsWith, 2},
                                                {"contains", Function::kContains, 2},
                                                {"matches", Function::kMatches, 2},
                                                {"hasValue", Function::kHasValue, 1},
                                                {"value", Function::kValue, 1},
                                                {"or", Function::kOr, 2},
                                                {"orValue", Function::kOrValue, 2}});
constexpr auto kOptionals =
    std::to_array<Named>({{"none", Function::kOptionalNone, 0},
                          {"of", Function::kOptionalOf, 1},
                          {"ofNonZeroValue", Function::kOptionalOfNonZero, 1}});

struct NamedFold {
  std::string_view name;
  Fold fold = Fold::kAll;
};
constexpr auto kFolds = std::to_array<NamedFold>({{"all", Fold::kAll},
                                                  {"exists", Fold::kExists},
                                                  {"exists_one", Fold::kExistsOne},
                                                  {"filter", Fold::kFilter},
                                                  {"map", Fold::kMap}});

std::optional<Function> Find(std::span<const Named> functions, std::string_view name,
                             std::size_t& arguments) {
  for (const Named& named : functions) {
    if (named.name == name) {
      arguments = named.arguments;
      return named.function;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Function> FindFunction(std::string_view name, std::size_t& arguments) {
  return Find(kFunctions, name, arguments);
}

std::optional<Function> FindMethod(std::string_view name, std::size_t& arguments) {
  return Find(kMethods, name, arguments);
}

std::optional<Function> FindOptionalFunction(std::string_view name, std::size_t& arguments) {
  return Find(kOptionals, name, arguments);
}

std::optional<Fold> FindFold(std::string_view name) {
  for (const NamedFold& named : kFolds) {
    if (named.name == name) {
      return named.fold;
    }
  }
  return std::nullopt;
}

}  // namespace projections::cel
