-- Queries over our tables: joins, subqueries, time travel, functions, metadata columns.

-- case: shapes
create namespace {ns};
create table {ns}.a (id bigint, s string, p int) using iceberg partitioned by (p);
create table {ns}.b (id bigint, v double) using iceberg partitioned by (bucket(4, id));
insert into {ns}.a select id, 's' || (id % 5), id % 3 from range(30);
insert into {ns}.b select id * 2, id / 2.0D from range(20);
select a.id, b.v from {ns}.a a join {ns}.b b on a.id = b.id where a.p = 1;
select * from {ns}.a where id in (select id from {ns}.b where v > 5);
select s, count(*) c, sum(v) from {ns}.a left join {ns}.b using (id) group by s having count(*) > 2;
with a as (select 1 as id) select * from a;
with x as (select * from {ns}.a where p = 2), y as (select max(id) m from x) select x.* from x, y where x.id = y.m;
select id, row_number() over (partition by p order by id desc) r from {ns}.a where id < 9;
select (select max(v) from {ns}.b) as top, (select count(*) from {ns}.a a where a.p = b.id % 3) as n from {ns}.b b where b.id < 6;
select id from {ns}.a where p = 0 union all select id from {ns}.b where v < 1 except select 3;
table {ns}.b;
from {ns}.a select p, count(*) group by p;
select * from (select p, s from {ns}.a) pivot (count(s) for p in (0, 1, 2));
select {ns}.a.id from {ns}.a where {ns}.a.id = 4;
select a.id from {ns}.a where a.id = 4;
select * from {ns}.a tablesample (100 percent) where id = 1;
select t.* from {ns}.b as t(k, w) where k = 4;
select x.id, l.n from {ns}.a x, lateral (select x.id + 1 as n) l where x.id < 3;
select e from (select collect_list(id) l from {ns}.a where id < 3) lateral view explode(l) as e;
select count(*), count(s), min(id), max(id), min(s), max(p) from {ns}.a;
select count(*) from {ns}.a where p = 1;
select p, min(id), max(id) from {ns}.a group by p;
select * from {ns}.a |> where id = 7 |> select id, p;
values (1), (2);
select `id` from {ns}.`a` where `id` = 5;
select ID, S from {ns}.a where Id = 5;
-- error
select ID, S from {ns}.A where Id = 5;
-- error
select nope from {ns}.a;
-- error
select * from {ns}.nope;
-- error
select * frm {ns}.a;
cache table cached_a as select * from {ns}.a where p = 1;
select count(*) from cached_a;
uncache table cached_a;
drop view cached_a;
create temporary view va as select id, p from {ns}.a where p < 2;
select p, count(*) from va group by p;
drop view va;

-- case: time_travel
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a');
-- set: first
select snapshot_id from {ns}.t.snapshots order by committed_at limit 1;
alter table {ns}.t create tag one;
alter table {ns}.t create branch side;
alter table {ns}.t add column x int;
insert into {ns}.t values (2, 'b', 20);
insert into {ns}.t.branch_side values (3, 'c', 30);
select * from {ns}.t;
select * from {ns}.t version as of {first};
select * from {ns}.t version as of 'one';
select * from {ns}.t version as of 'side';
select * from {ns}.t for version as of {first};
select * from {ns}.t for system_version as of 'one';
select * from {ns}.t.tag_one;
select * from {ns}.t.branch_side where x is not null;
select * from {ns}.t.snapshot_id_{first};
select count(*) from {ns}.t timestamp as of current_timestamp();
select a.id, b.id from {ns}.t a left join {ns}.t version as of 'one' b on a.id = b.id;
-- error
select * from {ns}.t version as of 12345;
-- error
select * from {ns}.t version as of 'nope';
-- error
select * from {ns}.t timestamp as of '1999-01-01 00:00:00';
-- error
select * from {ns}.t.branch_side version as of 'one';
-- error
delete from {ns}.t.tag_one where id = 1;
select name, type from {ns}.t.refs;
select count(*) from {ns}.t.files version as of 'one';

-- case: functions
create namespace {ns};
-- loose
select local.system.bucket(16, 34), local.system.bucket(16, cast(34 as bigint)), local.system.bucket(16, 'iceberg'), local.system.bucket(16, date'2017-11-16'), local.system.bucket(16, X'00010203'), local.system.bucket(16, 14.20), local.system.bucket(16, cast(null as int));
-- loose
select local.system.truncate(10, 1), local.system.truncate(10, -1), local.system.truncate(50, 10.65), local.system.truncate(3, 'iceberg'), local.system.truncate(2, X'010203'), local.system.truncate(3, cast(null as string));
-- loose
select local.system.years(date'2017-12-01'), local.system.months(timestamp'2017-12-01 10:12:55'), local.system.days(timestamp'1969-12-31 23:00:00'), local.system.hours(timestamp'2017-12-01 10:12:55'), local.system.years(cast(null as date));
create table {ns}.t (id bigint, ts timestamp, s string) using iceberg partitioned by (bucket(8, id), days(ts), truncate(2, s));
insert into {ns}.t select id, timestamp'2020-01-01 00:00:00' + make_interval(0, 0, 0, id), 's' || id from range(20);
select id from {ns}.t where local.system.bucket(8, id) = 3;
select id from {ns}.t where local.system.days(ts) = date'2020-01-05';
select id from {ns}.t where local.system.truncate(2, s) = 's1';
select local.system.bucket(8, id) b, count(*) from {ns}.t group by 1;
delete from {ns}.t where local.system.bucket(8, id) = 3;
select count(*) from {ns}.t;
-- error
select local.system.bucket('x', 1);
-- error
select local.system.nope(1);
show functions in local.system;

-- case: metadata_columns
-- each: v=2,3
create namespace {ns};
create table {ns}.t (id bigint, p string) using iceberg partitioned by (p) tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, 'a'), (2, 'a'), (3, 'b');
select id, _pos, _spec_id, _partition, _deleted from {ns}.t;
select count(distinct _file) from {ns}.t;
select id from {ns}.t where _pos = 1;
select id from {ns}.t where _partition.p = 'b';
alter table {ns}.t add partition field bucket(2, id);
insert into {ns}.t values (4, 'b');
select id, _spec_id, _partition from {ns}.t;
select p, max(id), count(_pos) from {ns}.t group by p;

-- case: row_lineage
create namespace {ns};
create table {ns}.t (id bigint, s string) using iceberg tblproperties ('format-version'='3');
insert into {ns}.t select /*+ coalesce(1) */ id, 'a' from range(3);
insert into {ns}.t values (10, 'b');
select id, _row_id, _last_updated_sequence_number from {ns}.t;
update {ns}.t set s = 'x' where id = 1;
select id, s, _row_id, _last_updated_sequence_number from {ns}.t;
alter table {ns}.t set tblproperties ('write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read');
update {ns}.t set s = 'y' where id = 2;
delete from {ns}.t where id = 0;
select id, s, _row_id, _last_updated_sequence_number from {ns}.t;
select first_row_id, record_count from {ns}.t.data_files;
