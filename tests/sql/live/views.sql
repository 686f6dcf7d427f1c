-- Views in a catalog that stores them (`jdbc` here: the sql catalog on both sides). SHOW VIEWS lists temporary views too, so those are dropped.

-- case: create_and_read
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int, s string) using iceberg;
insert into jdbc.{nsname}.t values (1, 'a'), (2, 'b');
create view jdbc.{nsname}.v as select id, upper(s) as u from jdbc.{nsname}.t;
select * from jdbc.{nsname}.v;
select v.u from jdbc.{nsname}.v where v.id = 2;
select x.id from jdbc.{nsname}.v x join jdbc.{nsname}.t y using (id);
-- error
create view jdbc.{nsname}.v as select 1;
create view if not exists jdbc.{nsname}.v as select 1;
select count(*) from jdbc.{nsname}.v;
create or replace view jdbc.{nsname}.v as select id + 10 as i from jdbc.{nsname}.t;
select * from jdbc.{nsname}.v;
insert into jdbc.{nsname}.t values (3, 'c');
select max(i) from jdbc.{nsname}.v;
-- error
create view jdbc.{nsname}.t as select 1;
-- error
create table jdbc.{nsname}.v (id int) using iceberg;
-- error
insert into jdbc.{nsname}.v values (1);
-- error
delete from jdbc.{nsname}.v;
-- error
update jdbc.{nsname}.v set i = 1;
-- error
alter table jdbc.{nsname}.v add column x int;
-- error
drop table jdbc.{nsname}.v;
show views in jdbc.{nsname};
show tables in jdbc.{nsname};
-- error
drop view jdbc.{nsname}.t;
drop view jdbc.{nsname}.v;
-- error
drop view jdbc.{nsname}.v;
drop view if exists jdbc.{nsname}.v;
-- error
select * from jdbc.{nsname}.v;
show views in jdbc.{nsname};

-- case: columns_and_comments
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int comment 'the id', s string) using iceberg;
insert into jdbc.{nsname}.t values (1, 'a');
create view jdbc.{nsname}.v (i comment 'an i', j) comment 'a view' tblproperties ('k'='w') as select id, s from jdbc.{nsname}.t;
select * from jdbc.{nsname}.v;
select i, j from jdbc.{nsname}.v where i = 1;
-- error
select id from jdbc.{nsname}.v;
-- ordered
describe jdbc.{nsname}.v;
show tblproperties jdbc.{nsname}.v ('k');
show tblproperties jdbc.{nsname}.v ('nope');
-- error
create view jdbc.{nsname}.few (a) as select id, s from jdbc.{nsname}.t;
-- error
create view jdbc.{nsname}.many (a, b, c) as select id, s from jdbc.{nsname}.t;
-- error
create view jdbc.{nsname}.twice (a, a) as select id, s from jdbc.{nsname}.t;
-- error
create view jdbc.{nsname}.twice as select id, id from jdbc.{nsname}.t;
-- error
create view jdbc.{nsname}.bad as select nope from jdbc.{nsname}.t;
-- error
create view jdbc.{nsname}.bad as select * from jdbc.{nsname}.missing;
-- error
create view jdbc.{nsname}.bad as selec 1;
create view jdbc.{nsname}.lit as select 1 as one, 'x' as x, cast(1.5 as decimal(4, 2)) d, array(1) a, struct(1 as z) st;
select * from jdbc.{nsname}.lit;
-- ordered
describe jdbc.{nsname}.lit;
create view jdbc.{nsname}.star as select * from jdbc.{nsname}.t;
alter table jdbc.{nsname}.t add column x int;
select * from jdbc.{nsname}.star;
-- case: context
create namespace jdbc.{nsname};
create namespace jdbc.{nsname}.other;
use jdbc.{nsname};
create table t (id int) using iceberg;
insert into t values (1), (2);
create view v as select id from t;
create view w as select id * 2 as d from v where id > 1;
select * from v;
use spark_catalog.default;
select * from jdbc.{nsname}.v;
select * from jdbc.{nsname}.w;
use jdbc.{nsname}.other;
create table t (id int) using iceberg;
insert into t values (77);
select * from jdbc.{nsname}.v;
with t as (select 5 as id) select * from jdbc.{nsname}.v;
use spark_catalog.default;
create temporary view tv_{nsname} as select 1 as id;
-- error
create view jdbc.{nsname}.bad as select * from tv_{nsname};
drop view tv_{nsname};
-- error
create or replace view jdbc.{nsname}.v as select * from jdbc.{nsname}.w;
-- error
create or replace view jdbc.{nsname}.v as select * from jdbc.{nsname}.v;
-- error
create or replace view jdbc.{nsname}.v as select id from jdbc.{nsname}.t where id in (select d from jdbc.{nsname}.w);
create view jdbc.{nsname}.tt as select * from jdbc.{nsname}.t version as of 'main';
select * from jdbc.{nsname}.tt;
create view jdbc.{nsname}.meta as select record_count from jdbc.{nsname}.t.files;
select sum(record_count) from jdbc.{nsname}.meta;
create view jdbc.{nsname}.cte as with q as (select id from jdbc.{nsname}.t) select max(id) m from q;
select m from jdbc.{nsname}.cte;
create view jdbc.{nsname}.sub as select (select count(*) from jdbc.{nsname}.t) n;
select * from jdbc.{nsname}.sub, jdbc.{nsname}.cte;
insert into jdbc.{nsname}.t select m + 100 from jdbc.{nsname}.cte;
delete from jdbc.{nsname}.t where id in (select id from jdbc.{nsname}.t where id > 100);
select * from jdbc.{nsname}.t;
drop table jdbc.{nsname}.other.t;

