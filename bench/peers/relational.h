// RelationalClient: the first seed's reads and writes over its own tables
// (bench/peers/relational_tables.h).
//
// A GET is four statements one after another: the resource by kind and id, then its conditions, its
// labels and its references. A list is five: the count, the page, and the same three for all
// resources of the page. A label or a condition in a search is a scalar subquery of each row, a
// member of the spec an operator on its jsonb; the caller's tenancy is one more predicate,
// `tenancy @>`. That is how the seed asks.
//
// A write is a transaction that locks the resource's row first, as it reads it, and reads what
// belongs to it as a GET does; then a PATCH updates the row, a report adds or replaces that of its
// adapter; then all reports give the resource's conditions, which are replaced where they change.
//
// In its favour here: statements are prepared, where it sends their text each time, documents are
// put together from the rows' texts, where it decodes and encodes, an update writes only the
// columns that change, and reports are not decoded again: each says that its adapter is available.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/peers/connection.h"
#include "projections/statuses/aggregate.h"

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

  // Replaces the spec. Returns the generation that the resource has then; 0 when there is none.
  std::int32_t Patch(const std::string& kind, const std::string& id, const std::string& tenancy,
                     const std::string& spec);
  // Stores what an adapter of the kind says of the generation: that it is available. False: there
  // is no such resource. REQUIRES: it has not said so before.
  bool Report(const std::string& kind, const std::string& id, const std::string& adapter,
              std::int32_t generation);

 private:
  // relational_writes.cc
  struct Locked;
  Locked Lock(const std::string& kind, const std::string& id, const std::string& tenancy);
  Answer Reports(const Locked& locked);
  void SaveReport(const Locked& locked, const projections::AdapterView& report, bool is_first);
  void SaveConditions(const Locked& locked, std::vector<projections::AdapterView> reports);

  // `where` says which of column $1 is asked for.
  std::string Show(const Answer& resources, const std::string& equals, const std::string& ids,
                   std::string body);

  Connection connection_;
};

}  // namespace bench
