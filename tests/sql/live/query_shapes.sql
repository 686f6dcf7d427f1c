-- Our tables in every place a query has for one. One pair of tables a case; most statements check one place.

-- case: places
create namespace {ns};
create table {ns}.a (id bigint, s string, p int) using iceberg partitioned by (p);
create table {ns}.b (id bigint, v double) using iceberg;
insert into {ns}.a values (1, 'x', 0), (2, 'y', 1), (3, 'x', 1), (4, null, 2);
insert into {ns}.b values (1, 1.5), (3, 2.5), (5, null);
select (select count(*) from {ns}.b) + 1 as n;
select id from {ns}.a order by (select max(id) from {ns}.b) - id;
select s, count(*) from {ns}.a group by s having count(*) > (select count(*) from {ns}.b where v > 100);
select case when id in (select id from {ns}.b) then 'in' else 'out' end from {ns}.a;
select id from {ns}.a x where exists (select 1 from {ns}.b y where y.id = x.id and y.v > 2);
select id from {ns}.a x where not exists (select 1 from {ns}.b y where y.id = x.id);
select id from {ns}.a where id not in (select id from {ns}.b);
-- error
select id from {ns}.a where id > all (select 1);
select id from {ns}.a where (id, p) in (select id, cast(id as int) - 2 from {ns}.b);
select id from {ns}.a where id = (select min(id) from {ns}.b where v is not null);
select a.id, b.v from {ns}.a full outer join {ns}.b on a.id = b.id and a.p = (select 1);
select * from {ns}.a natural join {ns}.b;
select * from {ns}.a left semi join {ns}.b using (id);
select * from {ns}.a left anti join {ns}.b on a.id = b.id;
select count(*) from {ns}.a cross join {ns}.b;
select count(*) from {ns}.a, {ns}.b, {ns}.a c where a.id = c.id;
select x.id from ({ns}.a x join {ns}.b y on x.id = y.id);
select t.id from (select * from (select * from {ns}.a) where p = 1) t;
select * from {ns}.b b right join {ns}.a as a on b.id = a.id;
select id from {ns}.a union select id from {ns}.b;
select id from {ns}.a intersect select id from {ns}.b;
select id from {ns}.a minus select id from {ns}.b;
(select id from {ns}.a) except all (select id from {ns}.b);
select * from values (1), (2) as v(id) join {ns}.a using (id);
select sum(v) over (order by id rows between 1 preceding and current row) w from {ns}.b;
select rank() over w r, id from {ns}.a window w as (partition by p order by id);
select p, s, count(*) from {ns}.a group by rollup (p, s);
select p, s, grouping_id() g, count(*) from {ns}.a group by grouping sets ((p), (s), ());
select p, s, count(*) from {ns}.a group by cube (p, s);
select s, collect_list(id) from (select * from {ns}.a order by id) group by all;
select distinct s from {ns}.a;
select * from {ns}.a order by id desc limit 2;
-- ordered
select id from {ns}.a order by s nulls last, id desc limit 3 offset 1;
select id from {ns}.a sort by id limit 0;
select * except (s) from {ns}.a where id = 1;
select a.* except (p), b.v from {ns}.a join {ns}.b on a.id = b.id;
select named_struct('t', (select first(s) from {ns}.a where id = 1)).t as t;
-- error
select transform(array(1, 2), x -> x + (select 1)) from {ns}.a limit 1;
select exists (select * from {ns}.a where id = 99) e, exists (select * from {ns}.b) f;
select if(id = 1, (select max(v) from {ns}.b), 0) from {ns}.a;

-- case: lateral_and_pivot
create namespace {ns};
create table {ns}.a (id bigint, s string, p int, arr array<int>, m map<string, int>) using iceberg;
create table {ns}.b (id bigint, v int) using iceberg;
insert into {ns}.a values (1, 'x', 0, array(1, 2), map('k', 1)), (2, 'y', 1, array(), map()), (3, 'x', 1, null, null);
insert into {ns}.b values (1, 10), (1, 20), (2, 30);
select a.id, l.v from {ns}.a, lateral (select v from {ns}.b where b.id = a.id) l;
select a.id, l.m from {ns}.a left join lateral (select max(v) m from {ns}.b where b.id = a.id) l on true;
select id, e from {ns}.a lateral view explode(arr) x as e;
select id, e from {ns}.a lateral view outer explode(arr) x as e;
select id, k, w from {ns}.a lateral view explode(m) x as k, w;
select id, i, e from {ns}.a lateral view posexplode(arr) x as i, e lateral view explode(array('q')) y as z;
select id, explode(arr) from {ns}.a;
select inline(array(struct(id, s))) from {ns}.a;
select a.id, t.col from {ns}.a, lateral explode(arr) t;
select * from {ns}.a pivot (sum(id) as n, max(s) as t for p in (0 as zero, 1 as one)) where arr is null;
select * from (select id, p, v from {ns}.a join {ns}.b using (id)) pivot (sum(v) for p in (0, 1));
select * from {ns}.b unpivot (w for name in (v));
select * from {ns}.b unpivot include nulls ((w) for name in ((v) as vv));
select * from {ns}.b as b1 (i, j) where j > 10;
select * from range(3) r join {ns}.b on r.id = b.id;
select * from {ns}.b tablesample (2 rows);
select * from {ns}.b tablesample (100 percent) s where v = 10;
select /*+ broadcast(b) */ a.id from {ns}.a join {ns}.b on a.id = b.id;
select /*+ repartition(2) */ count(*) from {ns}.b;

