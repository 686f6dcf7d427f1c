-- MERGE: clause order, cardinality, NOT MATCHED BY SOURCE, nested assignments, schema evolution, refusals.

-- case: clause_order
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string, n int) using iceberg;
alter table {ns}.t set tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, null, null);
merge into {ns}.t t using (select * from values (1, 10), (2, 20), (5, 50), (6, 60) as v(id, n)) s on t.id = s.id when matched and t.n = 1 then update set n = s.n when matched and s.n > 5 then delete when not matched and s.id = 5 then insert (id, n) values (s.id, s.n) when not matched then insert (n, s, id) values (s.n, 'last', s.id) when not matched by source and t.n is null then update set s = 'was null' when not matched by source then update set s = 'lone', n = t.n * 100;
select * from {ns}.t;
merge into {ns}.t t using {ns}.t s on t.id = s.id + 1 when matched then update set t.n = s.n;
select * from {ns}.t;
merge into {ns}.t using (select 1 as key) s on id = key when matched then update set s = 'unqualified';
select * from {ns}.t;
merge into {ns}.t as x using (select cast(null as int) as id) s on x.id = s.id when matched then delete when not matched then insert (id, s) values (s.id, 'null key');
merge into {ns}.t as x using (select cast(null as int) as id) s on x.id <=> s.id when matched then delete;
select * from {ns}.t;
with src as (select 5 as id) merge into {ns}.t t using src on t.id = src.id when matched then update set s = 'cte';
merge into {ns}.t t using (select 6 as id) as s on t.id = s.id when matched then update set t.s = (select max(s) from {ns}.t), n = default;
select * from {ns}.t;
merge into {ns}.t t using (select 7 as id, 'q' as s union all select 5, 'z') v on t.id = v.id when matched then update set s = v.s when not matched and s like 'q%' then insert (id, s) values (id + 1, upper(s)) when not matched by source and id < 4 then update set s = concat(s, id) when not matched by source and id = 4 then delete;
select * from {ns}.t;

-- case: not_matched_by_source
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p) tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t values (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b'), (5, null);
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when not matched by source and t.p = 'b' then update set p = 'bb';
select * from {ns}.t;
merge into {ns}.t t using (select 3 as id where false) s on t.id = s.id when not matched by source and t.id = 5 then delete;
select * from {ns}.t;
merge into {ns}.t t using (select 1 as id union all select 8) s on t.id = s.id when matched then update set p = 'one' when not matched then insert (id, p) values (s.id, 'new') when not matched by source and t.id = 2 then delete when not matched by source then update set p = concat(t.p, '!');
select * from {ns}.t;
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when not matched by source then delete;
select * from {ns}.t;
-- error
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when not matched by source then update set id = s.id;
-- error
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when not matched by source and s.id = 1 then delete;

-- case: cardinality
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c');
create table {ns}.d (id int, k int) using iceberg;
insert into {ns}.d values (1, 1), (1, 2), (7, 1), (7, 2);
-- error: MERGE_CARDINALITY_VIOLATION
merge into {ns}.t t using {ns}.d s on t.id = s.id when matched then update set s = 'x';
-- error: MERGE_CARDINALITY_VIOLATION
merge into {ns}.t t using {ns}.d s on t.id = s.id when matched and t.id = 99 then update set s = 'x';
-- error: MERGE_CARDINALITY_VIOLATION
merge into {ns}.t t using {ns}.d s on t.id = s.id when matched and s.k = 1 then delete when not matched then insert (id) values (s.id);
merge into {ns}.t t using {ns}.d s on t.id = s.id when not matched then insert (id, s) values (s.id, 'twice');
select * from {ns}.t;
merge into {ns}.t t using (select * from {ns}.d where id = 1) s on t.id = s.id when matched then delete;
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: nested
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, c struct<a: int, b: struct<x: string, y: int>>, l array<int>, m map<string, int>) using iceberg tblproperties ('write.merge.mode'='{m}', 'write.update.mode'='{m}');
insert into {ns}.t values (1, named_struct('a', 1, 'b', named_struct('x', 'x1', 'y', 1)), array(1, 2), map('k', 1)), (2, null, null, null), (3, named_struct('a', 3, 'b', null), array(), map());
merge into {ns}.t t using (select 1 as id, 100 as v union all select 2, 200) s on t.id = s.id when matched then update set t.c.a = s.v, t.c.b.x = 'm', l = array(s.v);
select * from {ns}.t;
update {ns}.t set c.b.y = 7 where id = 3;
update {ns}.t set c.b = named_struct('x', 'w', 'y', 9), m = map('z', 26) where id = 1;
select * from {ns}.t;
update {ns}.t set c.a = cast(5 as smallint), c.b.y = null where id = 1;
select c.a, c.b.y, c.b.x from {ns}.t;
-- error
update {ns}.t set c.b.x = 'q', c.b = null;
-- error
update {ns}.t set c.a = 1, c.a = 2;
-- error
update {ns}.t set c.nope = 1;
-- error
update {ns}.t set l.element = 1;
-- error
update {ns}.t set m.value = 1;
-- error
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when not matched then insert (id, c.a) values (s.id, 1);
-- error
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when matched then update set t.c = 5;
update {ns}.t set c = named_struct('a', 1, 'b', named_struct('x', 'p', 'y', 2)), id = id + 10;
select * from {ns}.t;

