// GUARD(id, condition) marks a check that a promise rests on.
//
// In every build it is the condition itself. In a test build (meson option `mutants`, the
// default) it is `true` when the environment variable HALO_MUTANT equals `id`: the check is taken
// out, and the test that docs/guarantees.md names for it must fail. So "make the test fail once"
// is one command:
//
//   HALO_MUTANT=journal.dense ./dev test FollowerTest
//
// Write guards so that `true` means "carry on". Ids are `<room>.<what>` and appear once in the
// tree; tests/tidy checks that.
//
// Thread-safe. Never blocks. The environment is read once.

#pragma once

namespace engine {

// Whether the guard `id` is taken out in this process. False in builds without mutants.
bool GuardRemoved(const char* id);

}  // namespace engine

#if HALO_MUTANTS
#define GUARD(id, condition)                                      \
  ([] {                                                           \
    static const bool guard_removed = ::engine::GuardRemoved(id); \
    return guard_removed;                                         \
  }() ||                                                          \
   (condition))
#else
#define GUARD(id, condition) (condition)
#endif