-- case: ctes
create namespace {ns};
create table {ns}.a (id bigint, s string) using iceberg;
create table {ns}.b (id bigint, v int) using iceberg;
insert into {ns}.a values (1, 'x'), (2, 'y');
insert into {ns}.b values (1, 10), (2, 20);
use {ns};
with a as (select 7 as id) select * from a;
with a as (select * from a) select * from a;
with x as (select * from a), a as (select 9 as id) select x.id, a.id from x, a;
with x as (with b as (select 5 as v) select v from b) select x.v, b.v from x, b;
select * from (with a as (select 3 as id) select id from a) t join a on true;
with t(i, j) as (select * from b) select i, j from t where j = (select max(j) from t);
with a as (select 1 as id) select id from {ns}.a;
select id from a where id in (with a as (select 2 as id) select id from a);
with recursive r(n) as (select 1 union all select n + 1 from r where n < (select count(*) from a) + 2) select n from r;
with x as (select id from a), y as (select x.id from x join b using (id)) insert into b select id, 99 from y;
select * from b;
with x as (select 2 as id) select * from x, lateral (select v from b where b.id = x.id) l;
use spark_catalog.default;

-- case: names
create namespace {ns};
create table {ns}.`odd-name` (`a b` int, `select` string, `x.y` int, Upper int) using iceberg;
insert into {ns}.`odd-name` values (1, 'one', 10, 5), (2, 'two', 20, 6);
select `a b`, `select`, `x.y`, upper from {ns}.`odd-name`;
select `odd-name`.`a b` from {ns}.`odd-name`;
select {ns}.`odd-name`.`select` from {ns}.`odd-name` where {ns}.`odd-name`.`a b` = 2;
select t.* from {ns}.`odd-name` t;
select {ns}.`odd-name`.* from {ns}.`odd-name`;
SELECT `A B`, UPPER FROM {ns}.`odd-name` WHERE `Select` = 'one';
select "a b" from {ns}.`odd-name`;
select 'from {ns}.nope' as text from {ns}.`odd-name` where `x.y` = 20;
select /* from {ns}.nope */ 1 from {ns}.`odd-name` -- join {ns}.nope
  where `a b` = 1;
create table {ns}.`select` (`from` int) using iceberg;
insert into {ns}.`select` values (1);
select `from` from {ns}.`select`;
select `select`.`from` from {ns}.`select` as `select`;
create table {ns}.files (id int) using iceberg;
insert into {ns}.files values (42);
select * from {ns}.files;
select file_format, record_count from {ns}.files.files;
create table {ns}.t2 (t2 int, t3 struct<t2: int>) using iceberg;
insert into {ns}.t2 values (1, named_struct('t2', 3));
select t2, t2.t2, t3.t2 from {ns}.t2;
use {ns};
select t2.t2, t2.t3.t2 from t2;
select {nsname}.t2.t2 from t2;
-- error
select T2 from T2.files;
select t2 from local.{nsname}.t2;
select * from {nsname}.t2;
use local;
select t2 from {nsname}.t2;
select {nsname}.t2.t2 from {nsname}.t2;
use spark_catalog.default;
-- error
select * from {nsname}.t2;