-- case: refusals
create namespace {ns};
create table {ns}.t (id int not null, s string, d decimal(4,2)) using iceberg;
create table {ns}.s (id int, s string, extra int) using iceberg;
insert into {ns}.t values (1, 'a', 1.5);
insert into {ns}.s values (1, 'b', 2), (2, 'c', 3);
-- error: MERGE_WITHOUT_WHEN
merge into {ns}.t t using {ns}.s s on t.id = s.id;
-- error: NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then delete when matched then delete;
-- error: NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert * when not matched and s.id = 1 then insert *;
-- error: NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched by source then delete when not matched by source then delete;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert *;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set *;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched and rand() > 0.5 then delete;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id and rand() > 2 when matched then delete;
-- error
merge into {ns}.t t using {ns}.s s on t.id = (select max(id) from {ns}.s) when matched then delete;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched and t.id in (select id from {ns}.s) then delete;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched and max(t.id) = 1 then delete;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched and t.id = 1 then insert (id) values (1);
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert (id) values (t.id);
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert (id, s) values (s.id);
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert (id, id) values (s.id, 1);
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then insert (s) values ('no id');
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set id = null;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set id = 'abc';
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set d = 12345.678;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then update set s = 'a', t.s = 'b';
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched then update set s = 'a';
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched then insert *;
-- error
merge into {ns}.t t using {ns}.s s on t.id = s.id when not matched by source then insert *;
-- error
merge into {ns}.t t using {ns}.s s on id = s.id when matched then delete;
-- error
merge into {ns}.t t using {ns}.nope s on t.id = s.id when matched then delete;
-- error
merge into {ns}.nope t using {ns}.s s on t.id = s.id when matched then delete;
-- error
merge into {ns}.t t using {ns}.s s on true when matched then delete when not matched then insert values (1, 'a', 2);
-- error: NOT_NULL_ASSERT_VIOLATION
merge into {ns}.t t using (select cast(null as int) as i) s on t.id = s.i when not matched then insert (id, s) values (s.i, 'x');
select * from {ns}.t;
merge into {ns}.t t using {ns}.s s on t.id = s.id when matched and s.s = 'b' then update set d = 12.345, s = s.extra when not matched then insert (id, s, d) values (s.id, s.s, 3);
select * from {ns}.t;

-- case: schema_evolution
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t values (1, 'a'), (2, 'b');
merge with schema evolution into {ns}.t t using (select 2 as id, 'bb' as s, 5L as extra union all select 3, 'c', 6L) s on t.id = s.id when matched then update set * when not matched then insert *;
select * from {ns}.t;
merge with schema evolution into {ns}.t t using (select 1L as id, 'z' as s) s on t.id = s.id when matched then update set * when not matched then insert *;
select * from {ns}.t;
describe {ns}.t;
merge with schema evolution into {ns}.t t using (select 4L as id, 4 as other) s on t.id = s.id when not matched then insert (id, s) values (s.id, 'no new column');
select * from {ns}.t;
merge with schema evolution into {ns}.t t using (select 9L as id, 'q' as s, 1L as extra) s on t.id = s.id when not matched then insert *;
select * from {ns}.t;
-- error
merge into {ns}.t t using (select 9L as id, 'q' as s) s on t.id = s.id when matched then update set *;
alter table {ns}.t set tblproperties ('write.spark.auto-schema-evolution.enabled'='false');
merge with schema evolution into {ns}.t t using (select 1L as id, 'off' as s, 1L as extra, 2 as more) s on t.id = s.id when matched then update set *;
select * from {ns}.t;

