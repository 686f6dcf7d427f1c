-- CALL: what each form of an argument means, where the engines once disagreed.

-- case: names_and_casts
create namespace {ns};
create table {ns}.t (id bigint) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id from range(3);
insert into {ns}.t select /*+ coalesce(1) */ id from range(3, 5);
call local.system.ancestors_of('{nsname} . t');
-- error: Cannot handle an empty identifier for parameter 'table'
call local.system.ancestors_of(' ');
-- error: DOUBLE_NAMED_ARGUMENT_REFERENCE
call local.system.ancestors_of('{nsname}.t', snapshot_id => 1, snapshot_id => 2);
set spark.sql.timestampType=TIMESTAMP_NTZ;
-- error: no valid snapshot older than: 1577836800000
call local.system.rollback_to_timestamp('{nsname}.t', timestamp'2020-01-01');
-- error: no valid snapshot older than: 1577833200000
call local.system.rollback_to_timestamp('{nsname}.t', timestamp'2020-01-01 00:00:00+01:00');
set spark.sql.timestampType=TIMESTAMP_LTZ;
set spark.sql.ansi.enabled=false;
-- error: Parameter 'snapshot_id' is not set
call local.system.rollback_to_snapshot('{nsname}.t', 'x');
-- error: Cannot roll back to unknown snapshot id: 12
call local.system.rollback_to_snapshot('{nsname}.t', '12.7');
call local.system.expire_snapshots(table => '{nsname}.t', retain_last => 'x');
call local.system.expire_snapshots(table => '{nsname}.t', snapshot_ids => array('1'));
-- error: DATATYPE_MISMATCH
call local.system.remove_orphan_files(table => '{nsname}.t', dry_run => 'maybe');
-- error: DATATYPE_MISMATCH
call local.system.rollback_to_timestamp('{nsname}.t', 1577836800);
select count(*) from {ns}.t;

-- case: rewrites
create namespace {ns};
create table {ns}.t (id bigint, p int, n struct<a: int>) using iceberg partitioned by (p);
insert into {ns}.t select /*+ coalesce(1) */ id, 0, named_struct('a', int(id)) from range(10);
insert into {ns}.t select /*+ coalesce(1) */ id, 0, null from range(10);
-- error: unsupported strategy
call local.system.rewrite_data_files('{nsname}.t', '');
-- error: Cannot parse predicates in where option
call local.system.rewrite_data_files('{nsname}.t', where => '');
-- error: branch does not exist
call local.system.rewrite_data_files('{nsname}.t', branch => '', options => map('rewrite-all', true));
-- error: Cannot sort by non-primitive source field
call local.system.rewrite_data_files('{nsname}.t', 'sort', 'n', map('rewrite-all', true));
-- error: in ZOrdering, the type is unsupported
call local.system.rewrite_data_files('{nsname}.t', 'sort', 'zorder(n)', map('rewrite-all', true));
-- error: Cannot use less than 1 byte for variable length types with ZOrder
call local.system.rewrite_data_files('{nsname}.t', 'sort', 'zorder(id)', map('var-length-contribution', '0'));
call local.system.rewrite_data_files('{nsname}.t', 'sort', 'zorder(id), zorder(id)', map('cache-delete-files', 'true'));
-- error: Cannot use options [max-output-size], they are not supported by the action or the rewriter HILBERT
call local.system.rewrite_data_files('{nsname}.t', 'sort', 'hilbert(id)', map('max-output-size', '4'));
-- error: the value must be positive integer
call local.system.rewrite_data_files('{nsname}.t', options => map('max-files-to-rewrite', '0'));
-- error: specified field(s) [id] were not found in current partition spec
call local.system.rewrite_manifests('{nsname}.t', sort_by => array('id'));
-- error: Cannot parse predicates in where option
call local.system.rewrite_position_delete_files('{nsname}.t', where => '');
call local.system.rewrite_data_files('{nsname}.t', null, null, map('min-input-files', 2), 'p = 0 and n.a = 1', null);
-- error: Cannot find provided version file
call local.system.rewrite_table_path('{nsname}.t', '{loc}', '/moved', '{loc}/t/metadata/v2.metadata.json');
-- error: the location is empty
call local.system.remove_orphan_files(table => '{nsname}.t', location => '');
-- error: Invalid mode
call local.system.remove_orphan_files(table => '{nsname}.t', prefix_mismatch_mode => '');
-- error: DUPLICATED_MAP_KEY
call local.system.remove_orphan_files(table => '{nsname}.t', equal_schemes => map('a', 'b', 'a', 'c'));
-- error: NULL_MAP_KEY
call local.system.remove_orphan_files(table => '{nsname}.t', equal_schemes => map(null, 'a'));
-- error: is null
call local.system.remove_orphan_files(table => '{nsname}.t', equal_schemes => map('a', null));
-- error: Start version('') cannot be empty.
call local.system.rewrite_table_path('{nsname}.t', '{loc}', '/moved', start_version => '');
-- error: Staging location('') cannot be empty.
call local.system.rewrite_table_path('{nsname}.t', '{loc}', '/moved', staging_location => '');

