-- Partition fields, write orders and refs in their corners.

-- case: reuse_of_fields
-- each: v=1,2
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, s string) using iceberg tblproperties ('format-version'='{v}');
alter table {ns}.t add partition field bucket(8, id) as shard;
alter table {ns}.t drop partition field shard;
alter table {ns}.t add partition field bucket(8, id);
alter table {ns}.t drop partition field bucket(8, id);
alter table {ns}.t add partition field bucket(16, id) as wide;
alter table {ns}.t add partition field s;
alter table {ns}.t drop partition field s;
alter table {ns}.t add partition field s;
insert into {ns}.t values (1, null, 'x');
alter table {ns}.t replace partition field s with truncate(1, s) as s1;
alter table {ns}.t replace partition field wide with bucket(8, id) as narrow;
insert into {ns}.t values (2, timestamp'2020-01-01 00:00:00', 'y');
select partition, spec_id, record_count from {ns}.t.partitions;
alter table {ns}.t add partition field days(ts) as ts;
-- error
alter table {ns}.t drop partition field ts;
alter table {ns}.t add partition field hours(ts);
alter table {ns}.t add partition field years(ts);
alter table {ns}.t drop partition field days(ts);
insert into {ns}.t values (3, timestamp'2021-01-01 00:00:00', 'z');
select partition, spec_id, record_count from {ns}.t.partitions;
select * from {ns}.t where ts > timestamp'2020-06-01 00:00:00';

-- case: undo_and_rename
create namespace {ns};
create table {ns}.t (id bigint, s string) using iceberg partitioned by (s);
alter table {ns}.t replace partition field s with s as t;
alter table {ns}.t replace partition field t with bucket(2, s);
alter table {ns}.t replace partition field s_bucket_2 with s;
-- error
alter table {ns}.t replace partition field nope with id;
-- error
alter table {ns}.t replace partition field s with nope;
-- error
alter table {ns}.t add partition field id as s;
-- error
alter table {ns}.t add partition field bucket(4, id) as s;
-- error
alter table {ns}.t add partition field truncate(2, s) as id;
alter table {ns}.t add partition field truncate(10, id) as id;
-- error
alter table {ns}.t add column s_bucket_2 int;
alter table {ns}.t rename column s to s_bucket_2;
-- error
alter table {ns}.t add column t int;
-- ordered
describe {ns}.t;

-- case: spellings
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, d date, s string, b binary, n decimal(9,2), p struct<x: int, y: struct<z: string>>) using iceberg;
alter table {ns}.t add partition field identity(id);
alter table {ns}.t add partition field BUCKET(id, 4);
alter table {ns}.t add partition field truncate(s, 3);
alter table {ns}.t add partition field Year(ts);
alter table {ns}.t add partition field months(d);
alter table {ns}.t add partition field date(ts);
alter table {ns}.t add partition field date_hour(ts);
alter table {ns}.t add partition field p.x;
alter table {ns}.t add partition field truncate(1, p.y.z);
alter table {ns}.t add partition field bucket(2, n) as `odd name`;
alter table {ns}.t add partition field truncate(4, b);
-- ordered
describe {ns}.t;
insert into {ns}.t values (1, timestamp'1969-12-31 23:00:00', date'1969-01-31', 'abcdef', X'010203040506', -1.23, named_struct('x', 7, 'y', named_struct('z', 'zz')));
select partition from {ns}.t.partitions;
alter table {ns}.t drop partition field `odd name`;
alter table {ns}.t drop partition field day(ts);
alter table {ns}.t drop partition field truncate(p.y.z, 1);
alter table {ns}.t drop partition field p.x;
-- error
alter table {ns}.t add partition field void(id);
-- error
alter table {ns}.t add partition field zorder(id, d);
-- error
alter table {ns}.t add partition field bucket(id);
-- error
alter table {ns}.t add partition field bucket(-1, id);
-- error
alter table {ns}.t add partition field truncate(99999999999, s);
-- error
alter table {ns}.t add partition field truncate(2, ts);
-- error
alter table {ns}.t add partition field years(id);
-- error
alter table {ns}.t add partition field p;
-- error
alter table {ns}.t add partition field bucket(2, 'id');
-- error
alter table {ns}.t add partition field;
-- error
alter table {ns}.t add partition field id as;
-- error
alter table {ns}.t add partition field id as a.b;
-- error
alter table {ns}.t add partition field id, s;
-- error
alter table {ns}.t drop partition field id as x;
-- ordered
describe {ns}.t;

-- case: drop_column_of_dropped_field
-- each: v=1,2,3
create namespace {ns};
create table {ns}.t (id bigint, s string, q int) using iceberg partitioned by (truncate(2, s), q) tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, 'abc', 1);
alter table {ns}.t drop partition field q;
insert into {ns}.t values (2, 'xyz', 2);
alter table {ns}.t rename column q to qq;
insert into {ns}.t values (3, 'xyz', 3);
select * from {ns}.t where qq = 1;
select * from {ns}.t where s like 'x%';
select spec_id, partition, record_count from {ns}.t.partitions;
alter table {ns}.t add partition field qq;
insert into {ns}.t values (4, 'q', 4);
select spec_id, partition, record_count from {ns}.t.partitions;

