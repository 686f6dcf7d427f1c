-- INSERT: columns, defaults, partitions clauses, ANSI assignment, every type and transform, formats and options.

-- case: column_forms
create namespace {ns};
create table {ns}.t (id int, `a b` string, s struct<x: int, y: string>, l array<bigint>) using iceberg;
insert into {ns}.t values (1, 'q', named_struct('x', 1, 'y', 'y'), array(1, 2));
insert into {ns}.t (`a b`, ID) values ('w', 2);
insert into {ns}.t by name select array(3) as l, 3 as id;
insert into {ns}.t by name select struct(5 as y, 4 as x) as s, 4 as id;
insert into {ns}.t select 5, 'five', struct(1 as p, 'pos' as q), array(cast(null as int));
insert into {ns}.t values (6, default, default, default), (7, 'seven', null, null);
insert into {ns}.t select 8, default, null, default;
insert into table {ns}.t (id) select 9 union all select 10;
insert into {ns}.t values (11, 'v', named_struct('x', cast(1 as smallint), 'y', 'z'), array(1.0));
select * from {ns}.t;
-- error
insert into {ns}.t values (default + 1, 'a', null, null);
-- error
insert into {ns}.t (id, `a b`) values (1);
-- error
insert into {ns}.t (id) values (1, 'x');
-- error
insert into {ns}.t (id, s.x) values (1, 2);
-- error
insert into {ns}.t by name select 1 as id, 1 as id;
-- error
insert into {ns}.t by name select 1 as id, struct(1 as x, 'q' as nope) as s;
-- error
insert into {ns}.t (id) by name select 1 as id;
-- error
insert into {ns}.t select 1, 'a', struct(1), null;
-- error
insert into {ns}.t select 1, 'a', 'not a struct', null;
-- error
insert with schema evolution into {ns}.t select 1 as id;
-- error
insert into {ns}.nope values (1);
-- error
insert into {ns}.t;
select count(*) from {ns}.t;

-- case: required_columns
create namespace {ns};
create table {ns}.t (id int not null, s struct<x: int not null, y: int>, n string) using iceberg;
insert into {ns}.t values (1, named_struct('x', 1, 'y', null), null);
-- error: NOT_NULL_ASSERT_VIOLATION
insert into {ns}.t values (cast(null as int), null, null);
-- error
insert into {ns}.t (s, n) values (null, 'a');
-- error
insert into {ns}.t by name select 'x' as n;
-- error
insert into {ns}.t select id, named_struct('x', cast(null as int), 'y', 1), n from {ns}.t;
insert into {ns}.t select id + 1, null, 'ok' from {ns}.t;
-- error
update {ns}.t set id = null;
-- error
update {ns}.t set s.x = null;
-- error
insert into {ns}.t values (default, null, null);
select * from {ns}.t;

-- case: ansi
create namespace {ns};
create table {ns}.t (i int, l bigint, f float, d double, de decimal(5,2), da date, ts timestamp, tn timestamp_ntz, s string, b boolean, bi binary) using iceberg;
insert into {ns}.t values (1, 2, 1.5, 2.5, 3.455, date'2020-02-29', timestamp'2020-02-29 12:00:00.123456', timestamp_ntz'2020-02-29 12:00:00', 'x', true, X'00FF');
insert into {ns}.t (i) values (2147483647L);
insert into {ns}.t (f) values (1e39D);
insert into {ns}.t (f, d) values (cast('nan' as float), -0.0D);
insert into {ns}.t (i) values (1.9D), (-1.9D);
insert into {ns}.t (de) values (999.994), (1), (1.005D);
insert into {ns}.t (ts, tn) values (date'2021-01-01', date'2021-01-02');
insert into {ns}.t (da) values (timestamp'2021-05-05 23:59:59');
-- error
insert into {ns}.t (s) values (1.50), (true), (date'2020-01-01');
insert into {ns}.t (s) values (1.50);
insert into {ns}.t (s) values (timestamp'2020-01-01 00:00:00');
insert into {ns}.t (ts, tn) values (timestamp_ntz'2021-01-01 05:00:00', timestamp'2021-01-01 06:00:00 UTC');
insert into {ns}.t (s) values (null);
select * from {ns}.t;
-- error
insert into {ns}.t (i) values (2147483648L);
-- error
insert into {ns}.t (l) values (1e30D);
-- error
insert into {ns}.t (de) values (999.995);
-- error
insert into {ns}.t (i) values (true);
-- error
insert into {ns}.t (b) values ('true');
-- error
insert into {ns}.t (bi) values ('abc');
-- error
insert into {ns}.t (bi) values (5);
-- error
insert into {ns}.t (ts) values ('2020-01-01');
-- error
insert into {ns}.t (da) values (20200101);
-- error
insert into {ns}.t (s) values (array(1));
-- error
insert into {ns}.t (i) values (1 / 0);
-- error
insert into {ns}.t (i) values (cast('x' as int));
set spark.sql.storeAssignmentPolicy = strict;
-- error
insert into {ns}.t (i) values (5L);
insert into {ns}.t (i) values (5);
set spark.sql.storeAssignmentPolicy = legacy;
-- error
insert into {ns}.t (i) values ('12');
reset spark.sql.storeAssignmentPolicy;
select count(*) from {ns}.t;

