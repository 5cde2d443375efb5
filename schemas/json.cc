#include "schemas/json.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <absl/strings/str_format.h>
#include <flatbuffers/reflection.h>

#include "engine/audit_chain.h"
#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "schemas/codec.h"
#include "schemas/embedded_schemas.h"
#include "schemas/streams.h"

namespace schemas {
namespace {

using reflection::BaseType;

bool Is(const flatbuffers::String* name, std::string_view expected) {
  return name->string_view() == expected;
}

const reflection::Object* FindTable(const reflection::Schema& schema, std::string_view name) {
  for (const reflection::Object* object : *schema.objects()) {
    if (Is(object->name(), name)) {
      return object;
    }
  }
  return nullptr;
}

bool IsSecret(const reflection::Field& field) {
  if (field.attributes() == nullptr) {
    return false;
  }
  // Not LookupByKey: g++ 12 warns about that one in builds with sanitizers.
  return std::ranges::any_of(*field.attributes(), [](const reflection::KeyValue* attribute) {
    return Is(attribute->key(), "secret");
  });
}

// `kKilled` is shown as `killed`.
std::string ShownName(std::string_view enumerator) {
  std::string name(enumerator.starts_with('k') ? enumerator.substr(1) : enumerator);
  if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z') {
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
  }
  return name;
}

// Walks one table after another along the schema. What is walked has been verified before; the
// verifier bounds the depth.
class TableWriter {
 public:
  TableWriter(const reflection::Schema& schema, std::string& out) : schema_(schema), out_(out) {}

  void Write(const reflection::Object& object, const flatbuffers::Table& table) {
    std::vector<const reflection::Field*> fields(object.fields()->begin(), object.fields()->end());
    std::ranges::sort(fields, {}, &reflection::Field::id);
    char separator = '{';
    for (const reflection::Field* field : fields) {
      if (IsAbsent(*field, table)) {
        continue;
      }
      out_.push_back(separator);
      separator = ',';
      engine::AppendJsonString(field->name()->string_view(), out_);
      out_.push_back(':');
      // Guards say `true` for carrying on, here: for showing what the field holds.
      if (GUARD("schemas.secret", !IsSecret(*field))) {
        WriteField(*field, table);
      } else {
        out_ += "\"***\"";
      }
    }
    out_ += separator == '{' ? "{}" : "}";
  }

 private:
  // A scalar that is not stored has its default, unless it is declared optional.
  static bool IsAbsent(const reflection::Field& field, const flatbuffers::Table& table) {
    const bool has_default = flatbuffers::IsScalar(field.type()->base_type()) && !field.optional();
    return !has_default && !table.CheckField(field.offset());
  }

  void WriteField(const reflection::Field& field, const flatbuffers::Table& table) {
    const reflection::Type& type = *field.type();
    if (flatbuffers::IsFloat(type.base_type())) {
      WriteReal(flatbuffers::GetAnyFieldF(table, field));
    } else if (flatbuffers::IsScalar(type.base_type())) {
      WriteInteger(type.base_type(), type.index(), flatbuffers::GetAnyFieldI(table, field));
    } else if (type.base_type() == BaseType::String) {
      engine::AppendJsonString(flatbuffers::GetFieldS(table, field)->string_view(), out_);
    } else if (type.base_type() == BaseType::Obj) {
      Write(*schema_.objects()->Get(static_cast<unsigned>(type.index())),
            *flatbuffers::GetFieldT(table, field));
    } else {
      WriteVector(type, *flatbuffers::GetFieldAnyV(table, field));
    }
  }

  void WriteVector(const reflection::Type& type, const flatbuffers::VectorOfAny& vector) {
    if (type.element() == BaseType::UByte && type.index() < 0) {
      const auto* bytes = reinterpret_cast<const char*>(vector.Data());
      engine::AppendJsonString(engine::ToHex(std::string_view(bytes, vector.size())), out_);
      return;
    }
    out_.push_back('[');
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if (i > 0) {
        out_.push_back(',');
      }
      WriteElement(type, vector, i);
    }
    out_.push_back(']');
  }

  void WriteElement(const reflection::Type& type, const flatbuffers::VectorOfAny& vector,
                    std::size_t i) {
    if (flatbuffers::IsFloat(type.element())) {
      WriteReal(flatbuffers::GetAnyVectorElemF(&vector, type.element(), i));
    } else if (flatbuffers::IsScalar(type.element())) {
      WriteInteger(type.element(), type.index(),
                   flatbuffers::GetAnyVectorElemI(&vector, type.element(), i));
    } else if (type.element() == BaseType::String) {
      const auto* text =
          flatbuffers::GetAnyVectorElemPointer<const flatbuffers::String>(&vector, i);
      engine::AppendJsonString(text->string_view(), out_);
    } else {
      Write(*schema_.objects()->Get(static_cast<unsigned>(type.index())),
            *flatbuffers::GetAnyVectorElemPointer<const flatbuffers::Table>(&vector, i));
    }
  }

