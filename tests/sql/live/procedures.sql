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
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b');
insert into {ns}.t values (3, 'c');
delete from {ns}.t where id = 1;
update {ns}.t set s = 'bb' where id = 2;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'changes_of_t', identifier_columns => array('id'));
select id, s, _change_type, _change_ordinal from changes_of_t;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'net', net_changes => true);
select id, s, _change_type from net;
select id, s, _change_type, _change_ordinal from {ns}.t.changes;

-- case: add_files_partitioned
create namespace {ns};
create table {ns}.t (id bigint, s string, p int) using iceberg partitioned by (p);
create table {ns}.u (id bigint, s string) using iceberg;
insert overwrite directory '{loc}/files/p=1' using parquet select /*+ coalesce(1) */ id, 'f' || id as s from range(1, 4);
insert overwrite directory '{loc}/files/p=2' using parquet select /*+ coalesce(1) */ id, 'f' || id as s from range(4, 6);
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/files`', partition_filter => map('p', '1'));
select * from {ns}.t;
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/files`', partition_filter => map('p', '2'));
select * from {ns}.t;
select partition, record_count from {ns}.t.partitions;
-- error: already exist within the target table
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/files`');
-- error
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/files`', partition_filter => map('q', '2'));
-- error: Cannot find any matching partitions
call local.system.add_files(table => '{nsname}.t', source_table => '`parquet`.`{loc}/files`', partition_filter => map('p', '7'));
-- error: Cannot find a partition spec
call local.system.add_files(table => '{nsname}.u', source_table => '`parquet`.`{loc}/files`');
-- error: Cannot use partition filter with an unpartitioned table
call local.system.add_files(table => '{nsname}.u', source_table => '`parquet`.`{loc}/files/p=1`', partition_filter => map('p', '7'));
call local.system.add_files(table => '{nsname}.u', source_table => '`parquet`.`{loc}/files/p=1`');
select * from {ns}.u;
insert overwrite directory '{loc}/orc' using orc select /*+ coalesce(1) */ id, 'o' || id as s from range(10, 12);
call local.system.add_files(table => '{nsname}.u', source_table => '`orc`.`{loc}/orc`');
select * from {ns}.u;
-- error: parallelism
call local.system.add_files(table => '{nsname}.u', source_table => '`orc`.`{loc}/orc`', parallelism => 0);
-- error
call local.system.add_files(table => '{nsname}.missing', source_table => '`orc`.`{loc}/orc`');
create table {ns}.v1 (id bigint, s string) using iceberg tblproperties ('format-version'='1');
call local.system.add_files(table => '{nsname}.v1', source_table => '`parquet`.`{loc}/files/p=1`');
select * from {ns}.v1;

-- case: import_spark_tables
create namespace {ns};
create table spark_catalog.default.plain_{nsname} (id bigint, s string) using parquet location '{loc}/plain_src';
insert into spark_catalog.default.plain_{nsname} select /*+ coalesce(1) */ id, 's' || id from range(3);
create table {ns}.t (id bigint, s string) using iceberg;
call local.system.add_files(table => '{nsname}.t', source_table => 'spark_catalog.default.plain_{nsname}');
select * from {ns}.t;
-- error
call local.system.add_files(table => '{nsname}.t', source_table => 'spark_catalog.default.missing_{nsname}');
call local.system.snapshot('spark_catalog.default.plain_{nsname}', 'local.{nsname}.snap');
select * from {ns}.snap;
insert into {ns}.snap values (9, 'nine');
select * from {ns}.snap;
-- error
call local.system.snapshot('spark_catalog.default.plain_{nsname}', 'local.{nsname}.snap');
-- error
call local.system.snapshot('local.{nsname}.t', 'local.{nsname}.snap2');
-- error: Parallelism should be larger than 0
call local.system.snapshot(source_table => 'spark_catalog.default.plain_{nsname}', table => 'local.{nsname}.snap3', parallelism => 0);
-- error
call local.system.snapshot(source_table => '', table => 'local.{nsname}.snap3');
call local.system.snapshot(source_table => 'spark_catalog.default.plain_{nsname}', table => 'local.{nsname}.snap4', properties => map('k', 'v'));
-- error
call local.system.migrate('{nsname}.t');

