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