-- case: alter
create namespace jdbc.{nsname};
create view jdbc.{nsname}.v as select 1 as one;
alter view jdbc.{nsname}.v set tblproperties ('a'='1', 'b'='2');
show tblproperties jdbc.{nsname}.v ('a');
alter view jdbc.{nsname}.v unset tblproperties ('a');
-- error
alter view jdbc.{nsname}.v unset tblproperties ('a');
alter view jdbc.{nsname}.v unset tblproperties if exists ('a');
-- error
alter view jdbc.{nsname}.v set tblproperties ('provider'='x');
-- error
alter view jdbc.{nsname}.v set tblproperties ('location'='x');
-- error
alter view jdbc.{nsname}.v set tblproperties ('format-version'='9');
-- error
alter view jdbc.{nsname}.v unset tblproperties ('format-version');
-- error
alter view jdbc.{nsname}.v set tblproperties ('spark.query-column-names'='q');
alter view jdbc.{nsname}.v rename to jdbc.{nsname}.w;
select * from jdbc.{nsname}.w;
create temporary view over_{nsname} as select * from jdbc.{nsname}.w;
select * from over_{nsname};
drop view over_{nsname};
-- error
alter view jdbc.{nsname}.w rename to {nsname}.x;
-- error
select * from jdbc.{nsname}.v;
-- error
alter view jdbc.{nsname}.w rename to local.{nsname}.w;
-- error
alter view jdbc.{nsname}.nope rename to jdbc.{nsname}.v;
create view jdbc.{nsname}.v as select 2 as two;
-- error
alter view jdbc.{nsname}.v rename to jdbc.{nsname}.w;
-- error
alter view jdbc.{nsname}.v as select 3 as three;
-- error
alter view jdbc.{nsname}.nope set tblproperties ('a'='1');
show views in jdbc.{nsname};
show views in jdbc.{nsname} like 'w*';
show views from jdbc.{nsname} 'v|w';
-- error
show views in jdbc.nope_{nsname};
-- ignore
show create table jdbc.{nsname}.v;
-- ignore
describe extended jdbc.{nsname}.v;
-- error
describe jdbc.{nsname}.nope;
-- error
create view local.{nsname}_x.v as select 1;
create namespace {ns};
-- error
create view {ns}.v as select 1 as x;
show views in {ns};
-- error
drop view {ns}.v;
-- error
drop namespace jdbc.{nsname};
drop view jdbc.{nsname}.v;
drop view jdbc.{nsname}.w;
drop namespace jdbc.{nsname};

-- case: over_tables_of_ours
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a'), (2, 'b');
create temporary view over_t using iceberg options ('path'='{ns}.t');
-- error: path is not set
create temporary view over_u using iceberg;
insert into {ns}.t values (3, 'c');
select * from over_t;
create temporary view plain as select id from {ns}.t;
alter view plain as select s from {ns}.t;
select * from plain;
show tables in {ns};
declare name = 't';
select * from identifier('{ns}.' || name) where id = 1;
insert into identifier('{ns}.' || name) values (4, 'd');
drop temporary variable name;
select count(*) from over_t;

-- case: changed_through
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int, s string, p int) using iceberg partitioned by (p);
insert into jdbc.{nsname}.t values (1, 'a', 0), (2, 'b', 0), (3, 'c', 1);
create view jdbc.{nsname}.v as select * from jdbc.{nsname}.t;
create view jdbc.{nsname}.vf as select * from jdbc.{nsname}.t where id > 1;
-- error: TABLE_OR_VIEW_NOT_FOUND
insert into jdbc.{nsname}.v values (3, 'c', 1);
-- error: UNSUPPORTED_FEATURE.TABLE_OPERATION
update jdbc.{nsname}.v set s = 'z' where id = 1;
-- error: UNSUPPORTED_FEATURE.TABLE_OPERATION
merge into jdbc.{nsname}.v x using (select 1 as id) s on x.id = s.id when matched then delete;
-- error: UNSUPPORTED_FEATURE.TABLE_OPERATION
update jdbc.{nsname}.vf set s = 'z';
-- error: Cannot delete from table
delete from jdbc.{nsname}.v where id = 1;
delete from jdbc.{nsname}.v where p = 1;
delete from jdbc.{nsname}.v as x where x.p = 7;
select * from jdbc.{nsname}.t;
-- error: TABLE_OR_VIEW_NOT_FOUND
alter table jdbc.{nsname}.v set tblproperties ('a' = 'b');
-- error: TABLE_OR_VIEW_NOT_FOUND
alter table jdbc.{nsname}.v add column z int;
create view if not exists jdbc.{nsname}.t as select 1 as id;
drop view if exists jdbc.{nsname}.t;
-- error
drop view jdbc.{nsname}.t;
cache table jdbc.{nsname}.v;
uncache table jdbc.{nsname}.v;
select count(*) from jdbc.{nsname}.v;