-- case: orphans
create namespace {ns};
create table {ns}.t (id bigint, s string, p int) using iceberg partitioned by (p);
insert into {ns}.t select id, 's' || id, id % 2 from range(10);
insert overwrite directory '{loc}/t/data/p=9' using parquet select /*+ coalesce(1) */ id from range(3);
call local.system.remove_orphan_files('{nsname}.t');
call local.system.remove_orphan_files(table => '{nsname}.t', older_than => timestamp'2020-01-01 00:00:00');
-- error: less than 24 hours
call local.system.remove_orphan_files(table => '{nsname}.t', older_than => timestamp'2100-01-01 00:00:00');
-- error: max_concurrent_deletes should have value > 0
call local.system.remove_orphan_files(table => '{nsname}.t', max_concurrent_deletes => 0);
-- error
call local.system.remove_orphan_files(table => '{nsname}.t', prefix_mismatch_mode => 'nope');
create temporary view inventory_{nsname} as select '{loc}/t/data/p=9/lost.parquet' as file_path, timestamp'2020-01-01 00:00:00' as last_modified;
call local.system.remove_orphan_files(table => '{nsname}.t', file_list_view => 'inventory_{nsname}', dry_run => true);
call local.system.remove_orphan_files(table => '{nsname}.t', file_list_view => 'inventory_{nsname}');
create temporary view wrong_{nsname} as select 1 as file_path, timestamp'2020-01-01 00:00:00' as last_modified;
-- error: is not a string
call local.system.remove_orphan_files(table => '{nsname}.t', file_list_view => 'wrong_{nsname}');
create temporary view other_{nsname} as select 'a' as file_path, 'b' as last_modified;
-- error: is not a timestamp
call local.system.remove_orphan_files(table => '{nsname}.t', file_list_view => 'other_{nsname}');
select count(*), sum(id) from {ns}.t;
alter table {ns}.t set tblproperties ('gc.enabled'='false');
-- error: GC is disabled
call local.system.remove_orphan_files('{nsname}.t');

-- case: statistics_more
create namespace {ns};
create table {ns}.t (id bigint, s string, n struct<a: int, b: double>, l array<int>, p int) using iceberg partitioned by (p);
call local.system.compute_table_stats('{nsname}.t');
call local.system.compute_partition_stats('{nsname}.t');
insert into {ns}.t select id, 's' || (id % 7), named_struct('a', cast(id % 3 as int), 'b', id / 2.0), array(1), id % 2 from range(20);
insert into {ns}.t select id, null, null, null, 2 from range(5);
delete from {ns}.t where id = 3;
call local.system.compute_table_stats('{nsname}.t');
call local.system.compute_table_stats(table => '{nsname}.t', columns => array('n.a', 's'));
-- error: non-primitive
call local.system.compute_table_stats(table => '{nsname}.t', columns => array('l'));
-- error
call local.system.compute_table_stats(table => '{nsname}.t', columns => array());
call local.system.compute_partition_stats('{nsname}.t');
call local.system.compute_partition_stats('{nsname}.t');
-- error: Snapshot not found: 7
call local.system.compute_partition_stats('{nsname}.t', 7);
create table {ns}.u (id bigint) using iceberg;
insert into {ns}.u values (1);
-- error: Table must be partitioned
call local.system.compute_partition_stats('{nsname}.u');

-- case: changelog_more
create namespace {ns};
create table {ns}.t (id bigint, s string, m double) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id, 's' || id, 1.5 from range(6);
insert into {ns}.t values (7, null, null), (7, null, null);
delete from {ns}.t where id in (1, 2);
insert into {ns}.t values (1, 's1', 1.5), (9, 'x', 2);
update {ns}.t set s = 'changed', m = 3 where id in (3, 9);
insert overwrite {ns}.t select id, s, m from {ns}.t where id <> 4;
call local.system.create_changelog_view('{nsname}.t');
select id, s, m, _change_type, _change_ordinal from t_changes;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'netted', net_changes => true);
select id, s, m, _change_type, _change_ordinal from netted;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'updated', identifier_columns => array('id'), compute_updates => true, options => map());
-- error
select id, s, m, _change_type, _change_ordinal from updated where _change_ordinal = 1 and id = 7 and raise_error('x') is null;
select id, s, m, _change_type from updated where _change_ordinal in (4, 5);
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'plain', identifier_columns => array('id'), compute_updates => false);
select count(*) from plain;
-- error: identifier columns are not set
call local.system.create_changelog_view(table => '{nsname}.t', compute_updates => true);
-- error: Not support net changes with update images
call local.system.create_changelog_view(table => '{nsname}.t', compute_updates => true, identifier_columns => array('id'), net_changes => true);
create table {ns}.maps (id bigint, m map<string, int>) using iceberg;
-- error: unorderable columns
call local.system.create_changelog_view('{nsname}.maps');

