-- DELETE and MERGE in every mode and version.

-- case: delete
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p);
insert into {ns}.t select id, 's' || id, id % 3 from range(30);
alter table {ns}.t set tblproperties ('write.delete.mode'='{m}');
delete from {ns}.t where p = 0;
select count(*), sum(id) from {ns}.t;
delete from {ns}.t where id = 1;
select count(*), sum(id) from {ns}.t;
delete from {ns}.t where id in (select id + 1 from {ns}.t where id < 10);
select * from {ns}.t;
delete from {ns}.t as x where x.s = 's20' or x.id > 27;
select * from {ns}.t;
delete from {ns}.t where id is null;
delete from {ns}.t where false;
-- error
delete from {ns}.t where nope = 1;
-- error
delete from {ns}.missing where id = 1;
delete from {ns}.t where exists (select 1 from {ns}.t u where u.id = t.id + 3);
select * from {ns}.t;
delete from {ns}.t;
select * from {ns}.t;
select operation, summary['total-records'] from {ns}.t.snapshots;

-- case: delete_mor
-- each: v=2,3
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p) tblproperties ('format-version'='{v}', 'write.delete.mode'='merge-on-read');
insert into {ns}.t select id, 's' || id, id % 2 from range(20);
delete from {ns}.t where id = 4;
delete from {ns}.t where id in (5, 6, 7);
select * from {ns}.t;
select content, record_count from {ns}.t.delete_files;
select pos, spec_id, partition from {ns}.t.position_deletes;
delete from {ns}.t where p = 1;
select * from {ns}.t;
select content, record_count from {ns}.t.delete_files;
select operation, summary['added-position-deletes'], summary['total-position-deletes'], summary['total-delete-files'] from {ns}.t.snapshots;
select _pos, id from {ns}.t where id < 10;
truncate table {ns}.t;
select count(*) from {ns}.t;

-- case: update_modes
-- each: v=2,3
create namespace {ns};
create table {ns}.t (id int, s string, n struct<a: int, b: string>) using iceberg tblproperties ('format-version'='{v}', 'write.update.mode'='merge-on-read');
insert into {ns}.t select id, 's' || id, named_struct('a', id, 'b', 'b' || id) from range(10);
update {ns}.t set s = 'new' where id = 3;
update {ns}.t set n.a = n.a + 100, s = concat(s, '!') where id > 7;
update {ns}.t set s = (select max(s) from {ns}.t), id = id where id = 0;
select * from {ns}.t;
update {ns}.t set s = null where id in (select id from {ns}.t where id % 2 = 0);
select * from {ns}.t;
-- error
update {ns}.t set nope = 1;
-- error
update {ns}.t set id = 'abc';
-- error
update {ns}.t set id = 1, id = 2;
update {ns}.t as x set x.s = 'all';
select distinct s from {ns}.t;
select operation, summary['total-records'], summary['total-position-deletes'] from {ns}.t.snapshots;