  // `enumeration` is the index of the value's enumeration, or negative.
  void WriteInteger(BaseType type, int enumeration, std::int64_t value) {
    if (enumeration >= 0 && WriteEnumerator(static_cast<unsigned>(enumeration), value)) {
      return;
    }
    if (type == BaseType::Bool) {
      out_ += value != 0 ? "true" : "false";
    } else if (type == BaseType::ULong) {
      out_ += std::to_string(static_cast<std::uint64_t>(value));
    } else {
      out_ += std::to_string(value);
    }
  }

  bool WriteEnumerator(unsigned enumeration, std::int64_t value) {
    for (const reflection::EnumVal* candidate : *schema_.enums()->Get(enumeration)->values()) {
      if (candidate->value() == value) {
        engine::AppendJsonString(ShownName(candidate->name()->string_view()), out_);
        return true;
      }
    }
    return false;
  }

  void WriteReal(double value) {
    out_ += std::isfinite(value) ? absl::StrFormat("%.17g", value) : std::string("null");
  }

  const reflection::Schema& schema_;
  std::string& out_;
};

// Embedded bytes lie anywhere; a Payload is aligned as FlatBuffers wants. Lives for ever.
const std::vector<engine::Payload>& Schemas() {
  static const auto& schemas = *[] {
    auto* loaded = new std::vector<engine::Payload>();
    for (const EmbeddedFile& file : kEmbeddedFiles) {
      const engine::Payload& bytes = loaded->emplace_back(file.bytes);
      flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.view().data()),
                                     bytes.size());
      ENGINE_CHECK(reflection::VerifySchemaBuffer(verifier));
    }
    return loaded;
  }();
  return schemas;
}

}  // namespace

const reflection::Schema* FindSchema(std::string_view table_name) {
  for (const engine::Payload& bytes : Schemas()) {
    const reflection::Schema* schema = reflection::GetSchema(bytes.view().data());
    if (FindTable(*schema, table_name) != nullptr) {
      return schema;
    }
  }
  return nullptr;
}

std::string TableNameOf(Tag tag) {
  const std::string_view enumerator = EnumNameTag(tag);
  return enumerator.empty() ? std::string() : "schemas." + std::string(enumerator.substr(1));
}

std::string TableJson(const reflection::Schema& schema, std::string_view table_name,
                      const flatbuffers::Table& table) {
  const reflection::Object* object = FindTable(schema, table_name);
  ENGINE_CHECK(object != nullptr);
  std::string out;
  TableWriter(schema, out).Write(*object, table);
  return out;
}

absl::StatusOr<std::string> RecordJson(engine::StreamId stream, const engine::Payload& payload) {
  if (stream == kAuditStream) {
    RETURN_IF_ERROR(engine::DecodeAuditEntry(payload.view()).status());
    return std::string(payload.view());
  }
  ASSIGN_OR_RETURN(const RecordView record, Decode(payload));
  if (!record.known()) {
    return absl::StrFormat("{\"type\":%d,\"skippable\":true,\"bytes\":%d}",
                           static_cast<int>(record.tag()), record.body().size());
  }
  const std::string table = TableNameOf(record.tag());
  const reflection::Schema* schema = FindSchema(table);
  ENGINE_CHECK(schema != nullptr);
  std::string out = "{\"type\":";
  engine::AppendJsonString(TypeName(record.tag()), out);
  out += ",\"record\":";
  out += TableJson(*schema, table,
                   *flatbuffers::GetRoot<flatbuffers::Table>(
                       reinterpret_cast<const std::uint8_t*>(record.body().data())));
  out.push_back('}');
  return out;
}

absl::StatusOr<std::string> RowJson(const engine::Record& row, std::string_view stream_name) {
  ASSIGN_OR_RETURN(const std::string record, RecordJson(row.stream, row.payload));
  std::string line = "{\"stream\":";
  engine::AppendJsonString(stream_name, line);
  line += absl::StrFormat(",\"position\":%d,\"tx\":%d,\"at\":\"%s\"", Raw(row.position),
                          Raw(row.tx), engine::FormatTimestamp(row.at));
  if (!row.key.empty()) {
    line += ",\"key\":";
    engine::AppendJsonString(row.key, line);
    line += absl::StrFormat(",\"previous\":%d", Raw(row.previous));
  }
  line +=
      absl::StrFormat(",\"flags\":%d,\"checksum\":\"%s\",\"digest\":\"%s\",\"record\":", row.flags,
                      engine::ToHex(row.checksum), engine::ToHex(Raw(row.digest)));
  return line + record + "}";
}

}  // namespace schemas