-- case: rewrite_more
create namespace {ns};
create table {ns}.t (id bigint, s string, p int) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id, 's' || id, cast(id % 2 as int) from range(10);
insert into {ns}.t select /*+ coalesce(1) */ id, 's' || id, cast(id % 2 as int) from range(10, 20);
alter table {ns}.t create branch b;
insert into {ns}.t.branch_b select /*+ coalesce(1) */ id, 's' || id, 0 from range(20, 25);
call local.system.rewrite_data_files(table => '{nsname}.t', branch => 'b', options => map('rewrite-all', 'true'));
select count(*), sum(id) from {ns}.t.branch_b;
select sort_order_id, spec_id, record_count from {ns}.t.files;
-- error: branch does not exist
call local.system.rewrite_data_files(table => '{nsname}.t', branch => 'nope');
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('min-input-files', '2'));
select sort_order_id, spec_id, record_count from {ns}.t.files;
alter table {ns}.t add partition field p;
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('rewrite-all', 'true'));
select partition, spec_id, record_count, sort_order_id from {ns}.t.files;
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('rewrite-all', 'true', 'output-spec-id', '0'));
select spec_id, record_count from {ns}.t.files;
alter table {ns}.t write ordered by s desc;
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'sort', options => map('rewrite-all', 'true'));
select partition, spec_id, record_count, sort_order_id from {ns}.t.files;
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'id asc', where => 'p = 1 and id > 0', options => map('rewrite-all', 'true'));
select partition, record_count, sort_order_id from {ns}.t.files;
call local.system.rewrite_data_files(table => '{nsname}.t', where => 'p = 1 or 1 = 2', options => map('rewrite-all', 'true', 'partial-progress.enabled', 'true'));
call local.system.rewrite_data_files(table => '{nsname}.t', where => 'p = 7', options => map('rewrite-all', 'true'));
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'zorder(p)');
-- error: Cannot mix identity sort columns and a Zorder or Hilbert sort expression
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'id, zorder(s)');
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'nope asc');
-- error: must be > 0
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('min-input-files', '0'));
-- error: larger than the max threshold
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('target-file-size-bytes', '100', 'max-file-size-bytes', '50'));
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('output-spec-id', '9'));
-- error: the value must be positive
call local.system.rewrite_data_files(table => '{nsname}.t', options => map('max-concurrent-file-group-rewrites', '0'));
create table {ns}.empty (id bigint) using iceberg;
call local.system.rewrite_data_files('{nsname}.empty');
call local.system.rewrite_position_delete_files('{nsname}.empty');
select count(*), sum(id), max(s) from {ns}.t;

-- case: rewrite_deletes_more
-- each: g=file,partition
create namespace {ns};
create table {ns}.t (id bigint, p int) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='merge-on-read', 'write.delete.granularity'='{g}');
insert into {ns}.t select /*+ coalesce(1) */ id, 0 from range(10);
insert into {ns}.t select /*+ coalesce(1) */ id, 0 from range(10, 20);
insert into {ns}.t select /*+ coalesce(1) */ id, 1 from range(20, 30);
delete from {ns}.t where id = 3;
delete from {ns}.t where id = 13;
delete from {ns}.t where id = 23;
call local.system.rewrite_position_delete_files(table => '{nsname}.t', where => 'p = 0', options => map('rewrite-all', 'true'));
select content, count(*), sum(record_count) from {ns}.t.files group by content;
select count(*), sum(id) from {ns}.t;
delete from {ns}.t where id = 5;
alter table {ns}.t set tblproperties ('format-version'='3');
call local.system.rewrite_position_delete_files(table => '{nsname}.t', options => map('rewrite-all', 'true'));
select content, file_format, count(*), sum(record_count) from {ns}.t.files group by content, file_format;
select count(*), sum(id) from {ns}.t;

