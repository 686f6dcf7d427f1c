-- What the session's settings and a statement's options change.

-- case: case_sensitive
create namespace {ns};
create table {ns}.t (id int, data string, s struct<a: int, b: string>) using iceberg;
insert into {ns}.t values (1, 'a', named_struct('a', 1, 'b', 'x'));
set spark.sql.caseSensitive = true;
alter table {ns}.t add columns (ID bigint, s.A int);
-- error: S
alter table {ns}.t add column S.c int;
-- error: DATA
alter table {ns}.t drop column DATA;
-- error: DATA
alter table {ns}.t rename column DATA to x;
alter table {ns}.t rename column id to Id;
alter table {ns}.t alter column s.b first;
alter table {ns}.t write ordered by data, ID;
-- error: DATA
update {ns}.t set DATA = 'z';
update {ns}.t set ID = 8, s.A = 7, s.a = 5 where Id = 1;
-- error: DATA
merge into {ns}.t t using (select 1 as id) s on t.Id = s.id when matched then update set DATA = 'q';
merge into {ns}.t t using (select 1 as id) s on t.Id = s.id when matched then update set data = 'q' when not matched then insert (ID) values (s.id);
merge into {ns}.t t using (select 9 as id) s on t.Id = s.id when not matched then insert (ID, data) values (s.id, default);
select * from {ns}.t;
create table {ns}.u (id int, ID int, s struct<a: int, A: int>) using iceberg partitioned by (ID);
insert into {ns}.u partition (ID = 2) values (1, named_struct('a', 1, 'A', 2));
-- error: Id
insert into {ns}.u partition (Id = 2) values (1, null);
create table {ns}.v using iceberg as select id, ID, s.A from {ns}.u;
select * from {ns}.v;
-- ordered
describe {ns}.t;
drop table {ns}.t;
drop table {ns}.u;
drop table {ns}.v;

-- case: timestamp_ntz
create namespace {ns};
set spark.sql.timestampType = TIMESTAMP_NTZ;
create table {ns}.t (id int, ts timestamp, tl timestamp_ltz, s struct<t: timestamp>) using iceberg partitioned by (ts);
alter table {ns}.t add column a array<timestamp>;
insert into {ns}.t partition (ts = '2020-01-02 00:00:00') (id, tl) values (1, timestamp'2020-01-01 00:00:00');
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when matched then update set tl = timestamp'2022-01-01 00:00:00';
select * from {ns}.t timestamp as of timestamp'2100-01-01 00:00:00';

-- case: options
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
alter table {ns}.t create tag a;
insert into {ns}.t values (2);
alter table {ns}.t add partition field bucket(2, id);
-- error: For input string
select * from {ns}.t with ('SPLIT-SIZE'='x');
-- error: must be > 0
select * from {ns}.t with ('split-size'='0');
-- error: For input string
select * from {ns}.t with ('lookback'=' 5 ');
-- error
select * from {ns}.t with ('batch-size'='0');
-- error: For input string
select name from {ns}.t.refs with ('file-open-cost'='x');
select * from {ns}.t with ('versionAsOf'='a');
-- error: nope
select content from {ns}.t.files with ('branch'='nope');
select * from {ns}.t version as of 'a' with ('branch'='main');
-- error: 7
insert into {ns}.t with ('output-spec-id'='7') values (1);
insert into {ns}.t with ('Output-Spec-Id'='0', 'Snapshot-Property.Some'='x') values (3);
select spec_id from {ns}.t.files;
select summary['some'] from {ns}.t.snapshots;

-- case: schema_merge
create namespace {ns};
create table {ns}.t (id int not null, n struct<a: int, b: string>, l array<struct<x: int, y: int>>) using iceberg tblproperties ('write.spark.accept-any-schema'='true');
-- error: out of order
insert into {ns}.t with ('merge-schema'='true') select 1 as id, named_struct('b', 'x', 'a', 1) as n;
-- error: out of order
insert into {ns}.t with ('merge-schema'='true') select 1 as id, array(named_struct('y', 2, 'x', 1)) as l;
insert into {ns}.t with ('merge-schema'='true') select 1 as id, named_struct('a', 1, 'b', 'x', 'c', 2) as n, array(named_struct('x', 2, 'z', 1)) as l;
insert into {ns}.t select 2 as id, named_struct('a', 1) as n;
select * from {ns}.t;

-- case: merge_evolution
create namespace {ns};
create table {ns}.t (id int, n struct<a: int>) using iceberg;
insert into {ns}.t values (1, named_struct('a', 1));
merge with schema evolution into {ns}.t t using (select 1 as id, named_struct('f', 7, 'g', 8) as n) s on t.id = s.id when matched then update set n.f = s.n.f;
-- error: v
merge with schema evolution into {ns}.t t using (select 1 as id, 5 as v) s on t.id = s.id when matched then update set v = s.id;
alter table {ns}.t create branch b;
-- error: branch_b
merge with schema evolution into {ns}.t.branch_b t using (select 1 as id, 1 as x) s on t.id = s.id when not matched then insert *;
select * from {ns}.t;

