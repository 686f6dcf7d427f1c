-- Time travel, refs in names, changes and incremental reads: which snapshot is read, with which schema.

-- case: forms
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a');
-- set: first
select snapshot_id from {ns}.t.snapshots order by committed_at limit 1;
-- set: millis
-- ignore
select unix_millis(committed_at) from {ns}.t.snapshots order by committed_at limit 1;
-- set: stamp
-- ignore
select cast(committed_at as string) from {ns}.t.snapshots order by committed_at limit 1;
alter table {ns}.t create tag `v1.0`;
alter table {ns}.t create branch dev;
insert into {ns}.t values (2, 'b');
select * from {ns}.t version as of '{first}';
select * from {ns}.t for version as of '{first}';
select * from {ns}.t for system_version as of {first};
select * from {ns}.t version as of 'v1.0';
select * from {ns}.t version as of 'main';
select * from {ns}.t timestamp as of '{stamp}';
select * from {ns}.t for system_time as of '{stamp}';
select * from {ns}.t for timestamp as of timestamp'{stamp}';
select * from {ns}.t timestamp as of timestamp'{stamp}' + interval 0 seconds;
select * from {ns}.t timestamp as of now();
select * from {ns}.t timestamp as of current_timestamp() + interval 1 hour;
select * from {ns}.t timestamp as of cast(current_date() as timestamp) + interval 2 days;
select * from {ns}.t timestamp as of '2200-01-01';
select * from {ns}.t timestamp as of 7258118400;
select * from {ns}.t timestamp as of date'2200-01-01';
select * from {ns}.t.`tag_v1.0`;
select * from {ns}.t.tag_dev;
select * from {ns}.t.branch_dev;
select * from {ns}.t.`branch_v1.0`;
select * from {ns}.t.branch_main;
select * from {ns}.t.snapshot_id_{first};
select * from {ns}.t.at_timestamp_{millis};
select x.id from {ns}.t version as of 'v1.0' x;
select x.id from {ns}.t version as of 'v1.0' as x join {ns}.t y on x.id = y.id;
select count(*) from {ns}.t version as of 'v1.0', {ns}.t;
select t.id from {ns}.t version as of 'v1.0' where t.id = 1;
select (select count(*) from {ns}.t version as of 'v1.0') a, (select count(*) from {ns}.t) b;
with q as (select * from {ns}.t version as of 'v1.0') select count(*) from q;
-- error
select * from {ns}.t version as of null;
-- error
select * from {ns}.t timestamp as of null;
-- error
select * from {ns}.t timestamp as of 'not a time';
-- error
select * from {ns}.t timestamp as of '1999-01-01';
-- error
select * from {ns}.t timestamp as of 0;
-- error
select * from {ns}.t timestamp as of rand();
-- error
select * from {ns}.t timestamp as of id;
-- error
select * from {ns}.t version as of 1;
-- error
select * from {ns}.t version as of 'gone';
-- error
select * from {ns}.t.branch_gone;
-- error
select * from {ns}.t.tag_gone;
-- error
select * from {ns}.t.snapshot_id_1;
-- error
select * from {ns}.t.at_timestamp_1;
-- error
select * from {ns}.t.snapshot_id_x;
-- error
select * from {ns}.t.branch_dev version as of {first};
-- error
select * from {ns}.t.snapshot_id_{first} timestamp as of now();
-- error
select * from {ns}.nope version as of 1;
-- error
with q as (select 1 as id) select * from q version as of 1;
-- error
insert into {ns}.t.snapshot_id_{first} values (9, 'z');
update {ns}.t.tag_dev set s = 'q';
-- error
delete from {ns}.t.snapshot_id_{first};
insert into {ns}.t.branch_dev values (3, 'd');
update {ns}.t.branch_dev set s = 'dd' where id = 3;
delete from {ns}.t.branch_dev where id = 1;
select * from {ns}.t.branch_dev;
select * from {ns}.t;
select * from {ns}.t.branch_dev union all select * from {ns}.t version as of 'v1.0';

