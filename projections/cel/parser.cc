#include "projections/cel/parser.h"

#include <utility>

#include "engine/base/status_macros.h"
#include "projections/cel/grammar.h"
#include "projections/cel/lexer.h"

namespace projections::cel {

absl::StatusOr<Expression> Parse(std::string_view source,
                                 const std::vector<std::string>& variables) {
  if (source.size() > kMaxSourceBytes) {
    return ErrorAt(kMaxSourceBytes, "the expression is too long");
  }
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokens(source));
  return Grammar(std::move(tokens), variables).Run();
}

}  // namespace projections::cel
