-- Metadata tables: exact columns, types, comments and rows, over evolving specs, branches, deletes.

-- case: columns
-- each: t=history,snapshots,refs,metadata_log_entries,manifests,all_manifests,files,all_data_files,delete_files,entries,all_entries,partitions,position_deletes
create namespace {ns};
create table {ns}.x (id int, p string, s struct<a: int, b: array<string>>) using iceberg partitioned by (p, bucket(4, id)) tblproperties ('format-version'='3');
-- ordered
describe {ns}.x.{t};
select * from {ns}.x.{t} where 1 = 0;
show columns in {ns}.x.{t};
insert into {ns}.x values (1, 'a', named_struct('a', 1, 'b', array('q')));
select count(*) > 0 from {ns}.x.{t};

-- case: unpartitioned
create namespace {ns};
create table {ns}.x (id int) using iceberg;
-- ordered
describe {ns}.x.files;
-- ordered
describe {ns}.x.partitions;
-- ordered
describe {ns}.x.position_deletes;
select * from {ns}.x.partitions;
select * from {ns}.x.files;
select * from {ns}.x.snapshots;
select * from {ns}.x.history;
select * from {ns}.x.refs;
select * from {ns}.x.manifests;
select * from {ns}.x.entries;
select count(*) from {ns}.x.metadata_log_entries;
insert into {ns}.x select /*+ coalesce(1) */ * from values (1), (2);
insert into {ns}.x values (3);
select record_count, file_count, position_delete_record_count from {ns}.x.partitions;
select content, spec_id, record_count, sort_order_id, first_row_id, equality_ids from {ns}.x.files;
select operation, summary['total-records'], summary['total-data-files'] from {ns}.x.snapshots;
select * from {ns}.x.history;
select * from {ns}.x.refs;
select content, partition_spec_id, added_data_files_count, existing_data_files_count, deleted_data_files_count, partition_summaries from {ns}.x.manifests;
select status, sequence_number, file_sequence_number from {ns}.x.entries;
select latest_schema_id, latest_sequence_number from {ns}.x.metadata_log_entries;

-- case: evolved_specs
create namespace {ns};
create table {ns}.x (id int, p string, ts timestamp) using iceberg partitioned by (p);
insert into {ns}.x values (1, 'a', timestamp'2020-01-01 10:00:00'), (2, null, null);
alter table {ns}.x add partition field days(ts);
insert into {ns}.x values (3, 'a', timestamp'2020-01-02 10:00:00');
alter table {ns}.x drop partition field p;
insert into {ns}.x values (4, 'b', null);
alter table {ns}.x add partition field truncate(1, p) as tp;
insert into {ns}.x values (5, 'ccc', timestamp'1969-12-31 23:00:00');
select partition, spec_id, record_count from {ns}.x.files;
select partition, spec_id, record_count, file_count from {ns}.x.partitions;
select partition_spec_id, partition_summaries, added_data_files_count from {ns}.x.manifests;
select record_count from {ns}.x.files where partition.p = 'a';
select record_count from {ns}.x.files where partition.ts_day = date'2020-01-02';
select record_count from {ns}.x.files where partition.tp is not null;
select record_count from {ns}.x.partitions where partition.p is null;
select spec_id, sum(record_count) from {ns}.x.partitions group by spec_id;
select data_file.partition, status from {ns}.x.entries where data_file.spec_id = 2;
alter table {ns}.x rename column p to pp;
alter table {ns}.x drop column id;
select partition, record_count from {ns}.x.files;
select * from {ns}.x;
-- error
select pp from {ns}.x.files;
select readable_metrics from {ns}.x.files where 1 = 0;
create table {ns}.y (id int, p string, q int, d date) using iceberg partitioned by (p, bucket(2, q), days(d));
insert into {ns}.y values (1, 'a', 1, date'2020-01-01'), (2, 'b', 2, date'2020-01-02');
alter table {ns}.y drop partition field p;
alter table {ns}.y drop partition field q_bucket;
alter table {ns}.y drop column p;
select partition from {ns}.y.files;
select partition, record_count from {ns}.y.partitions;
alter table {ns}.y drop column q;
alter table {ns}.y add column p string;
alter table {ns}.y add partition field p;
insert into {ns}.y values (4, date'2020-01-03', 'z');
select partition, spec_id from {ns}.y.files;
select id, _partition from {ns}.y;
alter table {ns}.y drop partition field d_day;
alter table {ns}.y drop partition field p;
alter table {ns}.y drop column d;
alter table {ns}.y drop column p;
select id, _partition from {ns}.y;
-- ordered
describe {ns}.y.files;