-- case: nested_coercion
create namespace {ns};
create table {ns}.t (id int, n struct<a: int, b: string>, l array<struct<x: int, y: int>>) using iceberg;
insert into {ns}.t values (1, named_struct('a', 1, 'b', 'b'), null);
set spark.sql.mergeNestedTypeCoercion.enabled = true;
merge with schema evolution into {ns}.t t using (select 1 as id, named_struct('a', 6) as n, array(named_struct('y', 1)) as l union all select 2, null, array(null)) s on t.id = s.id when matched then update set * when not matched then insert *;
merge with schema evolution into {ns}.t t using (select 3 as id, named_struct('b', 'q', 'c', 7) as n) s on t.id = s.id when not matched then insert *;
select * from {ns}.t;

-- case: current_names
create namespace {ns};
create namespace {ns}.`a b`;
use {ns}.`a b`;
select current_schema(), upper(current_catalog()) as c where current_catalog() = 'local';
create table t using iceberg as select current_database() as d;
select * from t where d = current_schema();
show namespaces in {ns};
use spark_catalog.default;

-- case: double_quotes
create namespace {ns};
set spark.sql.ansi.doubleQuotedIdentifiers = true;
create table {ns}."t t" ("a b" int, s string) using iceberg partitioned by ("a b");
insert into {ns}."t t" values (1, 'it''s "x"');
alter table {ns}."t t" add column "c""d" int;
alter table {ns}.`t t` create branch b;
update {ns}."t t"."branch_b" set "c""d" = "a b" where s like '%"x"';
select "x y"."a b", s, "c""d" from {ns}."t t" version as of 'b' "x y";

-- case: row_by_row_reader
create namespace {ns};
create table {ns}.t (id int, f double, ts timestamp) using iceberg;
insert into {ns}.t values (1, 1.5, timestamp'1500-01-01 00:00:00'), (2, 2.5, null);
set spark.sql.parquet.datetimeRebaseModeInRead = LEGACY;
alter table {ns}.t rename column id to key;
select * from {ns}.t;
set spark.sql.parquet.enableVectorizedReader = false;
alter table {ns}.t add column id int;
select * from {ns}.t;
update {ns}.t set f = 3 where key = 2;
select * from {ns}.t;

-- case: formats_of_deletes
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p);
-- error: Invalid file format: nope
insert into {ns}.t with ('delete-format'='nope') values (1, 'a', 0);
insert into {ns}.t with ('delete-format'='AVRO') values (2, 'a', 0), (3, 'b', 0), (4, 'c', 1);
-- error: Invalid file format: nope
insert overwrite {ns}.t with ('delete-format'='nope') values (1, 'a', 0);
-- error: Invalid file format: nope
insert into {ns}.t with ('delete-format'='nope') replace where p = 1 select 1, 'a', 1;
alter table {ns}.t set tblproperties ('write.delete.format.default'='nope');
-- error: Invalid file format: nope
insert into {ns}.t values (1, 'a', 0);
-- error: Invalid file format: nope
update {ns}.t set s = 'x' where id = 9;
-- error: Invalid file format: nope
merge into {ns}.t t using (select 9 as id) q on t.id = q.id when matched then update set s = 'y';
-- error: Invalid file format: nope
delete from {ns}.t where id = 2;
alter table {ns}.t set tblproperties ('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read');
-- error: Invalid file format: nope
delete from {ns}.t where id = 2;
-- error: Invalid file format: nope
update {ns}.t set s = 'x' where id = 9;
delete from {ns}.t where p = 1;
alter table {ns}.t set tblproperties ('write.delete.format.default'='orc', 'write.format.default'='nope');
-- error: Invalid file format: nope
insert into {ns}.t values (1, 'a', 0);
-- error: Invalid file format: nope
insert into {ns}.t with ('write-format'='orc') values (1, 'a', 0);
alter table {ns}.t set tblproperties ('write.format.default'='Parquet', 'format-version'='3', 'write.delete.format.default'='nope');
-- error: Invalid file format: nope
insert into {ns}.t values (1, 'a', 0);
-- error: Invalid file format: nope
delete from {ns}.t where id = 2;
alter table {ns}.t set tblproperties ('write.delete.format.default'='avro');
insert into {ns}.t with ('delete-format'='nope') values (1, 'a', 0);
select * from {ns}.t;

-- case: numbers_asked_for
create namespace {ns};
create table {ns}.t (id int) using iceberg;
-- error: For input string: "nope"
insert into {ns}.t with ('target-file-size-bytes'='nope') values (1);
insert into {ns}.t with ('target-file-size-bytes'='-1') values (1);
-- error: For input string: "nope"
insert into {ns}.t with ('advisory-partition-size'='nope') values (1);
-- error
insert into {ns}.t with ('compression-level'='nope') values (1);
alter table {ns}.t set tblproperties ('write.parquet.compression-level'='nope');
-- error: write.parquet.compression-level
insert into {ns}.t values (1);
select * from {ns}.t;

-- case: planning_modes_of_statistics
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('read.data-planning-mode' = 'nope');
call local.system.compute_table_stats('{ns}.t');
insert into {ns}.t values (1);
-- error: Unknown planning mode: nope
call local.system.compute_table_stats('{ns}.t');
call local.system.rewrite_manifests('{ns}.t');
alter table {ns}.t unset tblproperties ('read.data-planning-mode');