-- case: merge
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string, n int) using iceberg partitioned by (bucket(2, id)) tblproperties ('write.merge.mode'='{m}');
create table {ns}.s (id int, s string, n int) using iceberg;
insert into {ns}.t select id, 't' || id, 0 from range(10);
insert into {ns}.s select id, 's' || id, 1 from range(5, 15);
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set * when not matched then insert *;
select * from {ns}.t;
merge into {ns}.t as t using (select id, n from {ns}.s where id > 12) as u on t.id = u.id when matched and t.id = 13 then delete when matched then update set n = u.n + 10, s = default;
select * from {ns}.t;
merge into {ns}.t t using {ns}.s s on t.id = s.id and s.id > 100 when not matched and s.id < 7 then insert (id, s) values (s.id + 50, upper(s.s)) when not matched by source and t.id < 2 then delete when not matched by source then update set n = -1;
select * from {ns}.t;
-- error: MERGE_CARDINALITY_VIOLATION
merge into {ns}.t t using (select 3 as id union all select 3) s on t.id = s.id when matched then update set n = 5;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set nope = 1;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then delete when matched then update set n = 1;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert (id, s) values (s.id);
merge into {ns}.t t using (select 99 as id) s on t.id = s.id when not matched then insert (id) values (s.id);
select * from {ns}.t where id = 99;
merge into {ns}.t t using {ns}.s s on false when matched then delete;
select count(*) from {ns}.t;
merge with schema evolution into {ns}.t t using (select 1 as id, 'evolved' as s, 7 as n, 2.5D as extra) s on t.id = s.id when matched then update set * when not matched then insert *;
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: nulls_and_nan
create namespace {ns};
create table {ns}.t (id int, f double, s string) using iceberg partitioned by (s);
insert into {ns}.t values (1, 1.0, 'a'), (2, double('nan'), 'a'), (3, null, null), (4, double('-inf'), 'b'), (5, -0.0D, 'b'), (6, double('inf'), null);
select id from {ns}.t where f > 0.5;
select id from {ns}.t where isnan(f);
select id from {ns}.t where f <=> null;
select id from {ns}.t where s is null;
select id from {ns}.t where s <> 'a';
select id from {ns}.t where not (s = 'a');
select id from {ns}.t where s is not null and f is null;
select id from {ns}.t where f in (1.0, double('nan'));
delete from {ns}.t where isnan(f);
select * from {ns}.t;
delete from {ns}.t where s is null;
select * from {ns}.t;

-- case: options_of_targets
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a');
-- error
delete from {ns}.t with ('snapshot-property.x' = '1') where id = 1;
-- error
update {ns}.t with ('snapshot-property.x' = '1') set s = 'z';
-- error
merge into {ns}.t with ('snapshot-property.x' = '1') using (select 1 as id) s on t.id = s.id when matched then delete;
-- error
merge into {ns}.t using {ns}.t with ('split-size' = '1') s on t.id = s.id when matched then delete;
insert into {ns}.t with ('snapshot-property.x' 'b' 'c', snapshot.property.y = true) values (2, 'b');
-- error: PARSE_SYNTAX_ERROR
select * from {ns}.t with ('split-size' = 1 + 1);
-- error: Values must be specified for key(s): [split-size]
select * from {ns}.t with ('split-size');
-- error
insert into {ns}.t with ('snapshot-property.x' = -1) values (3, 'c');
-- error
insert into {ns}.t with ('snapshot-property.x' = 1 + 1) values (3, 'c');
select operation, summary['x'] from {ns}.t.snapshots;
select * from {ns}.t with ('split-size' = 134217728);

-- case: refused_expressions
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='{m}', 'write.update.mode'='{m}', 'write.merge.mode'='{m}');
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1), (3, 'c', 0);
-- error
update {ns}.t set s = 'z' where row_number() over (order by id) = 1;
-- error
update {ns}.t set id = max(id);
-- error
update {ns}.t set s = 'z' where max(id) = 3;
-- error: CANNOT_SAFELY_CAST
update {ns}.t set id = explode(array(1, 2));
-- error: CANNOT_SAFELY_CAST
update {ns}.t set id = inline(array(struct(1))) where p = 1;
-- error: INVALID_USAGE_OF_STAR_OR_REGEX
update {ns}.t set s = to_json(struct(*));
-- error: INVALID_USAGE_OF_STAR_OR_REGEX
update {ns}.t set s = 'x' where struct(t.*) is null;
-- error
delete from {ns}.t where max(id) = 3;
-- error
delete from {ns}.t where row_number() over (order by id) = 1;
-- error
delete from {ns}.t where explode(array(true));
-- error: INVALID_USAGE_OF_STAR_OR_REGEX
delete from {ns}.t where struct(*) is null;
-- error
delete from {ns}.t where 'false';
-- error
delete from {ns}.t where 1;
-- error: UNSUPPORTED_EXPR_FOR_OPERATOR
merge into {ns}.t t using (select 1 as id) q on t.id = q.id when matched then update set id = row_number() over (order by t.id);
-- error: UNSUPPORTED_EXPR_FOR_OPERATOR
merge into {ns}.t t using (select 1 as id) q on t.id = q.id when matched and row_number() over (order by t.id) = 1 then delete;
-- error
merge into {ns}.t t using (select 1 as id) q on t.id = q.id when matched then update set id = explode(array(1, 2));
-- error: INVALID_USAGE_OF_STAR_OR_REGEX
merge into {ns}.t t using (select 1 as id) q on t.id = q.id when matched then update set s = to_json(struct(t.*));
-- error: INVALID_USAGE_OF_STAR_OR_REGEX
merge into {ns}.t t using (select 8 as id) q on t.id = q.id when not matched then insert (id, s) values (8, to_json(struct(*)));
delete from {ns}.t where id * 2 = 77 or (select count(*) from {ns}.t) = 77;
update {ns}.t set s = (select to_json(struct(*)) from {ns}.t where id = 1) where id = 3;
merge into {ns}.t t using (select 9 as id) q on t.id = q.id when not matched then insert (id) values (row_number() over (order by q.id));
select * from {ns}.t;