-- case: pipes_and_from_first
create namespace {ns};
create table {ns}.a (id bigint, s string, p int) using iceberg partitioned by (p);
insert into {ns}.a values (1, 'x', 0), (2, 'y', 1), (3, 'x', 1), (4, null, 2);
from {ns}.a;
-- error
from {ns}.a where id > 2 |> aggregate count(*) as n group by p;
from {ns}.a select id |> order by id |> limit 2;
table {ns}.a |> where p = 1 |> extend id * 2 as d |> drop s;
-- error
table {ns}.a |> set s = 'q' |> select s |> distinct;
from {ns}.a |> join {ns}.a b using (id) |> select id, b.p;
from {ns}.a |> as t |> select t.id;
table {ns}.a |> union all (table {ns}.a) |> aggregate count(*);
table {ns}.a |> pivot (count(id) for p in (0, 1));
-- error
table {ns}.a |> rename id as ident |> select ident where ident < 2;
from {ns}.a x, {ns}.a y select x.id, y.id where x.id = y.id + 1;
(table {ns}.a) union all (table {ns}.a);
select * from (table {ns}.a) where id = 1;
select * from (from {ns}.a select id);

-- case: spark_side
create namespace {ns};
create table {ns}.a (id bigint, s string) using iceberg;
insert into {ns}.a select /*+ coalesce(1) */ * from values (1, 'x'), (2, 'y'), (3, null);
create temporary view va as select id, upper(s) u from {ns}.a where id < 3;
select * from va;
select va.id, a.s from va join {ns}.a on va.id = a.id;
insert into {ns}.a values (0, 'new');
select * from va;
create or replace temp view va (i comment 'c', j) as select * from {ns}.a where id = 0;
select i, j from va;
create global temporary view ga as select count(*) n from {ns}.a;
select * from global_temp.ga;
drop view global_temp.ga;
create temp view vfiles as select record_count from {ns}.a.files;
select count(*) from vfiles;
drop view vfiles;
create table if not exists sp_target_{nsname} (id bigint, s string) using parquet;
insert into sp_target_{nsname} select * from {ns}.a;
insert overwrite sp_target_{nsname} select * from {ns}.a where id > 1;
select * from sp_target_{nsname};
select t.id, a.id from sp_target_{nsname} t full join {ns}.a on t.id = a.id;
insert into {ns}.a select id + 100, s from sp_target_{nsname};
insert into {ns}.a select i + 200, j from va;
select * from {ns}.a;
create table sp_ctas_{nsname} using parquet as select id from {ns}.a where id > 100;
select * from sp_ctas_{nsname};
drop table sp_target_{nsname};
drop table sp_ctas_{nsname};
drop view va;
-- error
select * from va;
cache table {ns}.a;
select count(*) from {ns}.a;
insert into {ns}.a values (500, 'after cache');
select count(*) from {ns}.a;
create temporary view a as select 1 as x;
uncache table {ns}.a;
drop view a;
cache lazy table ca options ('storageLevel' 'MEMORY_ONLY') as select id from {ns}.a where id > 2;
select * from ca;
drop view ca;
uncache table if exists {ns}.nope;
-- error
uncache table {ns}.nope;
refresh table {ns}.a;
refresh {ns}.a;
-- error
refresh table {ns}.nope;
clear cache;

-- case: explain
create namespace {ns};
create table {ns}.a (id bigint, s string) using iceberg;
-- ignore
explain select * from {ns}.a;
-- ignore
explain extended select count(*) from {ns}.a where id = 1;
-- ignore
explain formatted select * from {ns}.a a join {ns}.a b using (id);
-- ignore
explain cost select * from {ns}.a;
-- ignore
explain codegen select * from {ns}.a;
-- ignore
explain insert into {ns}.a values (1, 'x');
-- ignore
explain delete from {ns}.a where id = 1;
-- ignore
explain update {ns}.a set s = 'q' where id = 1;
-- ignore
explain merge into {ns}.a t using (select 1 as id) u on t.id = u.id when matched then delete;
select count(*) from {ns}.a;
select count(*) from {ns}.a.snapshots;
-- error
explain frobnicate {ns}.a;
describe query select id, s from {ns}.a;
describe select count(*) c from {ns}.a;

-- case: identifier_clause
create namespace {ns};
create table {ns}.a (id bigint, s string) using iceberg;
insert into {ns}.a select /*+ coalesce(1) */ * from values (1, 'x'), (2, 'y');
select * from identifier('{ns}.a');
select * from identifier('{ns}' || '.a') where id = 1;
select identifier('id') from {ns}.a;
select identifier('a.s') from {ns}.a;
insert into identifier('{ns}.a') values (3, 'z');
select max(id) from identifier('{ns}.a');
-- error
select * from identifier('{ns}.nope');
create table identifier('{ns}.made') (id int) using iceberg;
describe identifier('{ns}.made');
drop table identifier('{ns}.made');
update identifier('{ns}.a') set s = 'u' where id = 1;
delete from identifier('{ns}.a') where id = 2;
select * from {ns}.a;
alter table identifier('{ns}.a') add column z int;
use identifier('{ns}');
select * from a;
use spark_catalog.default;
-- error
drop table identifier(null);

