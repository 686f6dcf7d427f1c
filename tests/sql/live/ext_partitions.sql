-- Partition and sort evolution.

-- case: add_drop_replace
-- each: v=1,2
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, s string) using iceberg partitioned by (days(ts)) tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, timestamp'2020-01-01 00:00:00', 'aa'), (2, timestamp'2020-01-02 00:00:00', 'bb');
alter table {ns}.t add partition field bucket(4, id);
alter table {ns}.t add partition field truncate(1, s) as first_letter;
insert into {ns}.t values (3, timestamp'2020-01-01 00:00:00', 'ab'), (4, timestamp'2020-01-03 00:00:00', 'cc');
select * from {ns}.t where s like 'a%';
select * from {ns}.t where id = 3;
select * from {ns}.t where ts >= timestamp'2020-01-02 00:00:00';
alter table {ns}.t drop partition field first_letter;
alter table {ns}.t replace partition field ts_day with hours(ts);
insert into {ns}.t values (5, timestamp'2020-01-03 05:00:00', 'dd');
select * from {ns}.t where ts = timestamp'2020-01-03 05:00:00';
alter table {ns}.t drop partition field bucket(4, id);
alter table {ns}.t add partition field bucket(4, id) as shard;
alter table {ns}.t drop partition field hours(ts);
alter table {ns}.t add partition field truncate(1, s);
insert into {ns}.t values (6, null, null);
select * from {ns}.t;
select partition, spec_id, record_count from {ns}.t.partitions;
select spec_id, partition from {ns}.t.files;
delete from {ns}.t where ts < timestamp'2020-01-02 00:00:00';
select * from {ns}.t;
-- ordered
describe {ns}.t;

-- case: refusals
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, s string) using iceberg partitioned by (days(ts));
-- error
alter table {ns}.t add partition field days(ts);
alter table {ns}.t add partition field hours(ts);
alter table {ns}.t drop partition field hours(ts);
-- error
alter table {ns}.t add partition field nope;
-- error
alter table {ns}.t add partition field bucket(4, s) as id;
-- error
alter table {ns}.t drop partition field s;
-- error
alter table {ns}.t drop partition field bucket(8, id);
-- error
alter table {ns}.t add partition field foo(id);
-- error
alter table {ns}.t add partition field bucket(0, id);
-- error
alter table {ns}.t add partition field days(s);
-- error
alter table {ns}.t drop column ts;
alter table {ns}.t drop column s;
alter table {ns}.t rename column ts to event_time;
insert into {ns}.t values (1, timestamp'2020-01-01 00:00:00');
select partition from {ns}.t.partitions;

-- case: write_orders
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, s string, p struct<a: int>) using iceberg partitioned by (days(ts));
alter table {ns}.t write ordered by s, id desc nulls last;
alter table {ns}.t write ordered by (bucket(4, id), days(ts) desc);
alter table {ns}.t write locally ordered by s asc nulls last;
alter table {ns}.t write distributed by partition;
alter table {ns}.t write distributed by partition ordered by id;
alter table {ns}.t write locally ordered by p.a distributed by partition;
alter table {ns}.t write unordered;
alter table {ns}.t write distributed by partition unordered;
-- error
alter table {ns}.t write ordered by nope;
-- error
alter table {ns}.t write;
-- error
alter table {ns}.t write ordered by id unordered;
alter table {ns}.t write ordered by id;
-- error
alter table {ns}.t drop column id;
show tblproperties {ns}.t ('write.distribution-mode');

-- case: identifier_fields
create namespace {ns};
create table {ns}.t (id bigint not null, s string not null, o int, f double not null, p struct<a: int not null> not null) using iceberg;
alter table {ns}.t set identifier fields id, s;
-- error
alter table {ns}.t set identifier fields o;
-- error
alter table {ns}.t set identifier fields f;
-- error
alter table {ns}.t set identifier fields nope;
alter table {ns}.t set identifier fields id, p.a;
-- error
alter table {ns}.t drop column id;
alter table {ns}.t drop identifier fields p.a;
-- error
alter table {ns}.t drop identifier fields s;
-- error
alter table {ns}.t drop identifier fields nope;
alter table {ns}.t drop identifier fields id;
alter table {ns}.t drop column s;

-- case: no_partition_is_not_that_of_null
create namespace {ns};
create table {ns}.t (id int, p int, q int) using iceberg tblproperties ('write.delete.mode'='merge-on-read');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, null, null), (3, 4, null);
alter table {ns}.t add partition field bucket(3, p);
delete from {ns}.t where id = 3;
insert into {ns}.t select /*+ coalesce(1) */ * from values (2, null, 1), (2, 7, null);
alter table {ns}.t add partition field q;
insert into {ns}.t select /*+ coalesce(1) */ * from values (5, null, null), (6, 7, null);
alter table {ns}.t drop partition field bucket(3, p);
insert into {ns}.t select /*+ coalesce(1) */ * from values (7, null, null), (8, 7, null);
select partition, spec_id, record_count, file_count, position_delete_record_count from {ns}.t.partitions;
select partition, record_count from {ns}.t.partitions where partition.q is null;
