-- INSERT in all its forms.

-- case: columns_and_names
create namespace {ns};
create table {ns}.t (id bigint, s string, d double) using iceberg;
insert into {ns}.t (s, id) values ('x', 1);
insert into {ns}.t (id) values (2);
insert into {ns}.t by name select 'z' as s, 3 as id;
insert into {ns}.t select 4, 'w', 1.5;
insert into {ns}.t values (5, default, default);
insert into {ns}.t table {ns}.t;
select * from {ns}.t;
-- error
insert into {ns}.t values (1, 'a');
-- error
insert into {ns}.t values (1, 'a', 2.0, 3);
-- error
insert into {ns}.t (id, nope) values (1, 2);
-- error
insert into {ns}.t by name select 1 as id, 2 as nope;
-- error
insert into {ns}.t (id, id) values (1, 2);
-- error
insert into {ns}.t values ('abc', 'a', 1.0);
-- error
insert into {ns}.t select array(1), 'a', 1.0;
select count(*) from {ns}.t;

-- case: store_assignment
create namespace {ns};
create table {ns}.t (i int, l bigint, f float, de decimal(5,2), da date, ts timestamp, s string, b boolean) using iceberg;
insert into {ns}.t select 1L, 2, 1.5D, 12.345, date'2020-01-01', date'2020-01-02', 7, true;
-- error
insert into {ns}.t (i) values (3000000000);
-- error
insert into {ns}.t (de) values (123456.7);
-- error
insert into {ns}.t (da) values ('2020-01-01');
-- error
insert into {ns}.t (b) values (1);
-- error
insert into {ns}.t (i) values ('12');
insert into {ns}.t (s) values (12), (13);
insert into {ns}.t (l) values (cast(5 as tinyint));
select * from {ns}.t;

-- case: overwrite_static
create namespace {ns};
create table {ns}.t (id int, p string, q int) using iceberg partitioned by (p, q);
insert into {ns}.t values (1, 'a', 1), (2, 'a', 2), (3, 'b', 1), (4, null, 1);
insert overwrite {ns}.t partition (p = 'a') select 10, 5;
select * from {ns}.t;
insert overwrite {ns}.t partition (p = 'a', q = 5) select 11;
select * from {ns}.t;
insert overwrite {ns}.t partition (p, q = 1) select 12, 'b';
select * from {ns}.t;
insert overwrite {ns}.t select 20, 'z', 9;
select * from {ns}.t;
-- error
insert overwrite {ns}.t partition (id = 1) select 'a', 1;
-- error
insert overwrite {ns}.t partition (nope = 1) select 1, 'a', 1;
insert into {ns}.t partition (p = 'k', q = 3) values (30), (31);
select * from {ns}.t;
select operation, summary['replace-partitions'] from {ns}.t.snapshots;

-- case: overwrite_dynamic
create namespace {ns};
create table {ns}.t (id int, ts timestamp, s string) using iceberg partitioned by (days(ts));
insert into {ns}.t values (1, timestamp'2020-01-01 10:00:00', 'a'), (2, timestamp'2020-01-02 10:00:00', 'b'), (3, null, 'c');
set spark.sql.sources.partitionOverwriteMode = dynamic;
insert overwrite {ns}.t values (4, timestamp'2020-01-02 12:00:00', 'd'), (5, timestamp'2020-01-03 12:00:00', 'e');
select * from {ns}.t;
insert overwrite {ns}.t select * from {ns}.t where false;
select * from {ns}.t;
insert overwrite {ns}.t values (6, null, 'n');
select * from {ns}.t;
select operation, summary['replace-partitions'] from {ns}.t.snapshots;
insert overwrite {ns}.t with ('overwrite-mode'='static') values (7, null, 'o');
select * from {ns}.t;
set spark.sql.sources.partitionOverwriteMode = static;
insert overwrite {ns}.t with ('overwrite-mode'='dynamic') values (8, timestamp'2020-01-01 10:00:00', 'p');
select * from {ns}.t;

-- case: replace_where
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a'), (2, 'b'), (3, 'c');
insert into {ns}.t replace where p = 'b' values (20, 'b'), (21, 'b');
select * from {ns}.t;
insert into {ns}.t replace where p in ('a', 'c') select 30, 'c';
select * from {ns}.t;
-- error
insert into {ns}.t replace where id = 20 values (22, 'b');
select * from {ns}.t;

-- case: from_queries
create namespace {ns};
create table {ns}.src (id bigint, v string) using iceberg;
create table {ns}.dst (id bigint, v string, n bigint) using iceberg partitioned by (bucket(4, id));
insert into {ns}.src select id, 'v' || id from range(20);
insert into {ns}.dst with c as (select id, v from {ns}.src where id < 5) select id, v, id * id from c;
with c as (select * from {ns}.src where id between 5 and 7) insert into {ns}.dst select id, v, 0 from c;
insert into {ns}.dst select s.id, s.v, count(*) from {ns}.src s join {ns}.src r on r.id <= s.id where s.id > 17 group by s.id, s.v;
select * from {ns}.dst;
from {ns}.src insert into {ns}.dst select id + 100, v, 1 where id = 1 insert into {ns}.src select id + 100, v where id = 2;
select count(*) from {ns}.dst;
select max(id) from {ns}.src;
insert into {ns}.dst select id, v, n from {ns}.dst where id = 100;
insert into {ns}.src select id, v from {ns}.src where id < 3;
select count(*), count(distinct id) from {ns}.src;