-- case: variables
create namespace {ns};
create table {ns}.a (id bigint, s string) using iceberg;
insert into {ns}.a values (1, 'x'), (2, 'y');
declare variable wanted bigint default 1;
select * from {ns}.a where id = wanted;
set var wanted = (select max(id) from {ns}.a);
select * from {ns}.a where id = session.wanted;
execute immediate 'select count(*) from {ns}.a' into wanted;
select wanted;
execute immediate 'insert into {ns}.a values (9, "im")';
select * from {ns}.a where id = 9;
drop temporary variable wanted;
set spark.icesqltest.name={ns}.a;
select count(*) from ${spark.icesqltest.name};
reset spark.icesqltest.name;

-- case: errors
create namespace {ns};
create table {ns}.a (id bigint, s string, st struct<x: int>) using iceberg;
-- error
select nope from {ns}.a;
-- error
select a.nope from {ns}.a;
-- error
select st.nope from {ns}.a;
-- error
select b.id from {ns}.a;
-- error
select * from {ns}.missing;
-- error
select * from {ns}.a.missing;
-- error
select * from local.missing_ns.t;
-- error
select * from missing_catalog.x.t;
-- error
select * from {ns}.a join {ns}.nope using (id);
-- error
select * from (select * from {ns}.nope);
-- error
select id from {ns}.a group by s;
-- error
select id, count(*) from {ns}.a;
-- error
select id from {ns}.a having sum(id) > 1 and s = 'x';
-- error
select sum(s, id) from {ns}.a;
-- error
select frobnicate(id) from {ns}.a;
-- error
select * from {ns}.a union select 1;
-- error
select * from {ns}.a order by 9;
-- error
select id from {ns}.a, {ns}.a b;
-- error
select cast('x' as int) from (values (1)) where 1 = 1;
-- error
select {ns}.a from {ns}.a;
-- error
select * from {ns}.a a, {ns}.a a where a.id = 1;
-- error
select * from {ns}.a version of 1;
-- error
optimize {ns}.a;
-- error
vacuum {ns}.a;
-- error
restore table {ns}.a to version as of 1;
-- error
select * from {ns}.a@v1;
-- error
create branch b in {ns}.a;
-- error
describe history {ns}.a;

-- case: pivot_over_metadata_columns
create namespace {ns};
create table {ns}.t (id int, p string, v int) using iceberg;
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a', 1), (2, 'b', 2), (3, 'a', 3);
select * from {ns}.t pivot (count(_pos) for p in ('a', 'b'));
select a, * from {ns}.t pivot (max(_pos) for p in ('a', 'b'));
select * from {ns}.t pivot (sum(v) for _pos in (0, 1));
select t.* from {ns}.t t pivot (count(t._pos) as c, max(_file is null) as f for p in ('a' as x, 'b' as y));
select * from {ns}.t unpivot (val for k in (id, _pos));
-- error: _pos
select _pos, * from {ns}.t unpivot (val for k in (id, v));
-- error: _pos
select _pos from {ns}.t pivot (count(_pos) for p in ('a', 'b'));
select _pos, id, v, null, null from {ns}.t union all select 9, * from {ns}.t pivot (max(_pos) for p in ('a', 'b'));
select *, _pos from {ns}.t, (select * from {ns}.t pivot (count(_pos) for p in ('a', 'b'))) x where t.id = x.id;
from {ns}.t |> pivot (count(_pos) for p in ('a', 'b'));

-- case: what_iceberg_1_12_mended
create namespace {ns};
create table {ns}.dropped (id int, n int) using iceberg;
insert into {ns}.dropped values (1, 1), (2, 2), (3, null);
alter table {ns}.dropped create tag v1;
alter table {ns}.dropped drop column n;
insert into {ns}.dropped values (4);
select id, n from {ns}.dropped version as of 'v1' where n = 2;
select count(*) from {ns}.dropped timestamp as of (select current_timestamp());
create table {ns}.structs (id int, s struct<a: int>, r array<struct<a: int>>) using iceberg;
insert into {ns}.structs values (1, struct(1), array(struct(1), struct(2))), (2, null, null);
alter table {ns}.structs add column s.b int;
alter table {ns}.structs add column r.element.f int;
select id, s.b, s is null from {ns}.structs;
select id, r[0].f, size(r.f) from {ns}.structs where id = 1;
create table {ns}.sorted (id int, s string) using iceberg;
alter table {ns}.sorted write ordered by s;
replace table {ns}.sorted (id int) using iceberg;
insert into {ns}.sorted values (1);
select * from {ns}.sorted;