-- case: partitions_move
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id bigint, ts timestamp, s string) using iceberg partitioned by (days(ts), bucket(3, id), truncate(1, s)) tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t select id, timestamp'2024-01-01 00:00:00' + make_interval(0, 0, 0, cast(id % 2 as int), 0, 0, 0), 'abc' || id from range(8);
merge into {ns}.t t using (select id, timestamp'2024-03-01 23:59:59.999999' as ts from range(6, 10)) s on t.id = s.id and t.ts < s.ts when matched then update set ts = s.ts, s = null when not matched then insert (id, ts) values (s.id, s.ts);
select * from {ns}.t;
select partition, record_count from {ns}.t.partitions where record_count > 0;
merge into {ns}.t t using {ns}.t s on t.id = s.id and t.ts = date'2024-01-01' when matched then delete;
select id from {ns}.t;

-- case: struct_fields_in_another_order
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, st struct<a:int,b:int>, ar array<struct<a:int,b:struct<c:string,d:int>>>, mp map<string,struct<a:int,b:int>>) using iceberg tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t values (1, named_struct('a',1,'b',2), array(named_struct('a',1,'b',named_struct('c','x','d',1))), map('k', named_struct('a',1,'b',2))), (2, null, null, null), (3, named_struct('a',3,'b',4), null, null);
merge into {ns}.t t using (select explode(array(1,2,3,4)) as k) s on t.id = s.k when matched and s.k = 1 then update set st = named_struct('b', 10, 'a', 20) when matched and s.k = 2 then update set st = named_struct('a', 30, 'b', 40) when matched then update set ar = array(named_struct('b',named_struct('d',5,'c','q'),'a',7), null), mp = map('m', named_struct('b',1,'a',2), 'n', null) when not matched then insert (id, st, ar) values (s.k, named_struct('B', 50, 'A', 60), array(named_struct('b',named_struct('c','z','d',6),'a',9)));
select * from {ns}.t;
merge into {ns}.t t using (select explode(array(1,2,3,4)) as k) s on t.id = s.k when matched and s.k = 1 then update set st = named_struct('b', 11L, 'a', 22), mp = null when matched then update set st = if(s.k = 2, null, named_struct('a', 3, 'b', 4)), ar = array(named_struct('a', 5, 'b', named_struct('d', 1, 'c', 'e')));
select * from {ns}.t;
-- error
merge into {ns}.t t using (select 1 as k) s on t.id = s.k when matched and s.k = 1 then update set st = named_struct('b', 1, 'c', 2) when matched then update set st = named_struct('a', 1, 'b', 2);

-- case: values_up_to_chance
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t values (1, 'a'), (2, 'b');
merge into {ns}.t t using (select 9 as id) q on t.id = q.id when not matched then insert (id, s) values (q.id, uuid());
-- error: NON_DETERMINISTIC
merge into {ns}.t t using (select 1 as id union all select 8) q on t.id = q.id when matched then update set s = uuid() when not matched then insert (id, s) values (q.id, uuid());
-- error: NON_DETERMINISTIC
merge into {ns}.t t using (select 1 as id) q on t.id = q.id when matched and rand() > 2 then delete;
-- error: NON_DETERMINISTIC
merge into {ns}.t t using (select 1 as id) q on t.id = q.id and rand() > 2 when matched then delete;
select id, length(s) from {ns}.t;
update {ns}.t set s = 'x';

-- case: sources_up_to_chance_copy_on_write
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a'), (2, 'b');
-- error: NON_DETERMINISTIC
merge into {ns}.t t using (select id, uuid() as s from (values (2), (7)) as v(id)) q on t.id = q.id when matched then update set s = q.s when not matched then insert *;

-- case: sources_up_to_chance_merge_on_read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.merge.mode'='merge-on-read');
insert into {ns}.t values (1, 'a'), (2, 'b');
merge into {ns}.t t using (select id, uuid() as s from (values (2), (7)) as v(id)) q on t.id = q.id when matched then update set s = q.s when not matched then insert *;
select id, length(s) from {ns}.t;
update {ns}.t set s = 'x';
