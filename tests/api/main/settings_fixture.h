// SettingsTest: settings from flags, variables and a file of the test, as `serve` reads them.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/main/serve_config.h"
#include "tests/support/private_directory.h"
#include "tests/support/status_matchers.h"

namespace api {

using Flags = std::map<std::string, std::string, std::less<>>;

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(directory_, support::PrivateDirectory::Make()); }
  std::string Write(const std::string& name, const std::string& text) {
    const auto path = directory_->Write(name, text);
    EXPECT_OK(path);
    return path.value_or("");
  }
  absl::StatusOr<ServeConfig> Serve(Flags flags, Environment environment = {},
                                    const std::string& yaml = "") {
    if (!yaml.empty()) {
      flags["config"] = Write("config.yaml", yaml);
    }
    absl::StatusOr<Settings> settings = Settings::Load(std::move(flags), std::move(environment));
    return settings.ok() ? ReadServeConfig(*settings) : settings.status();
  }

  std::unique_ptr<support::PrivateDirectory> directory_;
};

inline constexpr char kOpen[] = "server: {jwt: {enabled: false}}\n";

}  // namespace api