-- case: schemas
create namespace {ns};
create table {ns}.t (id int, gone string, keep int) using iceberg;
insert into {ns}.t values (1, 'g', 10);
alter table {ns}.t create tag one;
alter table {ns}.t create branch br;
-- set: first
select snapshot_id from {ns}.t.refs where name = 'one';
alter table {ns}.t drop column gone;
alter table {ns}.t rename column keep to kept;
alter table {ns}.t add column added string;
alter table {ns}.t alter column id type bigint;
insert into {ns}.t values (2, 20, 'n');
select * from {ns}.t;
select * from {ns}.t version as of 'one';
select * from {ns}.t version as of {first};
select * from {ns}.t.tag_one;
select * from {ns}.t.branch_br;
select * from {ns}.t version as of 'br';
select gone from {ns}.t version as of 'one';
-- error
select gone from {ns}.t version as of 'br';
-- error
select added from {ns}.t version as of 'one';
select a.id, b.id from {ns}.t.tag_one a full join {ns}.t b on a.id = b.id;
alter table {ns}.t add column gone int;
insert into {ns}.t values (3, 30, 'm', 33);
select * from {ns}.t;
select * from {ns}.t version as of 'one';

-- case: metadata_of_versions
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a');
alter table {ns}.t create tag one;
-- set: first
select snapshot_id from {ns}.t.snapshots;
insert into {ns}.t values (2, 'b');
alter table {ns}.t create branch br as of version {first};
select count(*) from {ns}.t.files version as of 'one';
select count(*) from {ns}.t.files version as of {first};
select partition, record_count from {ns}.t.data_files version as of 'br';
select count(*) from {ns}.t.entries for version as of 'one';
select count(*) from {ns}.t.manifests version as of {first};
select partition, record_count from {ns}.t.partitions version as of 'one';
select count(*) from {ns}.t.files timestamp as of now();
select count(*) from {ns}.t.snapshots version as of 'one';
select count(*) from {ns}.t.history version as of {first};
select count(*) from {ns}.t.refs version as of 'one';
select count(*) from {ns}.t.metadata_log_entries version as of 'one';
-- error
select * from {ns}.t.all_files version as of 'one';
-- error
select * from {ns}.t.all_manifests version as of {first};
-- error
select * from {ns}.t.all_entries version as of {first};
select count(*) from {ns}.t.position_deletes version as of 'one';
select count(*) from {ns}.t.delete_files version as of 'one';
-- error
select * from {ns}.t.files version as of 'gone';
-- error
select * from {ns}.t.branch_br.files;
-- error
select * from {ns}.t.nofiles;
-- error
select * from {ns}.t.changes version as of {first};
-- error
delete from {ns}.t.files where 1 = 1;
-- error
insert into {ns}.t.files values (1);
-- error
update {ns}.t.snapshots set operation = 'x';
-- error
alter table {ns}.t.files add column x int;
describe {ns}.t.refs;

-- case: changes
-- each: v=2,3
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('format-version'='{v}');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b');
-- set: s1
select snapshot_id from {ns}.t.refs where name = 'main';
insert into {ns}.t values (3, 'c');
-- set: s2
select snapshot_id from {ns}.t.refs where name = 'main';
delete from {ns}.t where id = 1;
-- set: s3
select snapshot_id from {ns}.t.refs where name = 'main';
update {ns}.t set s = 'bb' where id = 2;
-- mask: _commit_snapshot_id
select * from {ns}.t.changes;
-- mask: _commit_snapshot_id
select * from {ns}.t.changes where id = 1;
-- mask: _commit_snapshot_id
select * from {ns}.t.changes with ('start-snapshot-id'='{s1}', 'end-snapshot-id'='{s3}');
-- mask: _commit_snapshot_id
select * from {ns}.t.changes with ('start-snapshot-id'='{s3}');
-- mask: _commit_snapshot_id
select * from {ns}.t.changes with ('end-snapshot-id'='{s1}');
select id, s from {ns}.t.changes;
select count(*) from {ns}.t.changes;
select * from (select * from {ns}.t.changes limit 0);
-- error
select * from {ns}.t.changes with ('start-snapshot-id'='123');
-- error
select * from {ns}.t.changes with ('start-snapshot-id'='{s1}', 'start-timestamp'='1');
-- error
select * from {ns}.t.changes with ('start-timestamp'='20', 'end-timestamp'='10');
describe {ns}.t.changes;

