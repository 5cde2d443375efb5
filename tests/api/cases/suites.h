// The suites of behaviour cases; a program that links this instantiates each with its worlds:
//
//   HALO_INSTANTIATE_CASES(Memory, cases::WorldFactory{...});

#pragma once

#include "tests/api/cases/world.h"

namespace cases {

class CreateCases : public ApiCase {};
class PatchCases : public ApiCase {};
class ListCases : public ApiCase {};
class DeleteCases : public ApiCase {};
class BadInputCases : public ApiCase {};
class KillCases : public ApiCase {};
class AuditCases : public ApiCase {};
class StreamsCases : public ApiCase {};
class HistoryCases : public ApiCase {};
class CursorCases : public ApiCase {};

}  // namespace cases

#define HALO_INSTANTIATE_SUITE(suite, prefix, ...) \
  INSTANTIATE_TEST_SUITE_P(prefix, suite, testing::Values(__VA_ARGS__), PrintFactory)

#define HALO_INSTANTIATE_CASES(prefix, ...)                   \
  namespace cases {                                           \
  HALO_INSTANTIATE_SUITE(CreateCases, prefix, __VA_ARGS__);   \
  HALO_INSTANTIATE_SUITE(PatchCases, prefix, __VA_ARGS__);    \
  HALO_INSTANTIATE_SUITE(ListCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(DeleteCases, prefix, __VA_ARGS__);   \
  HALO_INSTANTIATE_SUITE(BadInputCases, prefix, __VA_ARGS__); \
  HALO_INSTANTIATE_SUITE(KillCases, prefix, __VA_ARGS__);     \
  HALO_INSTANTIATE_SUITE(AuditCases, prefix, __VA_ARGS__);    \
  HALO_INSTANTIATE_SUITE(StreamsCases, prefix, __VA_ARGS__);  \
  HALO_INSTANTIATE_SUITE(HistoryCases, prefix, __VA_ARGS__);  \
  HALO_INSTANTIATE_SUITE(CursorCases, prefix, __VA_ARGS__);   \
  }                                                           \
  static_assert(true)