-- case: table_path
create namespace {ns};
create table {ns}.t (id bigint, p int) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='merge-on-read');
insert into {ns}.t select /*+ coalesce(1) */ id, 0 from range(10);
delete from {ns}.t where id = 3;
insert into {ns}.t select /*+ coalesce(1) */ id, 1 from range(10);
-- mask: file_list_location
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '{loc}/t', target_prefix => '{wh}/moved/t');
-- mask: file_list_location
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '{loc}/t', target_prefix => '{wh}/moved/t', start_version => 'v2.metadata.json');
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '{loc}/t', target_prefix => '{wh}/moved/t', create_file_list => false, staging_location => '{wh}/staging_{nsname}');
-- error: Cannot find provided version file
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '{loc}/t', target_prefix => '/x', start_version => 'nope');
-- error: cannot be empty
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '', target_prefix => '/x');
-- error: cannot be the same as target prefix
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '{loc}/t', target_prefix => '{loc}/t');
select count(*) from {ns}.t;

-- case: changelog_views_show_the_present
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a');
-- set: first
select snapshot_id from {ns}.t.snapshots;
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'cv_{nsname}');
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'cu_{nsname}', identifier_columns => array('id'));
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'ce_{nsname}', options => map('end-snapshot-id', '{first}'));
insert into {ns}.t values (2, 'b');
select id, s, _change_type from cv_{nsname};
select id, s, _change_type from cu_{nsname};
select id, s, _change_type from ce_{nsname};
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'c1_{nsname}', options => map('start-snapshot-id', '12345'));
-- error: Starting snapshot (exclusive) 12345 is not a parent ancestor of end snapshot
select * from c1_{nsname};
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'c2_{nsname}', options => map('end-snapshot-id', '12345'));
-- error
select count(*) from c2_{nsname};
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'c3_{nsname}', options => map('start-timestamp', '5', 'end-timestamp', '1'));
-- error: Cannot set start-timestamp to be greater than end-timestamp for changelogs
select * from c3_{nsname};
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'c4_{nsname}', options => map('start-snapshot-id', 'abc'), net_changes => true);
-- error
select * from c4_{nsname};
-- error: Can't time travel in changelog
call local.system.create_changelog_view(table => '{nsname}.t', changelog_view => 'c5_{nsname}', options => map('versionAsOf', '{first}'));
-- error
select * from c5_{nsname};
drop table {ns}.t;
-- error
select * from cv_{nsname};

-- case: hilbert
create namespace {ns};
create table {ns}.t (a bigint, b bigint, p int, m map<int, int>, s struct<x: int>) using iceberg partitioned by (p);
insert into {ns}.t (a, b, p) select /*+ coalesce(1) */ id % 16, id div 16, id % 2 from range(256);
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'sort', sort_order => 'hilbert(a, b)', options => map('rewrite-all', 'true', 'compression-factor', '1.5'));
select p, _pos, a, b from {ns}.t;
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'hilbert(b, p), hilbert(a)', where => 'p = 1', options => map('rewrite-all', 'true', 'cache-delete-files', 'true'));
select p, _pos, a, b from {ns}.t;
select p, record_count, sort_order_id from (select partition.p p, record_count, sort_order_id from {ns}.t.files);
-- error: Cannot HILBERT, all columns provided were identity partition columns
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'hilbert(p)');
-- error: Unable to parse sortOrder: hilbert()
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'hilbert()');
-- error: Cannot mix Zorder and Hilbert sort expressions: a, zorder(b), hilbert(a)
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'a, zorder(b), hilbert(a)');
-- error: Cannot mix identity sort columns and a Zorder or Hilbert sort expression: a, hilbert(b)
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'a, hilbert(b)');
-- error: Cannot find column 'nope' in table schema
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'hilbert(nope)');
-- error: the type is unsupported
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'hilbert(m)', options => map('rewrite-all', 'true'));
-- error
call local.system.rewrite_data_files(table => '{nsname}.t', sort_order => 'hilbert(s.x)', options => map('rewrite-all', 'true'));
-- error: Cannot set rewrite mode
call local.system.rewrite_data_files(table => '{nsname}.t', strategy => 'binpack', sort_order => 'hilbert(a)');
-- error
alter table {ns}.t write ordered by hilbert(a, b);
-- error
alter table {ns}.t add partition field hilbert(a, b);
