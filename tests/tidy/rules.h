// The rules of the house, each a function from the tree to what breaks it.
//
// A violation reads `path:line: what is wrong`, as compilers write it. Why each rule is there is
// said at its declaration; what is allowed is in its table in the .cc.

#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace tidy {

using Violations = std::vector<std::string>;

// rules_code.cc: who may know whom, and what nobody may call.

// Arrows point down: api -> projections -> schemas and engine -> engine/base. A backend is named
// only by main files, tests and benches, so that each can be replaced by another.
Violations CheckIncludeArrows(const SourceTree& tree);
// libpqxx, libpq and SQL text stay in engine/postgres; tests and benches may talk to a server.
Violations CheckSqlStaysInPostgres(const SourceTree& tree);
// Boost.Asio and Boost.Beast stay in the transport: its coroutines hold the one compiler fault
// that cannot be seen in review.
Violations CheckHttpLibraryStaysInTransport(const SourceTree& tree);
// Locks, threads, sleeps, clocks and chance come from engine/base, so that a simulation can
// replace them; a few other calls have a better form here.
Violations CheckBannedCalls(const SourceTree& tree);
// `for (x : store.view()->streams)`: the view that the call returned lives no longer than that
// expression, and what is gone through is gone. No compiler of ours warns.
Violations CheckLoopsOutliveTheirRange(const SourceTree& tree);
// A guard's id names one place, or taking it out would prove nothing.
Violations CheckGuardIds(const SourceTree& tree);

// rules_text.cc: what a reader meets.

Violations CheckNoUnfinishedWork(const SourceTree& tree);
// 100 columns, counted in characters.
Violations CheckLineLength(const SourceTree& tree);
// 500 lines a file, 70 a function.
Violations CheckFileLength(const SourceTree& tree);
Violations CheckFunctionLength(const SourceTree& tree);
// A suppressed warning names its check and says why.
Violations CheckSuppressions(const SourceTree& tree);
// No path of somebody's machine and no host of a package registry.
Violations CheckNoForeignPlaces(const SourceTree& tree);
// A relative link in a Markdown file leads to something.
Violations CheckLinks(const SourceTree& tree);

// rules_tree.cc: what must be there because something else is.

// Each .cc under engine, schemas, projections and api, main files aside, has a test that has its
// name or reaches its header: includes it, or the header of a unit of its folder that uses it.
Violations CheckSourcesHaveTests(const SourceTree& tree);
// Each .cc is named in the meson.build of its folder or of one above: none is forgotten.
Violations CheckSourcesAreBuilt(const SourceTree& tree);
Violations CheckHeadersHavePragmaOnce(const SourceTree& tree);

}  // namespace tidy