-- case: window_functions_assigned
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (30, 'a'), (10, 'b'), (20, 'c');
update {ns}.t set id = row_number() over (order by id);
select * from {ns}.t;
alter table {ns}.t set tblproperties ('write.update.mode' = 'merge-on-read');
-- error: UNSUPPORTED_EXPR_FOR_OPERATOR
update {ns}.t set id = row_number() over (order by id);
-- error: UNSUPPORTED_EXPR_FOR_OPERATOR
update {ns}.t set id = sum(id) over (partition by s) where id = 1;

-- case: through_views
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a', 0), (2, 'b', 0), (3, 'c', 1), (4, 'd', 2);
create temporary view tv as select * from {ns}.t;
create temporary view tx as select * from {ns}.t x;
create temporary view tq as table {ns}.t;
create temporary view tf as select * from {ns}.t where id > 1;
-- error: EXPECT_TABLE_NOT_VIEW
insert into tv values (5, 'e', 3);
-- error: EXPECT_TABLE_NOT_VIEW
insert overwrite tv (s, id) values ('e', 3);
-- error: UNSUPPORTED_FEATURE.TABLE_OPERATION
update tv set s = 'z' where id = 1;
-- error: UNSUPPORTED_FEATURE.TABLE_OPERATION
merge into tv t using (select 1 as id) s on t.id = s.id when matched then delete;
-- error: UNSUPPORTED_FEATURE.TABLE_OPERATION
update tf set s = 'z' where id = 1;
-- error: Cannot delete from table
delete from tv where id = 1;
-- error
delete from tv where nope = 1;
-- error
truncate table tv;
delete from tv where p = 1;
delete from tx as y where y.p = 2;
delete from tq where tq.p = 7;
select * from {ns}.t;
delete from tv;
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: through_layers_of_views
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
create temporary view v1 as select * from {ns}.t;
create temporary view v2 as select * from v1;
create temporary view v3 as select * from v2;
create temporary view va as select * from v1 as x;
create temporary view vt as table v1;
create temporary view vc as select id, s, p from v1;
create temporary view w1 as with q as (select * from {ns}.t) select * from q;
create temporary view w2 as select * from (select * from {ns}.t);
create temporary view w3 as select * from {ns}.t where true;
create temporary view w4 as select t.* from {ns}.t;
create temporary view w5 as (select * from {ns}.t);
create temporary view w6 as from {ns}.t select *;
create temporary view w7 as from {ns}.t;
create temporary view wb as select * from {ns}.t version as of 'main';
create temporary view wc as select * from {ns}.t.branch_main;
create temporary view wf as select /*+ broadcast(t) */ * from {ns}.t;
create temporary view wh as select id as id, s as s, p from {ns}.t;
create temporary view wi as select * from {ns}.t with ('split-size'='100');
create temporary view wj as select * from ({ns}.t);
create temporary view xf as select * from v1 where id > 1;
create temporary view xn as select id as a, s, p from v1;
create temporary view xo as select * from v1 order by id;
create temporary view x8 as select s, id, p from {ns}.t;
create temporary view x9 as select distinct * from {ns}.t;
create temporary view xa as select * from {ns}.t limit 5;
create temporary view xe as select *, 1 x from {ns}.t;
create temporary view xd as select * from {ns}.t.files;
create temporary view xu as select * from {ns}.t union all select * from {ns}.t;
create global temporary view g1 as select * from {ns}.t;
create temporary view g2 as select * from global_temp.g1;
delete from v2 where p = 1;
select count(*) from v3;
delete from v2;
select count(*) from {ns}.t;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from v3 where p = 1;
select count(*) from v3;
delete from v3;
select count(*) from {ns}.t;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from g2 where p = 1;
select count(*) from v3;
delete from g2;
select count(*) from {ns}.t;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from va;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from vt;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from vc;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w1;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w2;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w3;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w4;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w5;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w6;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from w7;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from wb;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from wc;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from wf;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from wh;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from wi;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
delete from wj;
select count(*) from v3;
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
-- error
delete from xf;
-- error
delete from xn;
-- error
delete from xo;
-- error
delete from x8;
-- error
delete from x9;
-- error
delete from xa;
-- error
delete from xe;
-- error
delete from xd;
-- error
delete from xu;
-- error: `t` does not support UPDATE TABLE
update v2 set s = 'x' where id = 1;
-- error: `t` does not support UPDATE TABLE
update v3 set s = 'x';
-- error: `t` does not support MERGE INTO TABLE
merge into v2 using (select 1 id) q on v2.id = q.id when matched then delete;
-- error: EXPECT_TABLE_NOT_VIEW
insert into v2 values (9, 'z', 0);
-- error: EXPECT_TABLE_NOT_VIEW
insert overwrite v3 values (9, 'z', 0);
-- error
insert into v2 replace where p = 1 values (9, 'z', 1);
-- error: EXPECT_TABLE_NOT_VIEW
truncate table v2;
-- error
delete from v2 where id in (select 1);
delete from v2 as x where x.p = 0;
select * from v3;
drop view global_temp.g1;