-- case: deletes_by_partition
create namespace {ns};
create table {ns}.t (id bigint, p int) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='merge-on-read', 'write.delete.granularity'='partition');
insert into {ns}.t select /*+ coalesce(1) */ id, 0 from range(10);
delete from {ns}.t where id = 1;
delete from {ns}.t where id = 2;
select content, record_count from {ns}.t.files;
call local.system.rewrite_position_delete_files('{nsname}.t', map('rewrite-all', true));
select content, record_count from {ns}.t.files;

-- case: changelog
create namespace {ns};
create table {ns}.t (id bigint) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id from range(3);
alter table {ns}.t create branch b;
-- set: head
select snapshot_id from {ns}.t.snapshots;
call local.system.create_changelog_view('{nsname}.t', 'of_{nsname}', map('end-snapshot-id', {head}));
select id, _change_type from of_{nsname};
-- error
call local.system.create_changelog_view('{nsname}.t', '');
-- error
call local.system.create_changelog_view('{nsname}.t.branch_b', 'of_{nsname}');

-- case: imports
-- each: v=1,2
create namespace {ns};
create table {ns}.t (id bigint, p int) using iceberg partitioned by (p) tblproperties ('format-version'='{v}');
insert overwrite directory '{loc}/f/p=1' using parquet select /*+ coalesce(1) */ id from range(3);
insert into {ns}.t select /*+ coalesce(1) */ id, 5 from range(2);
-- error: Cannot use branch (does not exist): nope
call local.system.add_files('{nsname}.t.branch_nope', '`parquet`.`{loc}/f`');
create table spark_catalog.default.{nsname} (id bigint, p int) using parquet partitioned by (p) location '{loc}/src';
insert into spark_catalog.default.{nsname} select /*+ coalesce(1) */ id, 1 from range(3);
call local.system.add_files('{nsname}.t', 'default.{nsname}', map('p', '5'), false);
call local.system.snapshot('default.{nsname}', 'local.{nsname}.kept', properties => map('gc.enabled', 'true', 'snapshot', 'false', 'k', 'v'));
drop table spark_catalog.default.{nsname};
create table spark_catalog.default.{nsname} (id bigint) using parquet;
call local.system.snapshot('default.{nsname}', 'local.{nsname}.of_nothing');
drop table spark_catalog.default.{nsname};
alter table {ns}.t drop partition field p;
-- error
call local.system.add_files('{nsname}.t', '`parquet`.`{loc}/f`', check_duplicate_files => false);
select * from {ns}.t;

