// Result: what one statement answered, its values in Postgres' binary format.
//
// One thread; never blocks.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "engine/base/clock.h"

namespace engine::postgres {

// Numbers of the wire, most significant byte first. REQUIRES: as many bytes as the type has.
std::int16_t WireInt16(const char* bytes);
std::int32_t WireInt32(const char* bytes);
std::int64_t WireInt64(const char* bytes);
Timestamp WireTimestamp(const char* bytes);

class Result {
 public:
  Result() = default;
  explicit Result(PGresult* result) : result_(result) {}

  explicit operator bool() const { return result_ != nullptr; }
  ExecStatusType status() const { return PQresultStatus(result_.get()); }
  bool ok() const { return status() == PGRES_TUPLES_OK || status() == PGRES_COMMAND_OK; }
  // The command tag without counts: `COMMIT`, `ROLLBACK`, `SELECT 3`.
  std::string_view tag() const { return PQcmdStatus(result_.get()); }
  std::string_view sqlstate() const { return Field(PG_DIAG_SQLSTATE); }
  // `ERROR`, `FATAL`, `PANIC`, whatever language the server speaks; empty when libpq made it up.
  std::string_view severity() const { return Field(PG_DIAG_SEVERITY_NONLOCALIZED); }
  std::string_view message() const;

  int rows() const { return PQntuples(result_.get()); }
  bool IsNull(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  // REQUIRES for all: the value is not null and of that type.
  std::string_view Bytes(int row, int column) const {
    return {Value(row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  std::int16_t Int16(int row, int column) const { return WireInt16(Value(row, column)); }
  std::int32_t Int32(int row, int column) const { return WireInt32(Value(row, column)); }
  std::int64_t Int64(int row, int column) const { return WireInt64(Value(row, column)); }
  bool Bool(int row, int column) const { return *Value(row, column) != 0; }
  Timestamp Time(int row, int column) const { return WireTimestamp(Value(row, column)); }

  // Warnings that the server sent before this answer and after the one before it.
  const std::vector<std::string>& warnings() const { return warnings_; }
  void set_warnings(std::vector<std::string> warnings) { warnings_ = std::move(warnings); }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  const char* Value(int row, int column) const { return PQgetvalue(result_.get(), row, column); }
  std::string_view Field(int code) const {
    const char* value = PQresultErrorField(result_.get(), code);
    return value == nullptr ? std::string_view() : std::string_view(value);
  }

  std::unique_ptr<PGresult, Clear> result_;
  std::vector<std::string> warnings_;
};

}  // namespace engine::postgres