-- case: with_deletes
-- each: v=2,3
create namespace {ns};
create table {ns}.x (id int, p int) using iceberg partitioned by (p) tblproperties ('format-version'='{v}', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read');
insert into {ns}.x select /*+ coalesce(1) */ cast(id as int), cast(id % 2 as int) from range(0, 10, 1, 1);
delete from {ns}.x where id in (0, 3);
delete from {ns}.x where id = 2;
update {ns}.x set id = 100 where id = 4;
select content, lower(file_format), record_count from {ns}.x.files;
select content, record_count from {ns}.x.delete_files;
select content, record_count from {ns}.x.data_files;
select content, record_count from {ns}.x.all_delete_files;
select content, count(*) from {ns}.x.all_files group by content;
select pos, row, partition, spec_id from {ns}.x.position_deletes;
select partition, record_count, file_count, position_delete_record_count, position_delete_file_count, equality_delete_file_count from {ns}.x.partitions;
select content, added_delete_files_count, existing_delete_files_count, deleted_delete_files_count from {ns}.x.manifests;
select status, data_file.content, sequence_number from {ns}.x.entries;
select operation, summary['added-position-deletes'], summary['total-position-deletes'], summary['total-delete-files'] from {ns}.x.snapshots;
select id, _pos, _deleted from {ns}.x;
select count(*) from {ns}.x;
select min(id), max(id), count(id) from {ns}.x;
delete from {ns}.x where p = 0;
select content, record_count from {ns}.x.files;
select partition, record_count, position_delete_record_count from {ns}.x.partitions;

-- case: branches
create namespace {ns};
create table {ns}.x (id int) using iceberg;
insert into {ns}.x values (1);
alter table {ns}.x create branch b retain 7 days with snapshot retention 2 snapshots 3 days;
alter table {ns}.x create tag g retain 5 hours;
insert into {ns}.x.branch_b values (2);
select name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms from {ns}.x.refs;
select r.name, s.operation, s.parent_id is null root from {ns}.x.refs r join {ns}.x.snapshots s using (snapshot_id);
select count(*) from {ns}.x.all_files;
select count(*) from {ns}.x.all_data_files;
select count(*) from {ns}.x.all_entries;
select count(*), count(distinct reference_snapshot_id) from {ns}.x.all_manifests;
select count(*) from {ns}.x.files version as of 'b';
select is_current_ancestor from {ns}.x.history;
select type from {ns}.x.refs where name = 'b' or name = 'nope';
select count(*) from {ns}.x.refs where max_reference_age_in_ms > 1000;

-- case: shapes
create namespace {ns};
create table {ns}.x (id int, p int) using iceberg partitioned by (p);
insert into {ns}.x values (1, 0), (2, 1), (3, 2);
select f.record_count, s.operation from {ns}.x.files f, {ns}.x.snapshots s;
select files.record_count from {ns}.x.files where files.partition.p = 1;
select x.id from {ns}.x where (select count(*) from {ns}.x.files) = 3;
with f as (select * from {ns}.x.files) select sum(record_count) from f;
select max(file_size_in_bytes) > 0, count(distinct file_path) from {ns}.x.files;
select count(*) from {ns}.x.files where file_path like '%/p=1/%';
select count(*) from {ns}.x x join {ns}.x.files f on x._file = f.file_path;
select operation, map_keys(summary) is not null from {ns}.x.snapshots where operation in ('append', 'delete');
select * from (select record_count, content from {ns}.x.files) order by 1 limit 1;
create temp view mv as select partition from {ns}.x.partitions;
select * from mv where partition.p > 0;
drop view mv;
-- error
select count(*) from {ns}.X.files;
select count(*) from {ns}.x.FILES;
select lower_bounds[1], upper_bounds[2] from {ns}.x.files;
select readable_metrics.id.lower_bound, readable_metrics.p.value_count from {ns}.x.files where readable_metrics.id.lower_bound > 1;
-- error
select * from {ns}.x.files.files;
drop table {ns}.x.files;
select count(*) from {ns}.x;
show tblproperties {ns}.x.files;
-- ignore
show create table {ns}.x.files;

-- case: metadata_columns_more
-- each: v=1,2,3
create namespace {ns};
create table {ns}.x (id int, p string) using iceberg partitioned by (p) tblproperties ('format-version'='{v}');
insert into {ns}.x values (1, 'a'), (2, 'b');
alter table {ns}.x drop partition field p;
insert into {ns}.x values (3, 'c');
select id, _spec_id, _partition from {ns}.x;
select _partition.p, count(*) from {ns}.x group by _partition.p;
select * from {ns}.x where _spec_id = 1;
select id, _file like '%parquet' from {ns}.x where _pos = 0;
select x._pos, x.id from {ns}.x x order by x._file limit 0;
select t.id from (select id, _pos as q from {ns}.x) t where t.q >= 0;
select a.id from {ns}.x a join {ns}.x b on a._file = b._file and a._pos = b._pos;
select count(distinct _file), min(_pos) from {ns}.x;
select *, _spec_id from {ns}.x;
select _deleted, id from {ns}.x;
-- error
select _nope from {ns}.x;
select typeof(_file), typeof(_pos), typeof(_spec_id), typeof(_deleted) from {ns}.x limit 1;
create table {ns}.y (id int, _pos string) using iceberg;
insert into {ns}.y values (1, 'x');
select id from {ns}.y;
select count(*) from {ns}.y;
-- error: reserved
select _pos from {ns}.y;
-- error: reserved
select * from {ns}.y;
alter table {ns}.y rename column _pos to pos;
select * from {ns}.y;
-- error
insert into {ns}.x values (_pos, 'z');

-- case: functions_more
create namespace {ns};
-- loose
select local.system.iceberg_version() is not null;
-- loose
select local.bucket(4, 10), local.system.BUCKET(4, 10), local.System.Truncate(4, 'abcdefgh');
-- loose
select local.system.bucket(4Y, 10), local.system.bucket(4S, 10L), local.system.bucket(4, 10Y);
-- loose
select local.system.bucket(128, timestamp'2020-01-01 00:00:00'), local.system.bucket(128, timestamp_ntz'2020-01-01 00:00:00'), local.system.bucket(128, 1.5BD);
-- loose
select local.system.truncate(10, 105Y), local.system.truncate(10, -1S), local.system.truncate(10, -105L), local.system.truncate(5, cast(-12.345 as decimal(10, 3)));
-- loose
select local.system.truncate(2, 'éàü'), local.system.truncate(1, '😀😀'), local.system.truncate(3, X''), local.system.truncate(3, '');
-- loose
select local.system.days(date'1969-12-31'), local.system.days(timestamp_ntz'2020-02-29 23:59:59'), local.system.hours(timestamp_ntz'1970-01-01 01:00:00');
-- loose
select local.system.years(timestamp'1969-06-01 00:00:00'), local.system.months(date'1969-12-31'), local.system.months(date'2000-01-31');
-- loose
select local.system.bucket(4, cast(null as string)), local.system.truncate(4, cast(null as int)), local.system.days(cast(null as timestamp));
-- error
select local.system.hours(null);
-- loose
select typeof(local.system.days(date'2020-01-01')), typeof(local.system.hours(now())), typeof(local.system.truncate(2, 1S)), typeof(local.system.truncate(2, 1.25BD));
-- loose
-- error
select local.system.bucket(4);
-- loose
-- error
select local.system.bucket(4, 1, 2);
-- loose
-- error
select local.system.bucket(4, true);
-- loose
-- error
select local.system.bucket(4, 1.5D);
-- loose
-- error
select local.system.bucket(4L, 1);
-- loose
-- error
select local.system.bucket(null, 1);
-- loose
-- error
select local.system.truncate('x', 1);
-- loose
-- error
select local.system.truncate(4, date'2020-01-01');
-- loose
-- error
select local.system.truncate(4, 1.5F);
-- loose
-- error
select local.system.years(1);
-- loose
-- error
select local.system.hours(date'2020-01-01');
-- loose
-- error
select local.system.days('2020-01-01');
-- loose
-- error
select local.system.year(date'2020-01-01');
-- loose
-- error
select local.system.iceberg_version(1);
-- loose
-- error
select local.{nsname}.bucket(4, 1);
-- loose
-- error
select system.bucket(4, 1);
create table {ns}.x (id bigint, d date, s string) using iceberg partitioned by (bucket(4, id), months(d));
insert into {ns}.x select id, date'2020-01-15' + cast(id * 10 as int), 'v' || id from range(12);
select local.system.months(d) m, count(*) from {ns}.x group by m;
select id from {ns}.x where local.system.months(d) = 601 and local.system.bucket(4, id) in (0, 1);
select id from {ns}.x where local.system.bucket(4, id) <> 2;
select id from {ns}.x where local.system.truncate(1, s) = 'v' and local.system.years(d) = 50 and local.system.days(d) > date'2020-03-01';
select x.id, y.id from {ns}.x x join {ns}.x y on local.system.bucket(4, x.id) = local.system.bucket(4, y.id) where x.id < 2;
select id from {ns}.x order by local.system.bucket(4, id), id limit 3;
update {ns}.x set s = local.system.truncate(1, s) where local.system.months(d) = 600;
merge into {ns}.x t using (select 5L as id) u on t.id = u.id and local.system.bucket(4, t.id) = local.system.bucket(4, u.id) when matched then delete;
select id, s from {ns}.x;
use local;
-- loose
select system.bucket(4, 1), bucket(4, 1);
-- error
use local.system;
-- loose
select bucket(4, 1);
use spark_catalog.default;
-- ordered
show functions in local.system like 'b*';
-- error
describe function local.system.bucket;
-- error
describe function local.system.nope;

-- case: versions_as_targets
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg partitioned by (s);
insert into {ns}.t values (1, 'a');
alter table {ns}.t create branch x;
alter table {ns}.t create tag y;
alter table {ns}.t.tag_y create branch z;
alter table {ns}.t.branch_x create tag w;
alter table {ns}.t.branch_x drop branch z;
alter table {ns}.t.branch_x add partition field bucket(2, id);
alter table {ns}.t.branch_x write ordered by id;
-- error: branch_x
alter table {ns}.t.branch_x add column n int;
-- error: branch_x
comment on table {ns}.t.branch_x is 'c';
insert into {ns}.t.branch_x values (2, 'b');
select record_count, partition from {ns}.t.files.branch_x;
select record_count from {ns}.t.files.tag_y;
-- error
select record_count from {ns}.t.tag_y.files;
-- ordered
describe {ns}.t.branch_x;
-- mask: createtab_stmt
show create table {ns}.t.branch_x;
-- error: nope
refresh table {ns}.t.branch_nope;
-- error
show partitions {ns}.t.files;

-- case: counts_of_deletes
create namespace {ns};
create table {ns}.x (id int, s string) using iceberg tblproperties ('format-version'='2', 'write.delete.mode'='merge-on-read');
insert into {ns}.x select /*+ coalesce(1) */ id, 's' || id from range(9);
insert into {ns}.x select /*+ coalesce(1) */ id, 's' || id from range(9);
delete from {ns}.x where id = 3;
select content, value_counts, null_value_counts, nan_value_counts from {ns}.x.files;
alter table {ns}.x set tblproperties ('write.delete.granularity'='partition');
delete from {ns}.x where id = 4;
select content, value_counts, null_value_counts, nan_value_counts from {ns}.x.delete_files;

-- case: options_of_no_use
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ 1 from range(3);
-- error: Incremental append scan is not supported
select record_count from {ns}.t.files with ('start-snapshot-id' = '1');
-- error: Incremental append scan is not supported
select operation from {ns}.t.snapshots with ('start-snapshot-id' = '1');

-- case: described
create namespace {ns};
create table {ns}.t (id bigint comment 'c', p int, s struct<a: int>) using iceberg partitioned by (p) tblproperties ('k'='v', 'write.target-file-size-bytes'='1000000');
insert into {ns}.t select /*+ coalesce(1) */ id, 1, null from range(3);
-- ordered
describe {ns}.t ID;
-- ordered
describe {ns}.t t.id;
-- ordered
describe {ns}.t {nsname}.T.P;
-- error: does not support nested column
describe {ns}.t t.s.a;
-- error: UNRESOLVED_COLUMN
describe {ns}.t x.id;
-- ordered
describe extended {ns}.t.refs;
-- ordered
describe extended {ns}.t.partitions;
-- ordered
describe extended {ns}.t.position_deletes;
show tblproperties {ns}.t.position_deletes;
show functions local.system.bucket;
-- error: SCHEMA_NOT_FOUND
show functions system.bucket;

-- case: metadata_tables_as_created
create namespace {ns};
create table {ns}.t (id int comment 'the id', st struct<a: int comment 'x', b: array<int>>, s string) using iceberg partitioned by (id, bucket(4, s));
insert into {ns}.t values (1, null, null);
show create table {ns}.t.files;
show create table {ns}.t.entries;
show create table {ns}.t.all_files;
alter table {ns}.t drop partition field id;
alter table {ns}.t add partition field truncate(2, s) as letters;
show create table {ns}.t.position_deletes;