-- case: columns_that_differ_by_case
create namespace {ns};
set spark.sql.caseSensitive = true;
create table {ns}.t (id int, ID int, s string) using iceberg;
create table {ns}.n (k int, s struct<a: int, A: int>) using iceberg partitioned by (k);
insert into {ns}.t values (1, 10, 'a'), (2, 20, 'b');
insert into {ns}.n values (1, named_struct('a', 1, 'A', 2));
update {ns}.t set id = 3 where ID = 20;
select * from {ns}.t where id > 1;
reset spark.sql.caseSensitive;
-- error: COLUMN_ALREADY_EXISTS
select * from {ns}.t;
-- error: COLUMN_ALREADY_EXISTS
select count(*) from {ns}.t where s = 'a';
-- error: COLUMN_ALREADY_EXISTS
select k from {ns}.n;
-- error
insert into {ns}.t values (3, 30, 'c');
-- error
insert into {ns}.n select * from {ns}.n;
-- error
insert overwrite {ns}.t values (3, 30, 'c');
-- error
delete from {ns}.t where s = 'a';
-- error
delete from {ns}.n where k = 1;
-- error
update {ns}.t set s = 'z';
-- error
merge into {ns}.t t using (select 'a' as x) q on t.s = q.x when matched then delete;
-- error: AMBIGUOUS_COLUMN_OR_FIELD
alter table {ns}.t rename column id to y;
-- error: AMBIGUOUS_COLUMN_OR_FIELD
alter table {ns}.t drop column ID;
-- error: AMBIGUOUS_COLUMN_OR_FIELD
alter table {ns}.t alter column id type bigint;
alter table {ns}.t add column x int;
describe {ns}.t;
select * from {ns}.n.partitions;
-- error: COLUMN_ALREADY_EXISTS
select * from {ns}.t.files;
truncate table {ns}.n;
drop table {ns}.n;
drop table {ns}.t;