-- case: chars_and_decimals
create namespace {ns};
create table {ns}.t (c char(3), v varchar(4), a decimal(38,10), b decimal(9,0), d decimal(18,18)) using iceberg;
insert into {ns}.t values ('abcdef', 'longer', 1234567890123456789012345678.0123456789, 999999999, 0.123456789012345678);
insert into {ns}.t values ('a', '', -1, -5, -0.1);
insert into {ns}.t values (null, null, null, null, null);
select *, length(c) as lc from {ns}.t;
-- error
insert into {ns}.t (b) values (1000000000);
-- error
insert into {ns}.t (d) values (1);
update {ns}.t set a = a + 1, b = b - 1 where b < 0;
select * from {ns}.t where a = 0;
describe {ns}.t;

-- case: zones
create namespace {ns};
set spark.sql.session.timeZone = America/New_York;
create table {ns}.t (id int, ts timestamp, tn timestamp_ntz) using iceberg partitioned by (hours(ts), days(tn));
insert into {ns}.t values (1, timestamp'2024-03-10 01:59:59', timestamp_ntz'2024-03-10 02:30:00'), (2, timestamp'2024-03-10 03:00:00', timestamp_ntz'1969-12-31 23:59:59.999999'), (3, timestamp'1960-01-01 00:00:00', null), (4, null, timestamp_ntz'1900-01-01 00:00:00');
insert into {ns}.t values (5, timestamp'2024-11-03 01:30:00 -04:00', timestamp'2024-11-03 01:30:00 -05:00');
select id, cast(ts as string) as ts, cast(tn as string) as tn from {ns}.t;
select partition from {ns}.t.partitions;
select id from {ns}.t where ts = timestamp'2024-03-10 03:00:00';
delete from {ns}.t where ts >= timestamp'2024-03-10 02:00:00' and ts < timestamp'2024-03-10 04:00:00';
delete from {ns}.t where tn = timestamp_ntz'1900-01-01 00:00:00';
set spark.sql.session.timeZone = Asia/Kolkata;
select id, cast(ts as string) as ts, cast(tn as string) as tn from {ns}.t;
insert overwrite {ns}.t select id + 10, ts, tn from {ns}.t where id = 1;
select id, cast(ts as string) as ts from {ns}.t;

