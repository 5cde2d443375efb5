#include "api/server/identity_metrics.h"

#include "engine/base/logging.h"
#include "projections/resources/image.h"

namespace api {
namespace {

// Resources that only the system sees.
std::size_t WithoutTenancy(const engine::View& view) {
  const auto image = engine::ImageIn<projections::ResourcesImage>(view);
  return image.ok() ? (*image)->without_tenancy() : 0;
}

}  // namespace

void AddIssuers(const Authenticator& authenticator, Samples& samples) {
  if (!authenticator.enabled()) {
    return;
  }
  samples.push_back({"halo_jwks_fetches_total",
                     "Fetches that brought keys of an issuer of tokens.",
                     MetricType::kCounter,
                     static_cast<double>(authenticator.fetched()),
                     {}});
  samples.push_back({"halo_jwks_fetch_failures_total",
                     "Fetches that did not: what came last stays in use.",
                     MetricType::kCounter,
                     static_cast<double>(authenticator.failed()),
                     {}});
}

void AddTenancy(const engine::View& view, Samples& samples) {
  samples.push_back({"halo_resources_without_tenancy",
                     "Resources that are no tenant's: only the system sees them.",
                     MetricType::kGauge,
                     static_cast<double>(WithoutTenancy(view)),
                     {}});
}

void WarnOfNobodys(const engine::View& view) {
  if (const std::size_t count = WithoutTenancy(view); count > 0) {
    engine::Log(engine::Severity::kWarning,
                "resources without tenancy: only the system sees them, docs/tenancy.md",
                {{"resources", count}});
  }
}

}  // namespace api