-- case: planning_modes
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('read.data-planning-mode' = 'nope');
insert into {ns}.t values (1, 'a');
-- error: Unknown planning mode: nope
select * from {ns}.t;
-- error: Unknown planning mode: nope
select * from {ns}.t.branch_main;
-- error: Unknown planning mode: nope
update {ns}.t set s = 'b';
-- error: Unknown planning mode: nope
delete from {ns}.t where s like '%a';
-- error: Unknown planning mode: nope
merge into {ns}.t t using (select 5 as id, 's' as s) q on t.id = q.id when not matched then insert *;
delete from {ns}.t where id = 77;
select operation from {ns}.t.snapshots;
alter table {ns}.t set tblproperties ('read.data-planning-mode' = 'Distributed', 'read.delete-planning-mode' = 'LOCAL');
select * from {ns}.t;
set `spark.sql.iceberg.delete-planning-mode` = nope;
-- error: Unknown planning mode: nope
select * from {ns}.t;
set `spark.sql.iceberg.delete-planning-mode` = auto;
select * from {ns}.t with ('data-planning-mode' = 'nope');

-- case: delete_decided
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, n int, s string) using iceberg tblproperties ('write.delete.mode'='{m}');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 1, 'a'), (2, 2, 'b'), (3, 3, null), (1, null, 'abc'), (7, null, 'x');
insert into {ns}.t select /*+ coalesce(1) */ * from values (20, 1, 'a'), (20, 2, 'b');
delete from {ns}.t where id = 1 and id = 2;
delete from {ns}.t where id = 1 and n = id and n = 2;
delete from {ns}.t where id = n and id = 77;
delete from {ns}.t where id <> id;
delete from {ns}.t where id = 100 or (id = 1 and id = 2);
delete from {ns}.t where id = 1 and not id = 1;
delete from {ns}.t where id = 1 and id + 1 = 9;
delete from {ns}.t where s = 'a' and s = 'b' and upper(s) = 'q';
delete from {ns}.t where id in (77, null);
delete from {ns}.t where id in (77, null) or s = 'zz';
delete from {ns}.t where not (id not in (77, null));
delete from {ns}.t where id not in (77, null);
delete from {ns}.t where id not in (77, null) or s = 'zz';
delete from {ns}.t where id in (11, 12, 13, 14, 15, 16, 17, 18, 19, 77, 78, null);
delete from {ns}.t where n in (1, null);
delete from {ns}.t where id in (20, null);
select * from {ns}.t;
select operation, summary['total-records'] r, summary['total-position-deletes'] p from {ns}.t.snapshots;

-- case: zeros_in_partitions
create namespace {ns};
create table {ns}.z (id int, p double) using iceberg partitioned by (p);
insert into {ns}.z values (1, 0.0), (2, double('-0.0')), (3, null), (4, double('nan'));
select id, p, cast(p as string) t from {ns}.z;
select cast(partition.p as string) p, record_count from {ns}.z.partitions;
select operation, summary['changed-partition-count'] c from {ns}.z.snapshots;

-- case: aliases_that_are_words
create namespace {ns};
create table {ns}.order (id int, s string) using iceberg;
insert into {ns}.order select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b');
select order.id from {ns}.order order where order.id = 1;
select * from {ns}.order where;
select where.id from {ns}.order where where where.id = 2;
update {ns}.order set set s = 'x' where set.id = 1;
update {ns}.order as where set s = 'y' where where.id = 2;
delete from {ns}.order where where where.id = 1;
delete from {ns}.order order where order.id = 7;
merge into {ns}.order order using (select 9 id, 'z' s) u on order.id = u.id when not matched then insert *;
insert into {ns}.order select select.id + 10, select.s from {ns}.order select;
select * from {ns}.order;
create table {ns}.words (where int, set int) using iceberg;
insert into {ns}.words select /*+ coalesce(1) */ * from values (1, 1), (2, 2);
delete from {ns}.words where where = 1;
update {ns}.words set set = 5;
select * from {ns}.words;