-- case: partition_clauses
create namespace {ns};
create table {ns}.t (id int, p string, q int, d date) using iceberg partitioned by (p, q, bucket(2, id));
insert into {ns}.t partition (p = 'a', q = 1) values (1, date'2020-01-01'), (2, null);
-- error
insert into {ns}.t partition (q = 2, p) values (3, date'2020-01-01', 'dyn');
insert into {ns}.t partition (q = 2, p) values (3, 'dyn', date'2020-01-01');
insert into {ns}.t partition (p, q) select 4, 'pp', 9, date'2020-01-02';
insert into {ns}.t partition (p = 'c') (id, q) values (5, 5);
insert into {ns}.t partition (P = 'upper', q = 3) (d, id) values (date'2021-01-01', 6);
insert into {ns}.t partition (p = null, q = 1) select 7, null;
insert into {ns}.t partition (p = 'by name') by name select 8 as id, 1 as q;
insert into {ns}.t partition (p = 5, q = '6') values (9, null);
select * from {ns}.t;
insert overwrite {ns}.t partition (p = null) select 70, 7, null;
insert overwrite {ns}.t partition (p = 'a') (id, q) values (10, 1);
insert overwrite {ns}.t partition (q = 9) by name select 40 as id, 'pp' as p;
select * from {ns}.t;
set spark.sql.sources.partitionOverwriteMode = dynamic;
insert overwrite {ns}.t partition (p = 'a', q) select 11, 1, null;
insert overwrite {ns}.t partition (p = 'a', q = 1) values (12, null);
insert overwrite {ns}.t by name select 13 as id, 'dyn' as p, 2 as q;
select * from {ns}.t;
-- error
insert into {ns}.t partition (id = 1) values ('a', 1, null);
-- error
insert into {ns}.t partition (p = 'a', p = 'b') values (1, 1, null);
-- error
insert into {ns}.t partition (p = 'a') values (1, 'too', 'many', 'cols');
-- error
insert into {ns}.t partition (p = 'a') (p, id) values ('x', 1);
-- error
insert into {ns}.t partition (nope) values (1, 'a', 1, null);
-- error
insert overwrite {ns}.t partition (p = 'a') if not exists values (1, 1, null);
-- error
insert into {ns}.t partition (q = 'abc') values (1, 'p', null);
select operation, summary['replace-partitions'] as r from {ns}.t.snapshots;

-- case: evolved_spec
-- each: v=1,2
create namespace {ns};
create table {ns}.t (id int, ts timestamp, s string) using iceberg partitioned by (days(ts)) tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, timestamp'2024-01-01 00:00:00', 'a'), (2, timestamp'2024-01-02 00:00:00', 'b');
alter table {ns}.t replace partition field days(ts) with months(ts);
alter table {ns}.t add partition field truncate(1, s);
insert into {ns}.t values (3, timestamp'2024-01-03 00:00:00', 'abc'), (4, timestamp'2024-02-03 00:00:00', 'xyz');
set spark.sql.sources.partitionOverwriteMode = dynamic;
insert overwrite {ns}.t values (5, timestamp'2024-01-20 00:00:00', 'aaa');
select * from {ns}.t;
delete from {ns}.t where ts < timestamp'2024-01-02 00:00:00';
update {ns}.t set s = 'upd', ts = timestamp'2025-05-05 00:00:00' where id in (2, 4);
select * from {ns}.t;
set spark.sql.sources.partitionOverwriteMode = static;
insert into {ns}.t replace where s = 'upd' values (6, timestamp'2025-05-06 00:00:00', 'upd');
select * from {ns}.t;
alter table {ns}.t drop partition field truncate(1, s);
insert overwrite {ns}.t values (7, null, null);
select * from {ns}.t;
select spec_id, record_count from {ns}.t.files;
select operation from {ns}.t.snapshots;

-- case: transforms
-- each: v=1,3
create namespace {ns};
create table {ns}.t (i int, l bigint, s string, d date, ts timestamp, tn timestamp_ntz, de decimal(9,2), bi binary, b boolean, f float) using iceberg partitioned by (i, bucket(4, l), truncate(3, s), years(d), hours(ts), months(tn), truncate(10, de), bucket(5, bi), b) tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, 10, 'abcdef', date'2020-05-05', timestamp'2020-05-05 10:11:12', timestamp_ntz'2020-05-05 10:11:12', 12.34, X'0102', true, 1.5), (-1, -10, 'ab', date'1969-12-31', timestamp'1969-12-31 23:59:59', timestamp_ntz'1969-11-30 00:00:00', -12.34, X'', false, -0.0), (null, null, null, null, null, null, null, null, null, null);
insert into {ns}.t select 0, 0, '', date'0001-01-01', timestamp'1900-01-01 00:00:00', timestamp_ntz'1900-01-01 00:00:00', 0, X'FF', true, 0;
select partition from {ns}.t.partitions;
select * from {ns}.t where s = 'abcdef' and l = 10 and d = date'2020-05-05';
select i from {ns}.t where ts < timestamp'1970-01-01 00:00:00';
select i from {ns}.t where de <= -12.34 or bi = X'0102';
delete from {ns}.t where d < date'1970-01-01' and d >= date'1969-01-01';
update {ns}.t set s = 'zzzz', l = 11, b = not b where i = 1;
select * from {ns}.t;
insert overwrite {ns}.t partition (i = 0, b = true) select 1, 'n', null, null, null, null, null, null;
select * from {ns}.t;
select partition, record_count from {ns}.t.partitions where record_count > 0;

