-- The journal and the catalogue of its streams.
--
-- Needs: a binary of schema 1 or newer.
-- Locks: none that anybody waits for; everything is new.
-- min-binary-schema: 1

create table halo_schema_migrations (
  version integer not null,
  name text collate "C" not null,
  min_binary_schema integer not null,
  applied_at timestamptz not null default clock_timestamp(),
  constraint halo_schema_migrations_pkey primary key (version),
  constraint halo_schema_migrations_version_positive check (version > 0),
  constraint halo_schema_migrations_min_binary_positive check (min_binary_schema > 0)
);
comment on table halo_schema_migrations is
  'The migrations that were applied, 1..n without gaps; written by the migration runner only.';
comment on column halo_schema_migrations.version is 'The number in front of the file''s name.';
comment on column halo_schema_migrations.name is 'The file''s name.';
comment on column halo_schema_migrations.min_binary_schema is
  'The least schema that a binary must know to work with this migration applied.';
comment on column halo_schema_migrations.applied_at is
    'When it was applied, on the database clock.';

create table halo_streams (
  stream_id integer not null,
  name text collate "C" not null,
  floor bigint not null default 0,
  constraint halo_streams_pkey primary key (stream_id),
  constraint halo_streams_name_key unique (name),
  constraint halo_streams_id_positive check (stream_id > 0),
  constraint halo_streams_name_form check (name ~ '^[a-z0-9-]{1,64}$'),
  constraint halo_streams_floor_not_negative check (floor >= 0)
);
comment on table halo_streams is
  'The catalogue: one row a stream. A server inserts the streams that it knows and finds missing.';
comment on column halo_streams.stream_id is
  'The number of the stream; part of the checksum of each of its rows, so never changed or reused.';
comment on column halo_streams.name is 'The name that people and tools use.';
comment on column halo_streams.floor is
  'Rows at or below this position may be compacted away; above it every position exists.';

-- Rows are only ever appended, in the order of (tx) over all streams and of (position) in each.
-- The primary key is the only index: it serves every statement there is, and a second one could
-- tempt the planner away from it.
create table halo_journal (
  stream_id integer not null,
  position bigint not null,
  tx bigint not null,
  key bytea,
  previous bigint,
  flags smallint not null,
  at timestamptz not null,
  checksum bigint not null,
  digest bigint not null,
  record bytea not null,
  constraint halo_journal_pkey primary key (stream_id, position),
  constraint halo_journal_stream_positive check (stream_id > 0),
  constraint halo_journal_position_positive check (position > 0),
  constraint halo_journal_tx_positive check (tx > 0),
  constraint halo_journal_key_length check (octet_length(key) between 1 and 512),
  constraint halo_journal_previous_before check (previous > 0 and previous < position),
  constraint halo_journal_record_length check (octet_length(record) <= 1048576)
)
-- Nothing is updated, so pages are filled to the brim, and vacuum has only to freeze rows and to
-- keep the visibility map: it looks after every so many inserts, whatever the size of the table.
with (
  fillfactor = 100,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 500000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 500000
);
-- Records are compact binary: trying to compress them costs time under the lock and gains nothing,
-- and the length of an uncompressed value is known without reading it.
alter table halo_journal alter column record set storage external;
comment on table halo_journal is
  'Every fact, in the order in which it happened. Appended under one advisory lock, never changed.';
comment on column halo_journal.stream_id is 'The stream, a row of halo_streams.';
comment on column halo_journal.position is 'The place in the stream: 1, 2, 3, ... without gaps.';
comment on column halo_journal.tx is
  'The number of the transaction: 1, 2, 3, ... over the whole journal, without gaps.';
comment on column halo_journal.key is 'What the record is about; null in streams without keys.';
comment on column halo_journal.previous is
  'The position of the older record of the same key; null when it is the first.';
comment on column halo_journal.flags is 'Bits: 1 = the record removes its key.';
comment on column halo_journal.at is
  'The database clock under the lock; never before the row before it.';
comment on column halo_journal.checksum is
  'XXH3 over the length-prefixed row, the 64 bits as a signed number.';
comment on column halo_journal.digest is
  'XXH3 over the digest of the row before and this checksum: names the whole history so far.';
comment on column halo_journal.record is
    'The record itself, a buffer that the database never reads.';
