-- What a release after this one could bring: a column, a table and a constraint, all additive.
-- Only tests/nemesis has it, to play a rolling upgrade and back.
--
-- Needs: a binary of schema 1 or newer.
-- Locks: an exclusive one on halo_streams and on halo_journal for a moment.
-- min-binary-schema: 1

create table halo_next (
  id bigint not null,
  constraint halo_next_pkey primary key (id)
);
comment on table halo_next is 'Of the next release.';
comment on column halo_next.id is 'Nothing yet.';

alter table halo_streams add column next_note text;
comment on column halo_streams.next_note is 'Of the next release.';

alter table halo_journal add column next_mark smallint;
comment on column halo_journal.next_mark is 'Of the next release.';
