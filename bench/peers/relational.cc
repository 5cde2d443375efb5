#include "bench/peers/relational.h"

#include <map>
#include <string_view>
#include <utility>

#include "engine/base/logging.h"

namespace bench {
namespace {

// Of `resources`, in the order of its migrations.
enum Column {
  kId,
  kCreatedTime,
  kUpdatedTime,
  kDeletedTime,
  kKind,
  kName,
  kHref,
  kCreatedBy,
  kUpdatedBy,
  kDeletedBy,
  kOwnerId,
  kOwnerKind,
  kOwnerHref,
  kSpec,
  kGeneration,
  kTenancy,
};

// The rows of one resource in an answer whose first column is its id.
using RowsOf = std::multimap<std::string_view, int>;

RowsOf Group(const Answer& answer) {
  RowsOf rows;
  for (int row = 0; row < answer.size(); ++row) {
    rows.emplace(answer.Text(row, 0), row);
  }
  return rows;
}

class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  std::string& Member(std::string_view name) {
    out_ += out_.back() == '{' ? "\"" : ",\"";
    out_ += name;
    out_ += "\":";
    return out_;
  }
  void Raw(std::string_view name, std::string_view json) { Member(name) += json; }
  void Text(std::string_view name, std::string_view text) {
    engine::AppendJsonString(text, Member(name));
  }
  // `2026-05-28 20:26:40.5+00` as RFC 3339 has it.
  void Time(std::string_view name, std::string_view time) {
    std::string& out = Member(name);
    out += '"';
    out += time.substr(0, 10);
    out += 'T';
    out += time.substr(11, time.size() - 11 - 3);
    out += "Z\"";
  }
  void Close() { out_ += '}'; }

 private:
  std::string& out_;
};

void AppendCondition(const Answer& conditions, int row, std::string& out) {
  Object object(out);
  object.Text("type", conditions.Text(row, 1));
  object.Text("status", conditions.Text(row, 2));
  object.Text("reason", conditions.Text(row, 3));
  object.Text("message", conditions.Text(row, 4));
  object.Raw("observed_generation", conditions.Text(row, 5));
  object.Time("created_time", conditions.Text(row, 6));
  object.Time("last_updated_time", conditions.Text(row, 7));
  object.Time("last_transition_time", conditions.Text(row, 8));
  object.Close();
}

// What the three statements behind a page found.
struct Related {
  explicit Related(Answer c, Answer l, Answer r)
      : conditions(std::move(c)), labels(std::move(l)), references(std::move(r)) {}

  Answer conditions;
  Answer labels;
  Answer references;  // The fleet has none.
  RowsOf conditions_of = Group(conditions);
  RowsOf labels_of = Group(labels);
};

void AppendMembers(const Answer& resources, int row, const Related& related, Object& object) {
  const auto text = [&](Column column) { return resources.Text(row, column); };
  object.Text("id", text(kId));
  object.Text("kind", text(kKind));
  object.Text("name", text(kName));
  object.Text("href", text(kHref));
  object.Raw("spec", text(kSpec));
  const auto [first, last] = related.labels_of.equal_range(text(kId));
  if (first != last) {
    Object labels(object.Member("labels"));
    for (auto at = first; at != last; ++at) {
      labels.Text(related.labels.Text(at->second, 1), related.labels.Text(at->second, 2));
    }
    labels.Close();
  }
  object.Raw("tenancy", text(kTenancy));
  object.Raw("generation", text(kGeneration));
  if (!text(kOwnerId).empty()) {
    Object owner(object.Member("owner_references"));
    owner.Text("id", text(kOwnerId));
    owner.Text("kind", text(kOwnerKind));
    owner.Text("href", text(kOwnerHref));
    owner.Close();
  }
  object.Time("created_time", text(kCreatedTime));
  object.Text("created_by", text(kCreatedBy));
  object.Time("updated_time", text(kUpdatedTime));
  object.Text("updated_by", text(kUpdatedBy));
}

void AppendDocument(const Answer& resources, int row, const Related& related, std::string& out) {
  Object object(out);
  AppendMembers(resources, row, related, object);
  object.Member("status") += "{\"conditions\":[";
  const auto [first, last] = related.conditions_of.equal_range(resources.Text(row, kId));
  for (auto at = first; at != last; ++at) {
    out += at == first ? "" : ",";
    AppendCondition(related.conditions, at->second, out);
  }
  out += "]}";
  object.Close();
}

}  // namespace

RelationalClient::RelationalClient(const std::string& url) : connection_(url) {
  connection_.Run("set timezone = 'UTC'");
}

std::string RelationalClient::Show(const Answer& resources, const std::string& equals,
                                   const std::string& ids, std::string body) {
  const Related related(
      connection_.Ask("select * from resource_conditions where resource_id " + equals, {ids}),
      connection_.Ask("select * from resource_labels where resource_id " + equals, {ids}),
      connection_.Ask("select * from resource_references where source_id " + equals, {ids}));
  for (int row = 0; row < resources.size(); ++row) {
    body += row == 0 ? "" : ",";
    AppendDocument(resources, row, related, body);
  }
  return body;
}

std::string RelationalClient::Get(const std::string& kind, const std::string& id,
                                  const std::string& tenancy) {
  const Answer resources =
      tenancy.empty()
          ? connection_.Ask("select * from resources where kind = $1 and id = $2 limit 1",
                            {kind, id})
          : connection_.Ask(
                "select * from resources where kind = $1 and id = $2 and tenancy @> $3::jsonb"
                " limit 1",
                {kind, id, tenancy});
  return resources.size() == 0 ? "" : Show(resources, "= $1", id, "");
}

std::string RelationalClient::List(const RelationalList& list) {
  const Answer count =
      connection_.Ask("select count(*) from resources where " + list.where, list.parameters);
  const Answer resources = connection_.Ask(
      "select * from resources where " + list.where + " order by created_time desc limit 20",
      list.parameters);
  std::string ids = "{";
  for (int row = 0; row < resources.size(); ++row) {
    ids += row == 0 ? "" : ",";
    ids += resources.Text(row, kId);
  }
  std::string body = "{\"items\":[";
  if (resources.size() > 0) {
    body = Show(resources, "= any($1::varchar[])", ids + "}", std::move(body));
  }
  body += "],\"page\":1,\"size\":" + std::to_string(resources.size()) + ",\"total\":";
  body += count.Text(0, 0);
  return body + "}";
}

}  // namespace bench
