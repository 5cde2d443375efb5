// RETURN_IF_ERROR and ASSIGN_OR_RETURN, which this Abseil does not have yet.

#pragma once

#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (absl::Status return_if_error = (expression); !return_if_error.ok()) { \
      return return_if_error;                                                 \
    }                                                                         \
  } while (false)

#define ENGINE_MACRO_JOIN_INNER(a, b) a##b
#define ENGINE_MACRO_JOIN(a, b) ENGINE_MACRO_JOIN_INNER(a, b)

// ASSIGN_OR_RETURN(auto value, StatusOrExpression());
#define ASSIGN_OR_RETURN(declaration, expression) \
  ENGINE_ASSIGN_OR_RETURN(ENGINE_MACRO_JOIN(status_or_, __LINE__), declaration, expression)
#define ENGINE_ASSIGN_OR_RETURN(name, declaration, expression) \
  auto name = (expression);                                    \
  if (!name.ok()) {                                            \
    return std::move(name).status();                           \
  }                                                            \
  declaration = *std::move(name)
