#include "bench/peers/relational_tables.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "bench/peers/connection.h"
#include "bench/support/fleet.h"
#include "projections/statuses/state.h"

namespace bench {
namespace {

constexpr char kTables[] = R"(
create table resources (
  id varchar(255) not null, created_time timestamptz not null default now(),
  updated_time timestamptz not null default now(), deleted_time timestamptz,
  kind varchar(100) not null, name varchar(100) not null, href varchar(500),
  created_by varchar(255) not null, updated_by varchar(255) not null, deleted_by varchar(255),
  owner_id varchar(255), owner_kind varchar(100), owner_href varchar(500),
  spec jsonb not null, generation integer not null default 1,
  tenancy jsonb not null default '{}'::jsonb);
create table resource_conditions (
  resource_id varchar(255) not null, type varchar(100) not null, status varchar(10) not null,
  reason text, message text, observed_generation integer not null default 0,
  created_time timestamptz not null default now(),
  last_updated_time timestamptz not null default now(),
  last_transition_time timestamptz not null default now());
create table resource_labels (
  resource_id varchar(255) not null, key varchar(255) not null, value varchar(255) not null);
create table resource_references (
  source_id varchar(255) not null, ref_type varchar(255) not null,
  target_id varchar(255) not null, target_kind varchar(100) not null);
create table adapter_statuses (
  id varchar(255) primary key, created_time timestamptz not null default now(),
  updated_time timestamptz not null default now(), resource_type varchar(20) not null,
  resource_id varchar(255) not null, adapter varchar(255) not null,
  observed_generation integer not null, last_report_time timestamptz not null default now(),
  conditions jsonb not null, data jsonb, metadata jsonb))";

constexpr char kIndexes[] = R"(
set maintenance_work_mem = '1GB';
alter table resources add primary key (id);
create index idx_resources_kind on resources (kind);
create unique index idx_resources_kind_name on resources (kind, name, tenancy)
  where owner_id is null and deleted_time is null;
create unique index idx_resources_kind_owner_name on resources (kind, owner_id, name)
  where owner_id is not null and deleted_time is null;
create index idx_resources_owner_id on resources (owner_id) where owner_id is not null;
create index idx_resources_deleted_time on resources (deleted_time)
  where deleted_time is not null;
create index idx_resources_tenancy on resources using gin (tenancy jsonb_path_ops);
alter table resource_conditions add primary key (resource_id, type),
  add foreign key (resource_id) references resources (id) on delete cascade;
create index idx_resource_conditions_type_status on resource_conditions (type, status)
  where status = 'False';
alter table resource_labels add primary key (resource_id, key),
  add foreign key (resource_id) references resources (id) on delete cascade;
alter table resource_references add primary key (source_id, ref_type, target_id),
  add foreign key (source_id) references resources (id) on delete cascade,
  add foreign key (target_id) references resources (id) on delete restrict;
create index idx_resource_references_target on resource_references (target_id);
create index idx_adapter_statuses_resource on adapter_statuses (resource_type, resource_id);
create unique index idx_adapter_statuses_unique
  on adapter_statuses (resource_type, resource_id, adapter))";

void AppendResource(std::size_t i, std::string& lines) {
  const projections::ResourceState state = FleetResource(i);
  const std::string created = engine::FormatTimestamp(state.created_time);
  std::string tenancy;
  for (const auto& [key, value] : state.tenancy) {
    tenancy += absl::StrFormat(R"(%s"%s":"%s")", tenancy.empty() ? "" : ",", key, value);
  }
  lines += absl::StrFormat("%s\t%s\t%s\t\\N\t%s\t%s\t%s\t%s\t%s\t\\N\t", state.id, created, created,
                           state.kind, state.name, state.href, state.created_by, state.updated_by);
  lines += state.owner ? absl::StrFormat("%s\t%s\t%s\t", state.owner->id, state.owner->kind,
                                         state.owner->href)
                       : "\\N\t\\N\t\\N\t";
  lines += absl::StrFormat("%s\t%d\t{%s}\n", state.spec, state.generation, tenancy);
}

void AppendLabels(std::size_t i, std::string& lines) {
  const projections::ResourceState state = FleetResource(i);
  for (const auto& [key, value] : state.labels) {
    lines += absl::StrFormat("%s\t%s\t%s\n", state.id, key, value);
  }
}

void AppendConditions(std::size_t i, std::string& lines) {
  for (const projections::ConditionState& condition : FleetConditions(i)) {
    lines += absl::StrFormat("%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", FleetId(i), condition.type,
                             projections::StatusName(condition.status), condition.reason,
                             condition.message, condition.observed_generation,
                             engine::FormatTimestamp(condition.created_time),
                             engine::FormatTimestamp(condition.last_updated_time),
                             engine::FormatTimestamp(condition.last_transition_time));
  }
}

template <typename Append>
void Fill(Connection& connection, const std::string& table, std::size_t size,
          const Append& append) {
  std::size_t i = 0;
  connection.Copy(table, [&](std::string& lines) {
    for (const std::size_t end = std::min(size, i + 100); i < end; ++i) {
      append(i, lines);
    }
  });
}

}  // namespace

void MakeRelationalTables(const std::string& url, std::size_t size) {
  Connection connection(url);
  connection.Run(kTables);
  Fill(connection, "resources", size, AppendResource);
  Fill(connection, "resource_labels", size, AppendLabels);
  Fill(connection, "resource_conditions", size, AppendConditions);
  connection.Run(kIndexes);
  connection.Run("vacuum analyze");
}

}  // namespace bench