-- case: file_formats
-- each: f=parquet,avro,orc
create namespace {ns};
create table {ns}.t (id int, s string, ts timestamp, de decimal(20,3), bi binary, n struct<a: int, l: array<string>>, m map<string, double>, p int) using iceberg partitioned by (p) tblproperties ('write.format.default'='{f}', 'write.delete.mode'='merge-on-read');
insert into {ns}.t values (1, 'a', timestamp'2020-01-01 00:00:00.000001', 1.001, X'01', named_struct('a', 1, 'l', array('x', null)), map('k', 1.5), 1), (2, null, null, null, null, null, null, 1), (3, '', timestamp'1950-01-01 00:00:00', -1.001, X'', named_struct('a', null, 'l', array()), map(), 2);
delete from {ns}.t where id = 2;
update {ns}.t set n.a = 100, s = concat(s, '!') where id in (1, 3);
merge into {ns}.t t using (select 4 as id union all select 1) s on t.id = s.id when matched then update set bi = X'AA' when not matched then insert (id, p) values (s.id, 3);
select * from {ns}.t;
insert overwrite {ns}.t partition (p = 3) select 5, 'five', null, null, null, null, null;
insert into {ns}.t with ('write-format'='parquet') select id + 100, s, ts, de, bi, n, m, p from {ns}.t where p = 1;
select * from {ns}.t;
select content, file_format, sum(record_count) as r from {ns}.t.files group by 1, 2;
truncate table {ns}.t;
select count(*) from {ns}.t;

-- case: defaults
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('format-version'='3');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b');
update {ns}.t set s = default where id = 1;
insert into {ns}.t (id) values (3);
insert into {ns}.t (id, s) values (4, default);
merge into {ns}.t t using (select 5 as id) s on t.id = s.id when not matched then insert (id, s) values (s.id, default);
merge into {ns}.t t using (select 2 as id) s on t.id = s.id when matched then update set s = default;
select * from {ns}.t;
set spark.sql.defaultColumn.useNullsForMissingDefaultValues = false;
-- error
insert into {ns}.t (id) values (6);
reset spark.sql.defaultColumn.useNullsForMissingDefaultValues;
select * from {ns}.t;

-- case: lineage
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('format-version'='3', 'write.delete.mode'='{m}', 'write.update.mode'='{m}', 'write.merge.mode'='{m}');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd') as v(id, s);
select id, _row_id, _last_updated_sequence_number as q from {ns}.t;
update {ns}.t set s = 'u' where id = 2;
select id, _row_id, _last_updated_sequence_number as q from {ns}.t where id <> 2;
select s, _last_updated_sequence_number as q from {ns}.t where id = 2;
delete from {ns}.t where id = 3;
select id, _last_updated_sequence_number as q from {ns}.t;
merge into {ns}.t t using (select 1 as id union all select 9) s on t.id = s.id when matched then update set s = 'm' when not matched then insert (id, s) values (s.id, 'new');
select id, s, _last_updated_sequence_number as q from {ns}.t;
select id, _row_id from {ns}.t where id in (1, 4);
insert overwrite {ns}.t select id, s from {ns}.t;
select count(distinct _row_id), min(_last_updated_sequence_number) from {ns}.t;

