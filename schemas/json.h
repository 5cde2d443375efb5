// Records as JSON text, for people and tools (`halo journal cat`, the records API).
//
// Made by reflection on the schemas, which are embedded in the binary, so that a new record type
// needs no code here. Fields with the attribute `secret` are shown as "***", whatever is in them.
//
// Thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <flatbuffers/flatbuffers.h>

#include "engine/journal.h"
#include "schemas/envelope_generated.h"

namespace reflection {
struct Schema;
}  // namespace reflection

namespace schemas {

// One line of JSON about the payload of a record of `stream`:
//   {"type":"kill","record":{"name":"search","state":"killed","by":"ops"}}
//   {"type":4711,"skippable":true,"bytes":25}         of a type that this binary does not know
// A record of the audit is JSON already and comes out as it is.
//
// Fails with kDataLoss when the payload is no valid record.
absl::StatusOr<std::string> RecordJson(engine::StreamId stream, const engine::Payload& payload);

// A row with its record, as one line without its end:
//   {"stream":"resources","position":7,"tx":5,"at":"...","key":"...","previous":3,"flags":0,
//    "checksum":"...","digest":"...","record":{"type":...}}
// `key` and `previous` of keyed rows only. Fails as RecordJson does.
absl::StatusOr<std::string> RowJson(const engine::Record& row, std::string_view stream_name);

// A table as a JSON object, its fields in the order of their numbers. Texts, tables and lists
// that are absent are left out; bytes are shown in hexadecimal, values of enumerations by name
// (`kKilled` as "killed"). REQUIRES: `schema` has `table_name`, and `table` is a verified one.
std::string TableJson(const reflection::Schema& schema, std::string_view table_name,
                      const flatbuffers::Table& table);

// The schema that has this table, as embedded in the binary; null when none has.
const reflection::Schema* FindSchema(std::string_view table_name);

// The table that records with this tag have, by convention the tag's name without the `k`:
// `schemas.Kill`.
std::string TableNameOf(Tag tag);

}  // namespace schemas
