-- CREATE, CTAS, REPLACE, DROP: types, partitioning, properties, refusals.

-- case: primitive_types
create namespace {ns};
create table {ns}.t (b boolean, ti tinyint, sm smallint, i int, l bigint, f float, d double, de decimal(12,3), da date, ts timestamp, tn timestamp_ntz, s string, v varchar(5), c char(3), bi binary) using iceberg;
-- ordered
describe {ns}.t;
insert into {ns}.t values (true, 1, 2, 3, 4, 1.5, 2.5, 12.345, date'2020-02-29', timestamp'2020-02-29 12:00:00', timestamp_ntz'2020-02-29 13:00:00', 'x', 'abc', 'de', X'0102'), (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
select * from {ns}.t;
select b, count(*) from {ns}.t group by b;

-- case: nested_types
create namespace {ns};
create table {ns}.t (id bigint not null comment 'the key', p struct<x: double comment 'east', y: double, inner: struct<n: int>>, tags array<string>, m map<string, struct<v: int, w: array<bigint>>>) using iceberg comment 'nested things';
-- ordered
describe {ns}.t;
insert into {ns}.t values (1, named_struct('x', 1.5D, 'y', 2.5D, 'inner', named_struct('n', 7)), array('a', 'b'), map('k', named_struct('v', 1, 'w', array(1L, 2L))));
insert into {ns}.t values (2, null, null, null);
insert into {ns}.t select 3, named_struct('x', cast(null as double), 'y', 1D, 'inner', null), array(), map();
select id, p.x, p.inner.n, tags[0], m['k'].w[1] from {ns}.t where id = 1;
select id, p, tags, m from {ns}.t where id > 1;
select id from {ns}.t where p is null;
select id from {ns}.t where p.inner.n = 7;

-- case: partition_spellings
create namespace {ns};
create table {ns}.a (id bigint, ts timestamp, s string) using iceberg partitioned by (year(ts));
create table {ns}.b (id bigint, ts timestamp, s string) using iceberg partitioned by (months(ts), bucket(8, id));
create table {ns}.c (id bigint, ts timestamp, s string) using iceberg partitioned by (date(ts), truncate(3, s));
create table {ns}.d (id bigint, ts timestamp, s string) using iceberg partitioned by (date_hour(ts));
create table {ns}.e (id bigint, ts timestamp, s string) using iceberg partitioned by (hours(ts), s);
create table {ns}.f (id bigint, p string) using iceberg partitioned by (p);
create table {ns}.g (id bigint) using iceberg partitioned by (p string, q int);
create table {ns}.h (id bigint, s string) using iceberg clustered by (id) into 4 buckets;
insert into {ns}.a values (1, timestamp'2020-01-01 00:00:00', 'aaaa'), (2, timestamp'1969-12-31 23:59:59', 'b'), (3, null, null);
insert into {ns}.b values (1, timestamp'2020-01-01 00:00:00', 'aaaa'), (2, timestamp'1969-12-31 23:59:59', 'b'), (3, null, null);
insert into {ns}.c values (1, timestamp'2020-01-01 00:00:00', 'aaaa'), (2, timestamp'1969-12-31 23:59:59', 'b'), (3, null, null);
insert into {ns}.d values (1, timestamp'2020-01-01 00:00:00', 'aaaa'), (2, timestamp'1969-12-31 23:59:59', 'b'), (3, null, null);
insert into {ns}.e values (1, timestamp'2020-01-01 00:00:00', 'aaaa'), (2, timestamp'1969-12-31 23:59:59', 'b'), (3, null, null);
insert into {ns}.g values (1, 'x', 5), (2, null, null);
select partition, record_count, file_count from {ns}.a.partitions;
select partition, record_count, file_count from {ns}.b.partitions;
select partition, record_count, file_count from {ns}.c.partitions;
select partition, record_count, file_count from {ns}.d.partitions;
select partition, record_count, file_count from {ns}.e.partitions;
select partition, record_count, file_count from {ns}.g.partitions;
-- ordered
describe {ns}.b;
-- ordered
describe {ns}.g;
-- ordered
describe {ns}.h;

-- case: partition_refusals
create namespace {ns};
-- error: Invalid number of buckets
create table {ns}.t (id bigint, s string) using iceberg partitioned by (bucket(id, 16));
-- error: not supported
create table {ns}.t (id bigint, s string) using iceberg partitioned by (foo(id));
-- error
create table {ns}.t (id int, l array<struct<a: int>>) using iceberg partitioned by (l.element.a);
-- error
create table {ns}.t (id int, m map<string, int>) using iceberg partitioned by (m.value);
-- error
create table {ns}.t (id bigint, s string) using iceberg partitioned by (nope);
-- error: PARTITION
create table {ns}.t (id bigint, s string) using iceberg partitioned by (id, p string);
-- error
create table {ns}.t (id bigint, ts timestamp) using iceberg partitioned by (days(ts), hours(ts));
-- error
create table {ns}.t (id bigint, s string) using iceberg partitioned by (days(id));
-- error
create table {ns}.t (id bigint, s string) using iceberg partitioned by (bucket(0, id));
-- error
create table {ns}.t (id bigint, id string) using iceberg;
-- error
create table {ns}.t (id bigint, m map<string,int>) using iceberg partitioned by (m);
show tables in {ns};

-- case: properties
create namespace {ns};
create table {ns}.t (id bigint) using iceberg tblproperties ('a'='1', 'write.format.default'='parquet', 'format-version'='2', 'commit.retry.num-retries'='7');
-- ordered
-- mask: value
show tblproperties {ns}.t;
show tblproperties {ns}.t ('a');
show tblproperties {ns}.t ('nope');
alter table {ns}.t set tblproperties ('b'='2', 'a'='3');
alter table {ns}.t unset tblproperties ('b');
alter table {ns}.t unset tblproperties if exists ('zzz');
show tblproperties {ns}.t ('a');
-- error
create table {ns}.u (id bigint) using iceberg tblproperties ('format-version'='9');
-- error
alter table {ns}.t set tblproperties ('format-version'='1');
-- error: sort-order
alter table {ns}.t set tblproperties ('sort-order'='id');
alter table {ns}.t set tblproperties ('format-version'='3');
show tblproperties {ns}.t ('format-version');
-- error
create table {ns}.v (id bigint) using crocodile;

-- case: ctas
create namespace {ns};
create table {ns}.t using iceberg as select id, id * 2 as twice, cast(id as string) as s from range(10);
select * from {ns}.t;
create table {ns}.p using iceberg partitioned by (bucket(2, id)) tblproperties ('k'='v') as select * from {ns}.t where id > 3;
select count(*), sum(twice) from {ns}.p;
create table {ns}.e using iceberg as select * from {ns}.t where false;
select * from {ns}.e;
create table if not exists {ns}.t using iceberg as select 99 as other;
select count(*) from {ns}.t;
-- error: already exists
create table {ns}.t using iceberg as select 1 as x;
-- error: Schema may not be specified
create table {ns}.u (id int) using iceberg as select 1 as id;
-- error: required field with unknown type
create table {ns}.m using iceberg tblproperties ('format-version'='3') as select map() as m;
select operation, summary['total-records'] from {ns}.p.snapshots;

-- case: replace
create namespace {ns};
create table {ns}.t using iceberg partitioned by (s) tblproperties ('keep'='yes') as select id, cast(id % 2 as string) s from range(6);
alter table {ns}.t create tag before;
create or replace table {ns}.t using iceberg tblproperties ('new'='x') as select id as key, 'a' as s from range(3);
select * from {ns}.t;
select count(*) from {ns}.t version as of 'before';
replace table {ns}.t using iceberg partitioned by (key) as select cast(7 as bigint) as key;
select * from {ns}.t;
replace table {ns}.t (z int, s string) using iceberg;
select * from {ns}.t;
insert into {ns}.t values (1, 'one');
select * from {ns}.t;
-- error
replace table {ns}.missing using iceberg as select 1 as x;
create or replace table {ns}.fresh using iceberg as select 1 as x;
select operation from {ns}.t.snapshots;
select operation from {ns}.fresh.snapshots;

-- case: drop
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
drop table {ns}.t;
-- error
drop table {ns}.t;
drop table if exists {ns}.t;
-- error
select * from {ns}.t;
create table {ns}.t (id int) using iceberg;
select * from {ns}.t;
drop table {ns}.t purge;
show tables in {ns};
create table {ns}.t (id int) using iceberg;
-- error: Cannot rename Hadoop tables
alter table {ns}.t rename to {ns}.u;

-- case: not_null_and_comments
create namespace {ns};
create table {ns}.t (id int not null, s string comment 'text', p struct<a: int not null, b: string>) using iceberg;
-- ordered
describe {ns}.t;
-- error
insert into {ns}.t values (null, 'x', null);
insert into {ns}.t values (1, null, named_struct('a', 1, 'b', 'z'));
-- error
insert into {ns}.t select cast(null as int), 'x', named_struct('a', 1, 'b', 'z');
comment on table {ns}.t is 'all of it';
show tblproperties {ns}.t ('comment');
select * from {ns}.t;

-- case: format_versions
-- each: v=1,2,3
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg partitioned by (s) tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, 'a'), (2, 'b'), (3, null);
insert into {ns}.t values (4, 'a');
select * from {ns}.t;
select content, file_format, spec_id, partition, record_count from {ns}.t.files;
delete from {ns}.t where s = 'a';
select * from {ns}.t;
alter table {ns}.t add column extra double;
insert into {ns}.t values (5, 'c', 1.5);
select * from {ns}.t where extra is null or extra > 1;
select operation, summary['total-records'] from {ns}.t.snapshots;

-- case: file_formats
-- each: f=parquet,orc,avro
create namespace {ns};
create table {ns}.t (id bigint, s string, d decimal(9,2), da date, ts timestamp, b binary, p struct<a: int, l: array<string>>) using iceberg partitioned by (truncate(1, s)) tblproperties ('write.format.default'='{f}');
insert into {ns}.t values (1, 'abc', 1.25, date'2021-05-05', timestamp'2021-05-05 05:05:05', X'ff', named_struct('a', 1, 'l', array('x', null))), (2, null, null, null, null, null, null);
insert into {ns}.t select id + 10, 's' || id, id / 4, date'2021-01-01', timestamp'2021-01-01 00:00:00', null, null from range(5);
select * from {ns}.t;
select count(*), max(d) from {ns}.t where s >= 's2';
select distinct file_format from {ns}.t.files;
alter table {ns}.t rename column d to dd;
alter table {ns}.t drop column b;
alter table {ns}.t add column n int;
select id, dd, n, p.l from {ns}.t where id in (1, 11);
delete from {ns}.t where id = 11;
update {ns}.t set n = 5 where id = 12;
select id, n from {ns}.t;