-- case: upgrade
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('format-version'='1', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd') as v(id, s);
-- error
delete from {ns}.t where id = 1;
alter table {ns}.t set tblproperties ('format-version'='2');
delete from {ns}.t where id = 1;
update {ns}.t set s = 'v2' where id = 2;
alter table {ns}.t set tblproperties ('format-version'='3');
select id, s, _row_id from {ns}.t;
delete from {ns}.t where id = 3;
select * from {ns}.t;
select content, file_format, record_count from {ns}.t.delete_files;
update {ns}.t set s = 'v3' where id = 4;
select id, s from {ns}.t;
-- error
alter table {ns}.t set tblproperties ('format-version'='2');

-- case: delete_granularity
-- each: g=file,partition
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='merge-on-read', 'write.delete.granularity'='{g}');
insert into {ns}.t select /*+ coalesce(1) */ id, id % 2 from range(10);
insert into {ns}.t select /*+ coalesce(1) */ id + 10, id % 2 from range(10);
delete from {ns}.t where id in (1, 3, 11, 2);
select content, record_count, partition from {ns}.t.delete_files;
delete from {ns}.t where id in (5, 13);
select content, record_count, partition from {ns}.t.delete_files;
select id from {ns}.t;
select operation, summary['added-position-deletes'] as a, summary['total-position-deletes'] as t, summary['total-delete-files'] as f from {ns}.t.snapshots;

-- case: conditions
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string, p string, d double, n struct<a: int>) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='{m}', 'write.update.mode'='{m}');
insert into {ns}.t values (1, 'abc', 'x', 1.5, named_struct('a', 1)), (2, 'a%c', 'x', double('nan'), null), (3, null, 'y', null, named_struct('a', null)), (4, 'ABC', null, -1.0, named_struct('a', 4)), (5, '', 'z', 0.0, named_struct('a', 5)), (6, 'q', 'z', double('inf'), named_struct('a', 6));
delete from {ns}.t where s like 'a\\%%';
select id from {ns}.t;
update {ns}.t set s = 'lo' where lower(s) = 'abc' and not (p <=> null);
delete from {ns}.t where n.a is null and id > 2;
update {ns}.t set d = d * 2 where d between 1 and 10 or isnan(d);
delete from {ns}.t where not (p = 'x') and d <= 0;
select * from {ns}.t;
delete from {ns}.t where id not in (select id from {ns}.t where d is not null);
update {ns}.t set s = (select concat('n', count(*)) from {ns}.t) where id = (select min(id) from {ns}.t);
delete from {ns}.t where exists (select 1 from {ns}.t u where u.id > {ns}.t.id + 4);
delete from {ns}.t where case when p = 'z' then id = 5 else null end;
delete from {ns}.t where p in ('x') and id in (select 4 union select 1);
select * from {ns}.t;
-- error
delete from {ns}.t where rand() < 0.5;
-- error
delete from {ns}.t where sum(id) > 3;
-- error
delete from {ns}.t where id = 'abc';
-- error
delete from {ns}.t where id;
-- error
delete from {ns}.t where n.zz = 1;
-- error
delete {ns}.t where id = 1;
-- error
delete from {ns}.t join {ns}.t u on true;
-- error
update {ns}.t set id = rand() where rand() > 0.5;
select operation from {ns}.t.snapshots;

-- case: merge_schema_forms
create namespace {ns};
create table {ns}.t (id int, s string, c struct<a: int>) using iceberg;
-- error
insert into {ns}.t with ('mergeSchema'='true') select 1 as id, 'a' as s, named_struct('a', 1) as c, 2 as extra;
alter table {ns}.t set tblproperties ('write.spark.accept-any-schema'='true');
-- error
insert into {ns}.t select 1 as id, 'a' as s, named_struct('a', 1) as c, 2 as extra;
insert into {ns}.t with ('mergeSchema'='true') select 1 as id, 'a' as s, named_struct('a', 1, 'b', 'nested') as c, 2 as extra;
select * from {ns}.t;
insert into {ns}.t select 'only' as s;
-- error
insert into {ns}.t select 'text' as id;
-- error: out of order
insert into {ns}.t select 'c' as s, 3 as id;
insert into {ns}.t with ('check-ordering'='false') select 'c' as s, 3 as id;
insert into {ns}.t with ('mergeSchema'='true') select 7L as ID, 8 as EXTRA;
select * from {ns}.t;
describe {ns}.t;

