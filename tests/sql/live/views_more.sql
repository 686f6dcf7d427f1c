-- Views in a catalog that stores them, in their corners: what is described, what is refused, and views over tables that change.

-- case: described
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int comment 'it', s string) using iceberg;
create view jdbc.{nsname}.v (i comment '', j) comment 'a view; "q"' tblproperties ('p'='q', 'z'='it''s', 'b'='back\\slash') as select id, s from jdbc.{nsname}.t;
-- ordered
-- mask: data_type
describe extended jdbc.{nsname}.v;
-- ordered
describe jdbc.{nsname}.v;
alter view jdbc.{nsname}.v set tblproperties ('comment'='changed');
alter view jdbc.{nsname}.v unset tblproperties ('comment', 'p');
-- error: DUPLICATE_KEY
alter view jdbc.{nsname}.v set tblproperties ('a'='1', 'a'='2');
-- error: DUPLICATE_KEY
alter view jdbc.{nsname}.v unset tblproperties ('z', 'z');
-- error: reserved table property
alter view jdbc.{nsname}.v set tblproperties ('owner'='x');
-- error: reserved table property
alter view jdbc.{nsname}.v unset tblproperties if exists ('location');
show tblproperties jdbc.{nsname}.v ('z');
show tblproperties jdbc.{nsname}.v ('p');
show tblproperties jdbc.{nsname}.v ('comment');
show views in jdbc.{nsname} like 'V|x*';

-- case: refused
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int, s string) using iceberg;
-- error: Unsupported format in USING: p
create view jdbc.{nsname}.v tblproperties ('provider'='p') as select 1 as a;
create view jdbc.{nsname}.v tblproperties ('provider'='orc') as select 1 as a;
show tblproperties jdbc.{nsname}.v ('write.format.default');
-- error: duplicate clauses
create view jdbc.{nsname}.w comment 'a' comment 'b' as select 1 as a;
-- error: duplicate clauses
create view jdbc.{nsname}.w tblproperties ('a'='b') tblproperties ('c'='d') as select 1 as a;
-- error: both IF NOT EXISTS and REPLACE
create or replace view if not exists jdbc.{nsname}.w as select 1 as a;
create global temporary view g_{nsname} as select 1 as a;
-- error: references temporary view: [global_temp.g_
create view jdbc.{nsname}.w as select * from global_temp.g_{nsname};
drop view global_temp.g_{nsname};
-- error
create table jdbc.{nsname}.v as select 1 as id;
-- error
create or replace table jdbc.{nsname}.v as select 1 as id;
-- error
replace table jdbc.{nsname}.v as select 1 as id;
-- error
select * from jdbc.{nsname}.v version as of 1;
-- error
select * from jdbc.{nsname}.v.files;
-- error
call jdbc.system.rewrite_data_files('{nsname}.v');
-- error
alter table jdbc.{nsname}.v create branch b;
-- error
truncate table jdbc.{nsname}.v;
show views in jdbc.{nsname};

-- case: over_tables_that_change
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int, f float, s string, d decimal(4,1)) using iceberg;
insert into jdbc.{nsname}.t values (1, 1.5, 'a', 1.5);
create view jdbc.{nsname}.v as select id, s from jdbc.{nsname}.t;
create view jdbc.{nsname}.w as select f, d from jdbc.{nsname}.t;
create view jdbc.{nsname}.outer as select id from jdbc.{nsname}.v;
alter table jdbc.{nsname}.t alter column id type bigint;
-- error: CANNOT_UP_CAST_DATATYPE
select * from jdbc.{nsname}.v;
-- error: CANNOT_UP_CAST_DATATYPE
select s from jdbc.{nsname}.v;
-- error: CANNOT_UP_CAST_DATATYPE
select * from jdbc.{nsname}.outer;
select * from jdbc.{nsname}.w;
create or replace view jdbc.{nsname}.v as select id, s from jdbc.{nsname}.t;
alter table jdbc.{nsname}.t alter column f type double;
-- error: CANNOT_UP_CAST_DATATYPE
select * from jdbc.{nsname}.w;
select * from jdbc.{nsname}.v;
create table jdbc.{nsname}.u using iceberg as select 1Y as a, 2 as b;
create view jdbc.{nsname}.x as select cast(b as bigint) as b, a from jdbc.{nsname}.u;
create or replace table jdbc.{nsname}.u using iceberg as select 1 as a, 2L as b;
select * from jdbc.{nsname}.x;
drop table jdbc.{nsname}.t;
-- error: TABLE_OR_VIEW_NOT_FOUND
select * from jdbc.{nsname}.v;
-- ordered
describe jdbc.{nsname}.v;
drop view jdbc.{nsname}.v;

