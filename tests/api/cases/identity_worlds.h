// What worlds are told about callers: whose tokens they check, and how they tell tenants apart.

#pragma once

#include <string>
#include <string_view>

#include "api/identity/options.h"
#include "tests/api/cases/world.h"
#include "tests/support/token_key.h"

namespace cases {

// How a world is configured. Every other world is open.
enum class Callers {
  kOpen,
  kTokens,   // One issuer; X-HyperFleet-Identity may name who acts.
  kTenants,  // X-HyperFleet-Org (required) and X-HyperFleet-Project; no tokens.
};

inline constexpr std::string_view kIssuer = "https://issuer.example";
inline constexpr std::string_view kIdentityHeader = "X-HyperFleet-Identity";
inline constexpr std::string_view kSystemHeader = "X-HyperFleet-System";
inline constexpr std::string_view kOrgHeader = "X-HyperFleet-Org";
inline constexpr std::string_view kProjectHeader = "X-HyperFleet-Project";

// The issuer's key, one for the program.
const support::TokenKey& IssuerKey();
// What a server in this process is told; `key_file` holds the issuer's key set.
api::IdentityOptions IdentityOf(Callers callers, const std::string& key_file);
// The same as a configuration file. REQUIRES: not kOpen.
std::string IdentityYaml(Callers callers, const std::string& key_file);

// A header with a token of the issuer for `email`, which ends `seconds` from now.
Headers BearerOf(const std::string& email, std::int64_t seconds = 3600,
                 const support::TokenKey& key = IssuerKey());

}  // namespace cases