-- case: distribution
-- each: d=none,hash,range
create namespace {ns};
create table {ns}.t (id bigint, p int, s string) using iceberg partitioned by (p) tblproperties ('write.distribution-mode'='{d}', 'write.update.distribution-mode'='none', 'write.merge.distribution-mode'='range');
insert into {ns}.t select id, cast(id % 5 as int), 's' from range(0, 100, 1, 3);
select p, count(*), sum(id) from {ns}.t group by p;
update {ns}.t set s = 'u' where id % 10 = 3;
merge into {ns}.t t using (select id from range(95, 105)) s on t.id = s.id when matched then update set p = 7 when not matched then insert (id, p) values (s.id, 8);
select p, s, count(*), sum(id) from {ns}.t group by p, s;
insert into {ns}.t with ('fanout-enabled'='true', 'distribution-mode'='none') select id, cast(id % 3 as int), 'f' from range(0, 9, 1, 2);
insert into {ns}.t with ('use-table-distribution-and-ordering'='false', 'fanout-enabled'='true') select id, cast(id % 3 as int), 'g' from range(0, 9, 1, 2);
select s, count(*), sum(id) from {ns}.t group by s;

-- case: into_spark_tables
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a'), (2, 'b');
create temporary view tv as select * from {ns}.t where id = 1;
insert into {ns}.t select id + 10, s from tv;
select * from tv;
-- error
insert into tv values (3, 'c');
merge into {ns}.t using tv on {ns}.t.id = tv.id when matched then update set s = 'from view';
update {ns}.t set s = upper(s) where id in (select id from tv);
delete from {ns}.t where id in (select id + 10 from tv);
select * from {ns}.t;
from {ns}.t insert into {ns}.t select id + 20, s where id = 1 insert overwrite {ns}.t select id + 30, s where id = 2;
select * from {ns}.t;

-- case: grammar_of_changes
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p);
-- error
insert into {ns}.t partition (p = 'a' || 'b') values (1);
insert into {ns}.t partition (p = 'a' 'b') values (1);
-- error: null
insert into {ns}.t replace where null values (1, 'a');
-- error
merge into {ns}.t t using {ns}.t version as of 'main' s on t.id = s.id when matched then delete;
-- error
select * from {ns}.t version as of main;
-- error
create table {ns}.u (id varchar(0)) using iceberg tblproperties (a = -1);
create table {ns}.u (id varchar(0), l array<int>) using iceberg tblproperties (a == 'x' 'y');
alter table {ns}.u alter column l type array<int>;
alter table {ns}.u set tblproperties ('write.delete.mode' = 'bad');
-- error: bad
delete from {ns}.u where id = 'a';
select * from {ns}.t;

-- case: positions_and_names
create namespace {ns};
create table {ns}.t (id int, n struct<a: int, b: int>, p string) using iceberg partitioned by (p);
insert into {ns}.t (n, id) values (named_struct('b', 1, 'a', 2), 1);
insert into {ns}.t partition (p = 'r') values (2, named_struct('b', 1, 'a', 2));
insert into {ns}.t partition (p = 'r') (n) values (named_struct('b', 1, 'a', 2));
insert into {ns}.t by name select named_struct('b', 1, 'a', 2) as n;
select * from {ns}.t;

-- case: replace_where_times
create namespace {ns};
create table {ns}.t (id int, ts timestamp, p string) using iceberg partitioned by (days(ts), p);
insert into {ns}.t values (1, timestamp'2020-01-05 10:00:00', 'm'), (2, timestamp'2020-01-06', 'm');
insert into {ns}.t replace where ts >= '2020-01-05' and ts < '2020-01-06' values (3, timestamp'2020-01-05', 'm');
insert into {ns}.t replace where ts >= timestamp'2020-01-06 00:00:00' and p = concat('m', '') values (4, timestamp'2020-01-06', 'm');
-- error: P
insert into {ns}.t replace where P = 'm' values (5, null, 'm');
select * from {ns}.t;
