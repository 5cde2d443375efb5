// Settings: what the server can be told, and where from.
//
// flag > environment HALO_<FLAG> > environment HYPERFLEET_<KEY> > configuration file > default.
// One table (settings.cc) has all of them; what the texts mean is judged in serve_config.h.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "api/identity/options.h"
#include "projections/registry.h"

namespace api {

// Commands that a flag belongs to.
enum CommandBit : unsigned { kServeCommand = 1, kMigrateCommand = 2 };

enum class Effect {
  kWorks,
  kNone,        // Accepted for files written for other servers; a warning says it does nothing.
  kOnDatabase,  // Works only where a database keeps the data; api/main/serve_config.cc refuses it
                // elsewhere.
  kOnDisk,      // Works only where something keeps the data.
};

struct Setting {
  std::string_view flag;   // `listen`; empty: not on the command line.
  std::string_view alias;  // Another spelling of the flag, a letter for a short one; can be empty.
  std::string_view key;    // `server.timeouts.read`; empty: not in the file.
  std::string_view value;  // `HOST:PORT`; empty: a switch.
  std::string_view help;
  unsigned commands = 0;
  Effect effect = Effect::kWorks;
};

// Every setting, in the order of `--help`; no two flags or keys are the same.
std::span<const Setting> AllSettings();

// What a configuration file says.
struct ConfigFile {
  std::map<std::string, std::string, std::less<>> values;  // By key.
  std::optional<std::vector<projections::EntityDescriptor>> entities;
  std::vector<IssuerOptions> issuers;       // `server.jwt.configs`
  std::vector<TenantDimension> dimensions;  // `server.tenant.dimensions`
};

// Reads YAML text. Fails with kInvalidArgument, naming the line: not YAML, a key that is unknown
// or there twice, a value of the wrong kind.
absl::StatusOr<ConfigFile> ParseConfigFile(const std::string& text);

// Where a file is looked for when none is named.
std::span<const std::string_view> UsualConfigFiles();

// The whole file. Fails with kNotFound and the reason when it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

using Environment = std::map<std::string, std::string, std::less<>>;

class Settings {
 public:
  struct Value {
    std::string text;
    std::string source;  // `--listen`, `HALO_LISTEN`, `server.port in FILE`: for messages.
    bool from_flag = false;
    bool from_file = false;
  };

  // A setting that somebody gave, and what it is; secrets as `***REDACTED***`.
  struct Line {
    std::string_view name;
    std::string text;
  };

  // `flags` by the flag's name. The configuration file is read here: --config, HYPERFLEET_CONFIG,
  // or the first of `usual_files` that is there (none need be); then its settings of Effect::kNone
  // are listed in `without_effect`.
  // A variable HALO_... that is no setting is refused too (api/main/variables.h).
  static absl::StatusOr<Settings> Load(std::map<std::string, std::string, std::less<>> flags,
                                       Environment environment,
                                       std::span<const std::string_view> usual_files = {});

  // By flag, or by key where there is no flag. Empty: nobody said anything.
  std::optional<Value> Find(std::string_view flag_or_key) const;

  // A variable of the environment that is none of ours, such as OTEL_SERVICE_NAME. Empty: not set.
  std::string Variable(std::string_view name) const;

  // Settings of this effect that somebody gave.
  std::vector<Value> Given(Effect effect) const;

  // For the log.
  std::vector<Line> Dump() const;

  // Of the configuration file; empty without one.
  const std::string& path() const { return path_; }
  bool has_file() const { return file_.has_value(); }
  const std::optional<ConfigFile>& file() const { return file_; }
  const std::vector<std::string>& without_effect() const { return without_effect_; }

 private:
  std::optional<Value> Find(const Setting& setting) const;
  std::string FindFile(std::span<const std::string_view> usual_files) const;

  std::map<std::string, std::string, std::less<>> flags_;
  Environment environment_;
  std::optional<ConfigFile> file_;
  std::string path_;
  std::vector<std::string> without_effect_;
};

}  // namespace api