-- case: case_of_columns
create namespace jdbc.{nsname};
set spark.sql.caseSensitive = true;
create table jdbc.{nsname}.t (a int, A int) using iceberg;
insert into jdbc.{nsname}.t values (1, 2);
create view jdbc.{nsname}.v as select a, A from jdbc.{nsname}.t;
create view jdbc.{nsname}.w (X, x) as select a, A from jdbc.{nsname}.t;
select A from jdbc.{nsname}.v;
select x, X from jdbc.{nsname}.w;
-- error
select B from jdbc.{nsname}.w;
-- error
create view jdbc.{nsname}.x as select a, a from jdbc.{nsname}.t;

-- case: shapes
create namespace jdbc.{nsname};
create namespace jdbc.{nsname}.b;
create table jdbc.{nsname}.t (id int, s string) using iceberg;
insert into jdbc.{nsname}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b');
create view jdbc.{nsname}.v as with q as (select * from jdbc.{nsname}.t) select q.id, q2.s from q join q q2 using (id);
create view jdbc.{nsname}.b.v as select v.* from jdbc.{nsname}.v v;
use jdbc.{nsname}.b;
create view files as select count(*) c from jdbc.{nsname}.t.files;
select * from files;
show views;
use spark_catalog.default;
select * from jdbc.{nsname}.b.v;
create view jdbc.{nsname}.m1 as select f.record_count, s.operation from jdbc.{nsname}.t.files f, jdbc.{nsname}.t.snapshots s;
select * from jdbc.{nsname}.m1;
create view jdbc.{nsname}.hidden as select id, _spec_id from jdbc.{nsname}.t;
select * from jdbc.{nsname}.hidden;
create view jdbc.{nsname}.fn as select jdbc.system.bucket(4, id) as b from jdbc.{nsname}.t;
select * from jdbc.{nsname}.fn;
create view jdbc.{nsname}.tt as select * from jdbc.{nsname}.t timestamp as of now() where id = 1;
select * from jdbc.{nsname}.tt;
create view jdbc.{nsname}.opt as select * from jdbc.{nsname}.t with ('split-size'='10');
select * from jdbc.{nsname}.opt;
create view jdbc.{nsname}.rec as with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select * from r;
select * from jdbc.{nsname}.rec;
create view jdbc.{nsname}.pipe as from jdbc.{nsname}.t |> where id > 1 |> select s;
select * from jdbc.{nsname}.pipe;
create view jdbc.{nsname}.uni (only) as select id from jdbc.{nsname}.t union select 9;
select * from jdbc.{nsname}.uni;
create view jdbc.{nsname}.lat as select t.id, l.x from jdbc.{nsname}.t t, lateral (select t.id + 1 as x) l;
select * from jdbc.{nsname}.lat;
create view jdbc.{nsname}.quoted as select "dq" as `a b`, 'it''s' as `c``d`, id as `x.y` from jdbc.{nsname}.t;
select `a b`, `c``d`, `x.y` from jdbc.{nsname}.quoted;
create view jdbc.{nsname}.`odd view` as select 1 as one;
select * from jdbc.{nsname}.`odd view`;
drop view jdbc.{nsname}.`odd view`;
-- error
drop namespace jdbc.{nsname}.b;
-- error
drop namespace jdbc.{nsname}.b cascade;
