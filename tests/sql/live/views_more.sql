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

-- case: levels_of_caches
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
-- error: Invalid StorageLevel: NOPE
cache table {ns}.t options ('storageLevel' 'nope');
-- error: Invalid StorageLevel: X
cache lazy table lc_q options ('storageLevel' 'x') as select * from {ns}.t;
cache table {ns}.t options ('STORAGELEVEL' = 'memory_only_ser');
uncache table {ns}.t;
cache table lc_r options ('storageLevel' 'disk_only', 'other' 'y') as select * from {ns}.t;
select * from lc_r;
uncache table lc_r;
drop view lc_r;

-- case: temporary_over_changed_tables
create namespace {ns};
create table {ns}.t (id int, v int, s struct<a: int>) using iceberg;
create table {ns}.u (id int, w string) using iceberg;
insert into {ns}.t values (1, 1, named_struct('a', 1));
insert into {ns}.u values (1, 'w');
create temp view tc_star as select * from {ns}.t;
create temp view tc_named (a, b) as select id, v from {ns}.t;
-- error: COLUMN_ALREADY_EXISTS
create temp view tc_joined as select t.*, u.* from {ns}.t t join {ns}.u u on t.id = u.id;
create temp view tc_joined (i, v, s, j, w) as select t.*, u.* from {ns}.t t join {ns}.u u on t.id = u.id;
create temp view tc_stars (x, y, z) as select * from {ns}.t;
create temp view tc_onstar as select id, v from tc_star;
create temp view tc_computed as select id + v as e, s.a from {ns}.t;
create global temp view tc_global as select * from {ns}.t;
alter table {ns}.t add column z int first;
alter table {ns}.t alter column v first;
insert into {ns}.t values (2, 2, 2, named_struct('a', 2));
select * from tc_star;
-- ordered
describe tc_star;
select * from tc_named;
select * from tc_joined;
select * from tc_stars;
select * from tc_onstar;
select * from global_temp.tc_global;
alter table {ns}.t add column s.b string;
-- error: CANNOT_UP_CAST_DATATYPE
select * from tc_star;
select * from tc_named;
alter table {ns}.t drop column s.b;
alter table {ns}.t alter column id type bigint;
-- error: Cannot up cast
select v from tc_star;
-- error: CANNOT_UP_CAST_DATATYPE
select * from tc_named;
-- error: CANNOT_UP_CAST_DATATYPE
select e from tc_computed;
-- error: CANNOT_UP_CAST_DATATYPE
select * from tc_onstar;
alter table {ns}.t rename column v to vv;
-- error: view `tc_star` has an incompatible schema change and column v cannot be resolved. Expected 1 columns named v but got []
select count(*) from tc_star;
-- error: view `global_temp`.`tc_global`
select * from global_temp.tc_global;
create or replace temp view tc_star as select * from {ns}.t;
select * from tc_star;
create or replace table {ns}.t (v int, ID int) using iceberg;
insert into {ns}.t values (7, 8);
select * from tc_named;
-- error: column vv cannot be resolved
select * from tc_star;
drop view tc_star;
drop view tc_named;
drop view tc_joined;
drop view tc_stars;
drop view tc_onstar;
drop view tc_computed;
drop view global_temp.tc_global;

-- case: insert_through_views_using_iceberg
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p);
create temporary view over_path using iceberg options (path '{loc}/t');
insert into over_path values (1, 1);
insert into over_path (p, id) values (3, 4);
insert into over_path by name select 3 as p, 5 as id;
insert overwrite over_path partition (p = 3) select 9;
insert into over_path replace where p = 1 select 6, 1;
select * from over_path;
delete from over_path where p = 3;
-- error: UPDATE TABLE
update over_path set id = 1;
-- error: MERGE INTO TABLE
merge into over_path t using (select 9 as id) s on t.id = s.id when matched then delete;
-- error
truncate table over_path;
create temporary view over_name using iceberg options (path '{ns}.t', 'snapshot-property.x' 'y');
insert into over_name values (11, 1);
insert into over_name table {ns}.t;
-- error: CANNOT_SAFELY_CAST
insert into over_name values ('x', 1);
-- error: NOT_ENOUGH_DATA_COLUMNS
insert into over_name values (1);
alter table {ns}.t add column n int;
insert into over_name values (12, 1);
insert into over_path values (13, 1);
select * from over_name;
select * from over_path;
alter table {ns}.t create branch br;
create global temporary view over_branch using iceberg options (path '{ns}.t', branch 'br');
insert overwrite global_temp.over_branch values (13, 1, 2);
from {ns}.t insert into over_name select id, p where id = 6;
select * from global_temp.over_branch;
drop view global_temp.over_branch;
create temporary view over_files using iceberg options (path '{ns}.t.files');
-- error
insert into over_files values (1);
create temporary view over_old using iceberg options (path '{ns}.t', versionAsOf 'br');
insert into over_old values (1, 1, 1);
create temporary view of_query as select * from {ns}.t;
-- error: EXPECT_TABLE_NOT_VIEW
insert into of_query values (1, 1, 1);
-- error
create temporary view over_nothing using iceberg;
-- error
create temporary view over_nope using iceberg options (path '{ns}.nope');
-- error
create temporary view over_nope using iceberg options (path '{loc}/nope');
select * from {ns}.t;
select summary['x'] from {ns}.t.snapshots;

-- case: cached_views_that_cannot_be_read
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int, p int) using iceberg;
create view jdbc.{nsname}.v as select id, p from jdbc.{nsname}.t;
create view jdbc.{nsname}.vv as select id, p from jdbc.{nsname}.v;
cache table jdbc.{nsname}.v;
uncache table jdbc.{nsname}.v;
alter table jdbc.{nsname}.t drop column p;
-- error
cache table jdbc.{nsname}.v;
-- error
cache lazy table jdbc.{nsname}.vv;
-- error
uncache table if exists jdbc.{nsname}.v;
drop table jdbc.{nsname}.t;
-- error: TABLE_OR_VIEW_NOT_FOUND
cache table jdbc.{nsname}.v;

-- case: columns_described
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id bigint) using iceberg;
create view jdbc.{nsname}.v (a comment 'first') as select id from jdbc.{nsname}.t;
-- error: UNRESOLVED_COLUMN
describe jdbc.{nsname}.v nope;
-- error
describe extended jdbc.{nsname}.v as json;

-- case: columns_that_hold_more_than_the_view
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int, n int) using iceberg;
create view jdbc.{nsname}.v as select id, n from jdbc.{nsname}.t;
alter table jdbc.{nsname}.t alter column n type bigint;
insert into jdbc.{nsname}.t values (1, 7), (2, null);
-- error: CANNOT_UP_CAST_DATATYPE
select * from jdbc.{nsname}.v;
set `spark.sql.iceberg.view.schema-binding-mode`=Compensation;
select * from jdbc.{nsname}.v;
insert into jdbc.{nsname}.t values (3, 3000000000);
-- error: CAST_OVERFLOW
select * from jdbc.{nsname}.v;
set `spark.sql.iceberg.view.schema-binding-mode`=evolution;
-- error: expected BINDING or COMPENSATION
select * from jdbc.{nsname}.v;
set `spark.sql.iceberg.view.schema-binding-mode`=BINDING;
-- error: CANNOT_UP_CAST_DATATYPE
select * from jdbc.{nsname}.v;
reset `spark.sql.iceberg.view.schema-binding-mode`;