-- case: incremental
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p);
insert into {ns}.t values (1, 0), (2, 1);
-- set: s1
select snapshot_id from {ns}.t.refs where name = 'main';
insert into {ns}.t values (3, 0);
-- set: s2
select snapshot_id from {ns}.t.refs where name = 'main';
insert into {ns}.t values (4, 1);
-- set: s3
select snapshot_id from {ns}.t.refs where name = 'main';
delete from {ns}.t where p = 0;
insert into {ns}.t values (5, 1);
select * from {ns}.t with ('start-snapshot-id'='{s1}');
select * from {ns}.t with ('start-snapshot-id'='{s1}', 'end-snapshot-id'='{s2}');
select * from {ns}.t with ('start-snapshot-id'='{s1}', 'end-snapshot-id'='{s3}') where p = 1;
select count(*) from {ns}.t with ('start-snapshot-id'='{s3}');
-- error
select * from {ns}.t with ('end-snapshot-id'='{s2}');
select * from {ns}.t with ('start-timestamp'='1', 'end-timestamp'='2');
-- error
select * from {ns}.t with ('start-snapshot-id'='77');
select * from {ns}.t with ('split-size'='1');
-- error
select * from {ns}.t with ('snapshot-id'='{s1}');
-- error
select * from {ns}.t with ('as-of-timestamp'='1');
-- error
select * from {ns}.t with ('tag'='x');
select * from {ns}.t with ('branch'='main');
alter table {ns}.t create branch b as of version {s1};
select * from {ns}.t with ('branch'='b');
-- error
select * from {ns}.t with ('branch'='gone');
select * from {ns}.t with ('unknown-option'='1') where id = 5;

-- case: rollback_and_log
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
-- set: s1
select snapshot_id from {ns}.t.refs where name = 'main';
insert into {ns}.t values (2);
-- set: stamp
-- ignore
select cast(max(committed_at) as string) from {ns}.t.snapshots;
-- ignore
call local.system.rollback_to_snapshot('{nsname}.t', {s1});
select * from {ns}.t;
select * from {ns}.t timestamp as of '{stamp}';
select * from {ns}.t timestamp as of now();
insert into {ns}.t values (3);
select * from {ns}.t;
select operation, parent_id is null r from {ns}.t.snapshots;
select is_current_ancestor from {ns}.t.history;
select h.is_current_ancestor, s.operation from {ns}.t.history h join {ns}.t.snapshots s on h.snapshot_id = s.snapshot_id;
alter table {ns}.t set tblproperties ('current-snapshot-id'='{s1}');
select * from {ns}.t;
-- case: wap
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('write.wap.enabled'='true');
insert into {ns}.t values (1);
set spark.wap.branch = audit;
select * from {ns}.t;
insert into {ns}.t values (2);
select * from {ns}.t;
select * from {ns}.t.branch_audit;
select * from {ns}.t.branch_main;
select * from {ns}.t version as of 'main';
delete from {ns}.t where id = 1;
select * from {ns}.t;
select count(*) from {ns}.t.files;
insert into {ns}.t.branch_main values (7);
select * from {ns}.t.branch_main;
set spark.wap.id = w;
-- error
insert into {ns}.t values (3);
reset spark.wap.branch;
select * from {ns}.t;
insert into {ns}.t values (4);
select * from {ns}.t;
select summary['wap.id'] w, count(*) from {ns}.t.snapshots group by 1;
insert into {ns}.t values (5);
reset spark.wap.id;
select name, type from {ns}.t.refs;
-- ignore
-- error
call local.system.publish_changes('{nsname}.t', 'w');
-- ignore
-- error
call local.system.fast_forward('{nsname}.t', 'main', 'audit');
select * from {ns}.t;

-- case: metadata_columns_of_changes
-- each: v=2,3
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p) tblproperties ('format-version'='{v}');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'a');
delete from {ns}.t where id = 1;
-- mask: _commit_snapshot_id
select _file is not null as f, * from {ns}.t.changes;
select _pos, _spec_id, _deleted, id from {ns}.t.changes;
select count(_file), count(distinct _file) from {ns}.t.changes where _file is not null;
select c.id, c._pos from {ns}.t.changes c where c.id = 3;
-- error: _row_id
select _row_id from {ns}.t.changes;