-- case: wheres
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg partitioned by (s);
insert into {ns}.t values (1, 'a'), (2, 'b');
insert into {ns}.t values (3, 'a'), (4, 'b');
-- error: Cannot parse predicates in where option: null
call local.system.rewrite_data_files('{nsname}.t', where => 'null');
-- error: Cannot parse predicates in where option: _file is null
call local.system.rewrite_data_files('{nsname}.t', where => '_file is null');
-- error: Cannot parse predicates in where option: _pos = 1
call local.system.rewrite_data_files('{nsname}.t', where => '_pos = 1');
-- error: Cannot parse predicates in where option: _partition.s = 'a'
call local.system.rewrite_data_files('{nsname}.t', where => '_partition.s = ''a''');
-- error: Cannot parse predicates in where option: _spec_id = 0
call local.system.rewrite_position_delete_files('{nsname}.t', where => '_spec_id = 0');
-- error: Cannot parse predicates in where option: nope.t.id = 1
call local.system.rewrite_data_files('{nsname}.t', where => 'nope.t.id = 1');
call local.system.rewrite_data_files('{nsname}.t', where => '{ns}.t.s = ''a''', options => map('rewrite-all', 'true'));
call local.system.rewrite_data_files('{nsname}.t', where => '{nsname}.T.s = ''b'' and t.id > 1', options => map('rewrite-all', 'true'));
call local.system.rewrite_data_files('{nsname}.t', where => 's = ''b'' and null', options => map('rewrite-all', 'true'));
call local.system.rewrite_data_files('{nsname}.t', where => 's = null', options => map('rewrite-all', 'true'));
set spark.sql.caseSensitive = true;
-- error: Cannot parse predicates in where option: ID = 1
call local.system.rewrite_data_files('{nsname}.t', where => 'ID = 1');
-- error: Cannot parse predicates in where option: s = 'a' and Id + 1 = 2
call local.system.rewrite_data_files('{nsname}.t', where => 's = ''a'' and Id + 1 = 2');
-- error: Cannot parse predicates in where option: T.id = 1
call local.system.rewrite_data_files('{nsname}.t', where => 'T.id = 1');
-- error: Cannot parse predicates in where option: ID = 1
call local.system.rewrite_position_delete_files('{nsname}.t', where => 'ID = 1');
call local.system.rewrite_data_files('{nsname}.t', where => 't.s = ''a''', options => map('rewrite-all', 'true'));

-- case: functions_of_constants
create namespace {ns};
create table {ns}.t (id int, s string, d date) using iceberg partitioned by (bucket(4, id));
insert into {ns}.t values (1, 'a', date'2020-01-01'), (2, 'b', date'2020-01-01'), (3, 'c', date'2020-01-01');
insert into {ns}.t values (1, 'a', date'2020-01-01'), (2, 'b', date'2020-01-01'), (3, 'c', date'2020-01-01');
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, id) = local.system.bucket(4, 1)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, 1) = 0', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, 1) = 1', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'id = local.system.bucket(4, 1)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, 1) = local.system.bucket(4, id)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, 1) = local.system.bucket(4, 1)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, 1) in (0, 1, 2)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, id) in (local.system.bucket(4, 1), 2)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 's = local.system.truncate(1, ''abc'')', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'id = local.system.years(date''1971-01-01'')', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'd > local.system.days(timestamp''1971-01-01 10:00:00'')', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'id = abs(-1)', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.iceberg_version() = ''1''', options => map('rewrite-all','true'));
-- error
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, null) = 1', options => map('rewrite-all','true'));
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, cast(''1'' as int)) = local.system.bucket(4, id) and id < 3', options => map('rewrite-all','true'));
-- error
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, id + 1) = 1', options => map('rewrite-all','true'));
-- error
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(id, 4) = 1', options => map('rewrite-all','true'));
-- error
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.nope(4, 1) = 1', options => map('rewrite-all','true'));
-- error
call local.system.rewrite_data_files(table => '{ns}.t', where => 'local.system.bucket(4, nope) = 1', options => map('rewrite-all','true'));
select count(*) from {ns}.t.snapshots;

-- case: names_of_tables
create namespace {ns};
create table {ns}.t (id bigint) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id from range(3);
call local.system.ancestors_of('{nsname}./* a comment */t -- and another');
-- error: Cannot use branch (does not exist): nope
call local.system.ancestors_of('{nsname}.t.branch_nope');
-- error: Cannot use branch (does not exist): nope
call local.system.rewrite_manifests('{nsname}.t.branch_nope');
-- error: Cannot use branch (does not exist): nope
call local.system.expire_snapshots('{nsname}.t.branch_nope');
call local.system.ancestors_of('{nsname}.t.branch_main');
create table {ns}.empty (id bigint) using iceberg;
call local.system.expire_snapshots('{nsname}.empty.branch_main');
-- error: is a table in catalog 'spark_catalog'
call local.system.expire_snapshots('spark_catalog.default.t');
-- error
call local.system.create_changelog_view('{nsname}.t', identifier_columns => array(null));