-- case: promoted_partition_sources
create namespace {ns};
create table {ns}.t (i int, j int, f float, d decimal(5,2)) using iceberg partitioned by (i, bucket(4, j));
insert into {ns}.t values (1, 2, 0.5, 1.25);
alter table {ns}.t alter column i type bigint;
alter table {ns}.t alter column j type bigint;
insert into {ns}.t values (5000000000, 6000000000, 1.5, 2.5);
select * from {ns}.t where i = 1 and j = 2;
select partition, record_count from {ns}.t.partitions;

-- case: write_order_forms
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, s string, p struct<a: int, b: string>) using iceberg partitioned by (bucket(2, id));
alter table {ns}.t write ordered by id;
show tblproperties {ns}.t ('write.distribution-mode');
show tblproperties {ns}.t ('sort-order');
alter table {ns}.t write ordered by (s asc nulls last, p.a desc nulls first, truncate(2, s), bucket(4, id) desc, years(ts));
show tblproperties {ns}.t ('sort-order');
alter table {ns}.t write locally ordered by id desc;
show tblproperties {ns}.t ('write.distribution-mode');
alter table {ns}.t write distributed by partition;
show tblproperties {ns}.t ('sort-order');
show tblproperties {ns}.t ('write.distribution-mode');
alter table {ns}.t write distributed by partition locally ordered by s;
alter table {ns}.t write ordered by s distributed by partition;
alter table {ns}.t write unordered;
show tblproperties {ns}.t ('write.distribution-mode');
alter table {ns}.t write unordered distributed by partition;
show tblproperties {ns}.t ('write.distribution-mode');
alter table {ns}.t write ordered by id;
-- error
alter table {ns}.t write distributed by partition distributed by partition;
-- error
alter table {ns}.t write ordered by id ordered by s;
-- error
alter table {ns}.t write ordered by id locally ordered by s;
-- error
alter table {ns}.t write unordered unordered;
-- error
alter table {ns}.t write ordered by;
-- error
alter table {ns}.t write ordered by ();
-- error
alter table {ns}.t write ordered by id nulls;
-- error
alter table {ns}.t write ordered by id asc desc;
-- error
alter table {ns}.t write ordered by p;
-- error
alter table {ns}.t write ordered by zorder(id, s);
-- error
alter table {ns}.t write ordered by days(s);
-- error
alter table {ns}.t write distributed by id;
-- error
alter table {ns}.t write locally distributed by partition;
-- error
alter table {ns}.t.files write unordered;
-- error
alter table {ns}.nope write unordered;
insert into {ns}.t values (2, null, 'b', null), (1, null, 'a', null);
select sort_order_id from {ns}.t.files;
alter table {ns}.t rename column id to key;
show tblproperties {ns}.t ('sort-order');
-- error
alter table {ns}.t drop column key;
alter table {ns}.t write ordered by (key);
-- error
alter table {ns}.t write ordered by (key) desc;
-- ordered
select s from {ns}.t order by key;

-- case: refs_everywhere
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
-- set: a
select snapshot_id from {ns}.t.snapshots;
alter table {ns}.t create branch b1 as of version {a} retain 10 days with snapshot retention 3 snapshots 2 hours;
alter table {ns}.t create or replace branch b1 retain 20 minutes;
alter table {ns}.t replace branch b1 with snapshot retention 9 snapshots;
alter table {ns}.t create branch if not exists b1 as of version 5;
alter table {ns}.t create tag t1 as of version {a} retain 5 hours;
alter table {ns}.t replace tag t1 retain 6 hours;
alter table {ns}.t create or replace tag t1;
-- ordered
select name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms from {ns}.t.refs order by name;
-- error
alter table {ns}.t create branch b2 retain 99999999999999999999 days;
alter table {ns}.t create branch b5 retain 999999999999999 days;
alter table {ns}.t create tag t5 retain 9223372036854775807 minutes;
alter table {ns}.t create branch b6 with snapshot retention 3000000 snapshots 99999999999999999 hours;
-- error
alter table {ns}.t create branch b7 as of version 99999999999999999999;
-- error
alter table {ns}.t create branch b7 with snapshot retention 3000000000 snapshots;
-- ordered
select name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms from {ns}.t.refs order by name;
alter table {ns}.t drop branch b5;
alter table {ns}.t drop tag t5;
alter table {ns}.t drop branch b6;
-- error
alter table {ns}.t create branch b2 with snapshot retention 2 snapshots 2 snapshots;
-- error
alter table {ns}.t create branch b2 with snapshot retention 2 days 2 hours;
-- error
alter table {ns}.t create branch b2 retain days;
-- error
alter table {ns}.t create branch if exists b2;
-- error
alter table {ns}.t replace branch if exists b1;
-- error
alter table {ns}.t create tag t1;
-- error
alter table {ns}.t create tag if not exists;
-- error
alter table {ns}.t replace tag t9;
-- error
alter table {ns}.t drop branch t1;
-- error
alter table {ns}.t drop tag b1;
-- error
alter table {ns}.t rename branch b1 to b3;
-- error
alter table {ns}.t create branch b4 as of timestamp '2020-01-01';
alter table {ns}.t drop tag t1;
alter table {ns}.t drop branch b1;
alter table {ns}.t drop tag if exists t1;
alter   TABLE {ns}.t
  CREATE BRANCH x1;
select name from {ns}.t.refs;
