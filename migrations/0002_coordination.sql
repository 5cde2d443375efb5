-- What replicas share besides the journal: short-lived facts, leases, answers kept for retries,
-- the lives of the server that were seen, the replicas that are alive; and floors that can be
-- proved.
--
-- Needs: a binary of schema 2 or newer: an older one would take a compacted stream for a damaged
-- one.
-- Locks: an exclusive one on halo_streams for a moment; everything else is new.
-- min-binary-schema: 2

create table halo_kv (
  key bytea not null,
  value bytea not null,
  number bigint not null default 0,
  expires_at timestamptz,
  constraint halo_kv_pkey primary key (key),
  constraint halo_kv_key_length check (octet_length(key) between 1 and 512),
  constraint halo_kv_value_length check (octet_length(value) <= 1048576)
)
-- Rows come and go all the time: room on the page for the next version, and a vacuum that comes
-- soon on a table that is never large.
with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000
);
-- The sweep of expired rows walks it from its old end.
create index halo_kv_expiry on halo_kv (expires_at) where expires_at is not null;
comment on table halo_kv is
  'Short-lived facts outside the journal: login states, single-use tokens, locks, counters.';
comment on column halo_kv.key is 'Bytes; prefixes tell the uses apart.';
comment on column halo_kv.value is 'What was put; of a lock its random owner.';
comment on column halo_kv.number is 'Of counters and raised numbers.';
comment on column halo_kv.expires_at is
  'Dead from then on, on the database clock, whether or not it was swept; null: never.';

create table halo_leases (
  name text collate "C" not null,
  holder bytea not null,
  token bigint not null,
  expires_at timestamptz not null,
  constraint halo_leases_pkey primary key (name),
  constraint halo_leases_name_form check (name ~ '^[a-z0-9./-]{1,128}$'),
  constraint halo_leases_holder_length check (octet_length(holder) between 1 and 64),
  constraint halo_leases_token_positive check (token > 0)
)
with (fillfactor = 50);
comment on table halo_leases is
  'Who may act: one row a lease, kept for ever, so that its token never falls.';
comment on column halo_leases.name is 'The lease.';
comment on column halo_leases.holder is 'The holder of the newest term: random, one a campaign.';
comment on column halo_leases.token is
  'The fencing token of that term: the epoch in the high 32 bits, the time below; only rises.';
comment on column halo_leases.expires_at is
  'The term is over from then on, on the database clock; a release sets it to that moment.';

create table halo_idempotency (
  key bytea not null,
  request bytea not null,
  answer bytea not null,
  tx bigint not null,
  at timestamptz not null,
  constraint halo_idempotency_pkey primary key (key),
  constraint halo_idempotency_key_length check (octet_length(key) = 32),
  constraint halo_idempotency_request_length check (octet_length(request) = 32),
  constraint halo_idempotency_tx_positive check (tx > 0)
);
-- Pruning takes the oldest.
create index halo_idempotency_age on halo_idempotency (at);
comment on table halo_idempotency is
  'The successful answers of requests that came with an Idempotency-Key. Inserted, then pruned.';
comment on column halo_idempotency.key is
  'SHA-256 over caller, tenant, method, path and key, each length-prefixed.';
comment on column halo_idempotency.request is
  'SHA-256 over query, If-Match and body, each length-prefixed.';
comment on column halo_idempotency.answer is
  'The answer as it was given, a buffer that the database never reads.';
comment on column halo_idempotency.tx is 'The transaction that did the thing.';
comment on column halo_idempotency.at is 'Its time.';

create table halo_epoch (
  epoch bigint not null,
  system_identifier bigint not null,
  timeline integer not null,
  server_start timestamptz not null,
  since timestamptz not null default clock_timestamp(),
  constraint halo_epoch_pkey primary key (epoch),
  constraint halo_epoch_life unique (system_identifier, timeline, server_start),
  constraint halo_epoch_positive check (epoch > 0)
);
comment on table halo_epoch is
  'The lives of the database server that were seen, in order. Append-only.';
comment on column halo_epoch.epoch is
  'Rises from life to life, at least with the time; the high bits of fencing tokens.';
comment on column halo_epoch.system_identifier is 'Of the database cluster.';
comment on column halo_epoch.timeline is 'Of its write-ahead log: another one after a promotion.';
comment on column halo_epoch.server_start is 'When the server process started.';
comment on column halo_epoch.since is 'When it was seen first.';

create table halo_heartbeat (
  replica text collate "C" not null,
  at timestamptz not null,
  server_start timestamptz not null,
  feature_level integer not null,
  streams integer[] not null,
  positions bigint[] not null,
  fold_versions integer[] not null,
  state_digests bigint[] not null,
  constraint halo_heartbeat_pkey primary key (replica),
  constraint halo_heartbeat_replica_form check (replica ~ '^[A-Za-z0-9._-]{1,128}$'),
  constraint halo_heartbeat_feature_positive check (feature_level > 0)
)
with (fillfactor = 50);
comment on table halo_heartbeat is
  'The replicas that are alive: each writes its row twice a second. Old rows are removed.';
comment on column halo_heartbeat.replica is 'The replica: random, one a process.';
comment on column halo_heartbeat.at is 'When it wrote last, on the database clock.';
comment on column halo_heartbeat.server_start is 'The server life that it wrote to.';
comment on column halo_heartbeat.feature_level is
  'The newest record types that it can read; nobody writes newer ones than all can read.';
comment on column halo_heartbeat.streams is 'The streams that the next columns speak of.';
comment on column halo_heartbeat.positions is 'How far each is folded there.';
comment on column halo_heartbeat.fold_versions is 'By which fold.';
comment on column halo_heartbeat.state_digests is
  'The digest of what it folded to: equal on all replicas at equal position and fold version.';

-- Null until a stream is compacted for the first time; then together they prove what remains.
alter table halo_streams
  add column floor_digest bigint,
  add column floor_rows bigint,
  add column floor_sum bigint,
  add constraint halo_streams_floor_proved check (
    floor = 0
    or (floor_digest is not null and floor_rows is not null and floor_sum is not null));
comment on column halo_streams.floor_digest is 'The digest of the row at the floor.';
comment on column halo_streams.floor_rows is 'How many rows remain at or below the floor.';
comment on column halo_streams.floor_sum is
  'The sum of their checksums, modulo 2 to the 64, as a signed number.';