-- case: descriptions
-- each: v=rollback_to_snapshot, rollback_to_timestamp, set_current_snapshot, cherrypick_snapshot, remove_orphan_files, rewrite_data_files, rewrite_manifests, rewrite_position_delete_files, expire_snapshots, ancestors_of, snapshot, migrate, add_files, register_table, publish_changes, create_changelog_view, fast_forward, compute_table_stats, compute_partition_stats, rewrite_table_path
describe procedure local.system.{v};

-- case: changelog_options
create namespace {ns};
create table {ns}.t (id bigint) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ id from range(3);
insert into {ns}.t select /*+ coalesce(1) */ id from range(3, 5);
delete from {ns}.t where id = 1;
-- set: a
-- mask: at
select snapshot_id, committed_at as at from {ns}.t.snapshots order by committed_at limit 1;
-- set: c
-- mask: at
select unix_millis(committed_at) at from {ns}.t.snapshots order by committed_at desc limit 1;
call local.system.create_changelog_view('{nsname}.t', 'of_{nsname}', map('Start-Snapshot-ID', '{a}'));
select id, _change_type, _change_ordinal from of_{nsname};
-- error
call local.system.create_changelog_view('{nsname}.t', 'of_{nsname}', map('start-snapshot-id', null));
call local.system.create_changelog_view('{nsname}.t', 'of_{nsname}', map('start-timestamp', '{c}'));
-- error: is not a parent ancestor of end snapshot
select id from of_{nsname};
call local.system.create_changelog_view('{nsname}.t', 'of_{nsname}', map('start-timestamp', '{c}', 'end-timestamp', '{c}'));
-- error: Cannot set start-timestamp to be greater than end-timestamp
select id from of_{nsname};
select id, _change_type from {ns}.t.CHANGES;
-- ordered
describe extended {ns}.t.changes;
show tblproperties {ns}.t.changes;
show tblproperties {ns}.t.changes ('format');
show create table {ns}.t.changes;

-- case: groups_of_other_specs
create namespace {ns};
create table {ns}.t (id bigint, p int) using iceberg partitioned by (p);
insert into {ns}.t select /*+ coalesce(1) */ id, int(id) from range(3);
alter table {ns}.t drop partition field p;
insert into {ns}.t select /*+ coalesce(1) */ id, null from range(3);
call local.system.rewrite_data_files('{nsname}.t', options => map('min-input-files', '4'));
select record_count, spec_id from {ns}.t.files;
alter table {ns}.t add partition field id;
insert into {ns}.t select /*+ coalesce(1) */ null, 1 from range(3);
call local.system.rewrite_data_files('{nsname}.t', options => map('min-input-files', '2'));
select partition, record_count, spec_id from {ns}.t.files;

-- case: sources_in_the_current_catalog
create namespace {ns};
create table spark_catalog.default.{nsname} (id bigint) using parquet location '{loc}/src';
insert into spark_catalog.default.{nsname} select /*+ coalesce(1) */ id from range(3);
create table {ns}.t (id bigint) using iceberg;
use local;
-- error: Found source catalog: local
call system.snapshot('default.{nsname}', '{nsname}.s');
call system.snapshot('spark_catalog.default.{nsname}', '{nsname}.s');
call system.add_files('{nsname}.t', 'default.{nsname}');
select * from {ns}.t;
use spark_catalog.default;
drop table spark_catalog.default.{nsname};

-- case: variants
create namespace {ns};
create table {ns}.t (id int, v variant) using iceberg tblproperties('format-version'='3');
insert into {ns}.t select /*+ coalesce(1) */ 1, parse_json('[1, 2]');
insert into {ns}.t select /*+ coalesce(1) */ id, parse_json(j) from (values (2, null), (3, 'null'), (4, '"s"')) as x(id, j);
alter table {ns}.t add column s struct<a: variant, b: int>;
alter table {ns}.t add column w variant;
insert into {ns}.t select /*+ coalesce(1) */ 5, null, named_struct('a', parse_json('8'), 'b', 3), parse_json('9');
call local.system.rewrite_data_files('{nsname}.t', options => map('rewrite-all', 'true'));
select id, to_json(v), to_json(s.a), s is null, to_json(w) from {ns}.t;
delete from {ns}.t where id = 4;
call local.system.create_changelog_view('{nsname}.t', 'of_{nsname}', identifier_columns => array('id'));
select id, to_json(v), to_json(s.a), to_json(w), _change_type, _change_ordinal from of_{nsname};
