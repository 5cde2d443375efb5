// RelationalClient: the first seed's reads over its own tables (bench/peers/relational_tables.h).
//
// A GET is four statements one after another: the resource by kind and id, then its conditions, its
// labels and its references. A list is five: the count, the page, and the same three for all
// resources of the page. A label or a condition in a search is a scalar subquery of each row, a
// member of the spec an operator on its jsonb; the caller's tenancy is one more predicate,
// `tenancy @>`. That is how the seed asks. In its favour here: statements are prepared, where it
// sends their text each time, and documents are put together from the rows' texts, where it decodes
// and encodes.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/peers/connection.h"

namespace bench {

// Which resources a list shows: a predicate with $1, $2, ... and what stands for these.
struct RelationalList {
  std::string where;
  std::vector<std::string> parameters;
};

// One thread, as its connection; every call blocks.
class RelationalClient {
 public:
  explicit RelationalClient(const std::string& url);

  // The document; empty when there is none. `tenancy` is the caller's as JSON, or empty: all.
  std::string Get(const std::string& kind, const std::string& id, const std::string& tenancy);
  // The first page of 20, newest first, in the envelope.
  std::string List(const RelationalList& list);

 private:
  // `where` says which of column $1 is asked for.
  std::string Show(const Answer& resources, const std::string& equals, const std::string& ids,
                   std::string body);

  Connection connection_;
};

}  // namespace bench
