// The suites of behaviour cases; a program that links this instantiates each with its worlds:
//
//   HALO_INSTANTIATE_CASES(Memory, cases::WorldFactory{...});

#pragma once

#include "tests/api/cases/status_case.h"
#include "tests/api/cases/world.h"

namespace cases {

class CreateCases : public ApiCase {};
class PatchCases : public ApiCase {};
class ListCases : public ApiCase {};
class SearchCases : public ApiCase {
 protected:
  // Makes a resource that has to work; its id. `path` is below the base, spec and labels are JSON.
  std::string MakeWith(const std::string& path, const std::string& kind, const std::string& name,
                       const std::string& spec, const std::string& labels);
  // The first 100 that fit, by name.
  Answer Search(const std::string& path, const std::string& search);
  // Their names; the search has to be a good one.
  std::vector<std::string> Found(const std::string& path, const std::string& search);
};
class DeleteCases : public ApiCase {};
class BadInputCases : public ApiCase {};
class SpecCases : public ApiCase {};
class ThreeLevelCases : public ApiCase {};
class ReferenceCases : public ApiCase {
 protected:
  std::string NewTarget();  // Its id.
  // `more` are members behind spec.
  Answer Create(const std::string& plural, const std::string& kind, const std::string& more);
  // Their paths.
  std::string NewSource(const std::string& target);
  std::string NewOptional(const std::vector<std::string>& targets);
  Answer Patch(const std::string& path, const std::string& references);
  // The ids of the targets of a resource.
  std::vector<std::string> TargetsOf(const std::string& path, const std::string& type);
};
class KillCases : public ApiCase {};
class AuditCases : public ApiCase {};
class StreamsCases : public ApiCase {};
class HistoryCases : public ApiCase {};
class CursorCases : public ApiCase {};
class PastCases : public ApiCase {};
class RecordsCases : public ApiCase {};

// On worlds of their own (tests/api/cases/identity_worlds.h).
class AuthCases : public ApiCase {};
class TenantCases : public ApiCase {};

}  // namespace cases

#define HALO_INSTANTIATE_SUITE(suite, prefix, ...) \
  INSTANTIATE_TEST_SUITE_P(prefix, suite, testing::Values(__VA_ARGS__), PrintFactory)

// Worlds that check tokens, and worlds that tell tenants apart.
#define HALO_INSTANTIATE_AUTH(prefix, ...)                \
  namespace cases {                                       \
  HALO_INSTANTIATE_SUITE(AuthCases, prefix, __VA_ARGS__); \
  }                                                       \
  static_assert(true)
#define HALO_INSTANTIATE_TENANTS(prefix, ...)               \
  namespace cases {                                         \
  HALO_INSTANTIATE_SUITE(TenantCases, prefix, __VA_ARGS__); \
  }                                                         \
  static_assert(true)

#define HALO_INSTANTIATE_CASES(prefix, ...)                     \
  namespace cases {                                             \
  HALO_INSTANTIATE_SUITE(CreateCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(PatchCases, prefix, __VA_ARGS__);      \
  HALO_INSTANTIATE_SUITE(ListCases, prefix, __VA_ARGS__);       \
  HALO_INSTANTIATE_SUITE(SearchCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(DeleteCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(BadInputCases, prefix, __VA_ARGS__);   \
  HALO_INSTANTIATE_SUITE(SpecCases, prefix, __VA_ARGS__);       \
  HALO_INSTANTIATE_SUITE(KillCases, prefix, __VA_ARGS__);       \
  HALO_INSTANTIATE_SUITE(ReferenceCases, prefix, __VA_ARGS__);  \
  HALO_INSTANTIATE_SUITE(ThreeLevelCases, prefix, __VA_ARGS__); \
  HALO_INSTANTIATE_SUITE(AuditCases, prefix, __VA_ARGS__);      \
  HALO_INSTANTIATE_SUITE(StreamsCases, prefix, __VA_ARGS__);    \
  HALO_INSTANTIATE_SUITE(HistoryCases, prefix, __VA_ARGS__);    \
  HALO_INSTANTIATE_SUITE(CursorCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(StatusCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(PastCases, prefix, __VA_ARGS__);       \
  HALO_INSTANTIATE_SUITE(RecordsCases, prefix, __VA_ARGS__);    \
  }                                                             \
  static_assert(true)
