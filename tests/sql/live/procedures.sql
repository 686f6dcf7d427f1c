-- CALL: maintenance procedures beyond the snapshot family.

-- case: rewrite_data_files
create namespace {ns};
create table {ns}.t (id bigint, s string, p int) using iceberg partitioned by (p);
insert into {ns}.t select id, 's' || id, 0 from range(10);
insert into {ns}.t select id, 's' || id, 0 from range(10, 20);
insert into {ns}.t select id, 's' || id, 1 from range(20, 30);
call local.system.rewrite_data_files('{nsname}.t');
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('min-input-files', '2'));
select count(*), sum(id) from {ns}.t;
select p, count(*) from {ns}.t group by p;
select partition, file_count from {ns}.t.partitions;
insert into {ns}.t select id, 's' || id, 1 from range(30, 40);
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'sort', sort_order => 'id desc nulls last', options => map('rewrite-all', 'true'));
insert into {ns}.t select id, 's' || id, 1 from range(40, 50);
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'sort', sort_order => 'zorder(id, s)', where => 'p = 1', options => map('rewrite-all', 'true'));
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'nope');
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('nope', '1'));
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'binpack', sort_order => 'id');
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'sort');
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', where => 'nope = 1');
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'zorder(nope)', strategy => 'sort');
-- error
call local.system.rewrite_data_files(tble => '{nsname}.t');
select operation, summary['total-records'] from {ns}.t.snapshots;

-- case: rewrite_with_deletes
-- each: v=2,3
create namespace {ns};
create table {ns}.t (id bigint, s string) using iceberg tblproperties ('format-version'='{v}', 'write.delete.mode'='merge-on-read');
insert into {ns}.t select /*+ coalesce(1) */ id, 's' || id from range(10);
insert into {ns}.t select /*+ coalesce(1) */ id, 's' || id from range(10, 20);
delete from {ns}.t where id in (3, 13);
delete from {ns}.t where id = 4;
call local.system.rewrite_position_delete_files(table => '{nsname}.t', options => map('rewrite-all', 'true'));
select count(*), sum(id) from {ns}.t;
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('delete-file-threshold', '1'));
select count(*), sum(id) from {ns}.t;
select content, count(*) from {ns}.t.files group by content;

-- case: rewrite_manifests
create namespace {ns};
create table {ns}.t (id bigint, p int) using iceberg partitioned by (p);
call local.system.rewrite_manifests('{nsname}.t');
insert into {ns}.t select id, id % 4 from range(8);
call local.system.rewrite_manifests('{nsname}.t');
insert into {ns}.t select id, id % 4 from range(8);
insert into {ns}.t select id, id % 4 from range(8);
call local.system.rewrite_manifests(table => '{nsname}.t', use_caching => false);
call local.system.rewrite_manifests(table => '{nsname}.t', sort_by => array('p'));
select count(*) from {ns}.t.manifests;
alter table {ns}.t add partition field bucket(2, id);
insert into {ns}.t values (100, 1);
insert into {ns}.t values (101, 1);
call local.system.rewrite_manifests('{nsname}.t');
call local.system.rewrite_manifests(table => '{nsname}.t', spec_id => 0);
-- error
call local.system.rewrite_manifests(table => '{nsname}.t', spec_id => 9);
-- error
call local.system.rewrite_manifests(table => '{nsname}.t', sort_by => array('nope'));
-- error
call local.system.rewrite_manifests(table => '{nsname}.missing');
-- error
call local.system.rewrite_manifests();
-- error
call local.system.rewrite_manifest('{nsname}.t');
select operation from {ns}.t.snapshots;

-- case: expire
create namespace {ns};
create table {ns}.t (id bigint) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id from range(3);
insert overwrite {ns}.t select /*+ coalesce(1) */ id from range(4);
insert overwrite {ns}.t select /*+ coalesce(1) */ id from range(5);
call local.system.expire_snapshots('{nsname}.t');
call local.system.expire_snapshots(table => '{nsname}.t', older_than => timestamp'2100-01-01 00:00:00', retain_last => 2);
call local.system.expire_snapshots(table => '{nsname}.t', older_than => timestamp'2100-01-01 00:00:00');
select count(*) from {ns}.t.snapshots;
select count(*) from {ns}.t;
-- error
call local.system.expire_snapshots(table => '{nsname}.t', retain_last => 0);
call local.system.expire_snapshots(table => '{nsname}.t', snapshot_ids => array(5));
-- error
call local.system.expire_snapshots(table => '{nsname}.t', max_concurrent_deletes => 0);
-- error
call local.system.expire_snapshots(table => '{nsname}.t', older_than => 'nope');

-- case: add_files
create namespace {ns};
create table {ns}.t (id bigint, s string) using iceberg;
insert into {ns}.t values (0, 'zero');
insert overwrite directory '{loc}/plain' using parquet select /*+ coalesce(1) */ id, 'f' || id as s from range(1, 4);
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/plain`');
select * from {ns}.t;
-- error
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/plain`');
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/plain`', check_duplicate_files => false);
select count(*) from {ns}.t;
select count(*) from {ns}.t.files;

-- case: statistics
create namespace {ns};
create table {ns}.t (id bigint, s string, p int) using iceberg partitioned by (p);
insert into {ns}.t select id, 's' || (id % 3), id % 2 from range(20);
call local.system.compute_table_stats('{nsname}.t');
call local.system.compute_table_stats(table => '{nsname}.t', columns => array('id', 's'));
call local.system.compute_partition_stats('{nsname}.t');
-- error
call local.system.compute_table_stats(table => '{nsname}.t', columns => array('nope'));
-- error
call local.system.compute_table_stats(table => '{nsname}.t', snapshot_id => 5);

-- case: changelog
create namespace {ns};
create table {ns}.t (id bigint, s string) using iceberg;
insert into {ns}.t values (1, 'a'), (2, 'b');
insert into {ns}.t values (3, 'c');
delete from {ns}.t where id = 1;
update {ns}.t set s = 'bb' where id = 2;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'changes_of_t', identifier_columns => array('id'));
select id, s, _change_type, _change_ordinal from changes_of_t;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'net', net_changes => true);
select id, s, _change_type from net;
select id, s, _change_type, _change_ordinal from {ns}.t.changes;