-- case: write_options
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t with ('snapshot-property.who'='me') values (1, 'a');
select summary['who'] from {ns}.t.snapshots;
alter table {ns}.t create branch b1;
insert into {ns}.t with ('branch'='b1') values (2, 'b');
insert into {ns}.t.branch_b1 values (3, 'c');
select * from {ns}.t;
select * from {ns}.t.branch_b1;
select * from {ns}.t version as of 'b1' where id > 2;
-- error
insert into {ns}.t.branch_nope values (9, 'z');
-- error
insert into {ns}.t.tag_x values (9, 'z');
insert into {ns}.t with ('write-format'='orc') values (4, 'd');
select distinct file_format from {ns}.t.files;
insert into {ns}.t with ('isolation-level'='of no use here') values (5, 'e');
-- error
insert overwrite {ns}.t with ('isolation-level'='nope') values (5, 'e');

-- case: sorted_and_distributed
create namespace {ns};
create table {ns}.t (id bigint, s string, ts timestamp) using iceberg partitioned by (months(ts));
alter table {ns}.t write ordered by s desc, id;
insert into {ns}.t select id, cast(id % 7 as string), timestamp'2020-01-01 00:00:00' + make_interval(0, id % 3) from range(200);
select partition, record_count, file_count from {ns}.t.partitions;
select count(distinct s), sum(id) from {ns}.t;
alter table {ns}.t write distributed by partition locally ordered by id;
insert into {ns}.t select id, 'x', timestamp'2020-02-01 00:00:00' from range(50);
select sort_order_id, count(*) from {ns}.t.files group by sort_order_id;
alter table {ns}.t write unordered;
insert into {ns}.t values (1000, 'last', timestamp'2020-03-03 00:00:00');
select sort_order_id, count(*) from {ns}.t.files group by sort_order_id;

-- case: merge_schema
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.spark.accept-any-schema'='true');
insert into {ns}.t with ('mergeSchema'='true') select 1 as id, 'a' as s, 2.5D as extra;
select * from {ns}.t;
insert into {ns}.t with ('merge-schema'='true') select 2L as id, 'b' as s, 3.5D as extra;
select * from {ns}.t;

-- case: a_partition_value_is_an_instant
create namespace {ns};
create table {ns}.t (id int, at timestamp, n timestamp_ntz) using iceberg partitioned by (at, n);
insert into {ns}.t values (1, timestamp '2024-02-29 12:30:00', timestamp_ntz '1969-12-31 23:59:59.999999'), (2, null, null);
set spark.sql.session.timeZone = America/New_York;
insert overwrite {ns}.t partition (at = timestamp '2024-02-29 07:30:00') select 3, timestamp_ntz '2024-01-01 00:00:00';
insert overwrite {ns}.t partition (at = timestamp '1969-12-31 23:59:59.999999', n = timestamp_ntz '1970-01-01 00:00:00') select 4;
insert overwrite {ns}.t partition (at = null) select 5, null;
select * from {ns}.t order by id;

-- case: any_schema_and_types
create namespace {ns};
create table {ns}.t (id bigint, s string, d double, de decimal(10,2), ts timestamp, n struct<a: bigint, b: string>, l array<int>, m map<string, double>)
using iceberg tblproperties ('write.spark.accept-any-schema'='true');
-- error: id: double cannot be promoted to long
insert into {ns}.t select 1.5D id;
-- error: id: float cannot be promoted to long
insert into {ns}.t (id) values (1.5f);
-- error: cannot be promoted to long
insert overwrite {ns}.t by name select 1.5 id;
-- error: id: string cannot be promoted to long
insert into {ns}.t replace where id = 1 select '1' id;
-- error: s: int cannot be promoted to string
insert into {ns}.t (id, s) select 1, 7;
-- error: d: int cannot be promoted to double
insert into {ns}.t select 1 d;
-- error: cannot be promoted to decimal(10, 2)
insert into {ns}.t select cast(1 as decimal(12,2)) de;
-- error: cannot be promoted to decimal(10, 2)
insert into {ns}.t select cast(1 as decimal(10,1)) de;
-- error: ts: date cannot be promoted to timestamptz
insert into {ns}.t select date'2020-01-01' ts;
-- error: n.a: double cannot be promoted to long
insert into {ns}.t select named_struct('a', 1D, 'b', 'x') n;
-- error: n.b: int cannot be promoted to string
insert into {ns}.t with ('check-ordering'='false') select named_struct('b', 5, 'a', 1) n;
-- error: l.element: long cannot be promoted to int
insert into {ns}.t select array(1L) l;
-- error: m.key: int cannot be promoted to string
insert into {ns}.t select map(1, 1D) m;
-- error: n: string cannot be read as a
insert into {ns}.t select 'x' n;
insert into {ns}.t select cast(1 as tinyint) id, 1f d, cast(1 as decimal(8,2)) de, timestamp_ntz'2020-01-01 00:00:00' ts;
insert into {ns}.t select 5L id, named_struct('a', 1, 'b', 'x') n, array(cast(2 as smallint)) l, map('k', 1f) m;
select * from {ns}.t;
