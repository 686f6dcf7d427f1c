-- BEGIN ... END scripts. Each stands on lines of its own, for a case's statement ends where a line does with `;`.

-- case: basics
create namespace {ns};
begin create table {ns}.t (id int, s string) using iceberg; insert into {ns}.t values (1, 'a'), (2, 'b'); select count(*) n from {ns}.t; end;
select * from {ns}.t;
begin end;
begin insert into {ns}.t values (3, 'c'); end;
begin select * from {ns}.t where id = 1; insert into {ns}.t values (4, 'd'); end;
begin select * from {ns}.t where id = 1; select count(*) as c from {ns}.t; end;
begin declare x int default 10; insert into {ns}.t values (x, concat('v', x)); set x = x + 1; insert into {ns}.t select x, 'w'; select max(id) m, x from {ns}.t; end;
begin declare x int; set x = (select max(id) from {ns}.t); insert into {ns}.t values (x + 1, 'max'); select x; end;
begin declare x int default 3; delete from {ns}.t where id = x; end;
select * from {ns}.t;
begin declare id int default 999; delete from {ns}.t where id = 999; select count(*) from {ns}.t; end;
begin declare n int default 0; while n < 3 do insert into {ns}.t values (100 + n, 'loop'); set n = n + 1; end while; select count(*) c from {ns}.t; end;
begin while (select count(*) from {ns}.t) < 12 do insert into {ns}.t values (200, 'cond'); end while; select count(*) c from {ns}.t; end;
begin repeat insert into {ns}.t values (300, 'rep'); until (select count(*) from {ns}.t where s = 'rep') >= 2 end repeat; select count(*) c from {ns}.t; end;
begin declare i int default 0; l1: loop set i = i + 1; if i = 2 then iterate l1; end if; if i > 4 then leave l1; end if; insert into {ns}.t values (400 + i, 'lp'); end loop l1; select id from {ns}.t where s = 'lp'; end;
begin if (select count(*) from {ns}.t where s = 'lp') = 3 then delete from {ns}.t where s = 'lp'; elseif true then select 'no'; else select 'never'; end if; select count(*) c from {ns}.t where s = 'lp'; end;
begin case when exists (select 1 from {ns}.t where s = 'rep') then delete from {ns}.t where s = 'rep'; select 'gone' r; else select 'kept' r; end case; end;
begin case (select count(*) from {ns}.t where s = 'cond') when 0 then select 'zero' r; when 1 then select 'one' r; else insert into {ns}.t values (500, 'else'); select 'else' r; end case; end;
begin for r as select id, s from {ns}.t where s = 'loop' order by id do insert into {ns}.t values (r.id + 1000, concat(r.s, '!')); end for; select id, s from {ns}.t where id > 1000; end;
-- error
begin for r as select id from {ns}.t where id > 1000 order by id do delete from {ns}.t where id = r.id; if r.id = 1101 then leave lbl; end if; end for; end;
begin lbl: for r as select id from {ns}.t where id > 1000 order by id do delete from {ns}.t where id = r.id; if r.id = 1101 then leave lbl; end if; end for lbl; select id from {ns}.t where id > 1000; end;
-- error
outer_l: begin declare v int default 1; inner_l: begin declare v int default 2; insert into {ns}.t values (v, 'inner'), (outer_l.v, 'outer'); end inner_l; select s from {ns}.t where id = v and s in ('inner', 'outer'); end outer_l;
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: handlers
create namespace {ns};
create table {ns}.t (id int not null, s string) using iceberg;
create table {ns}.log (m string, st string) using iceberg;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('exit', 'any'); end; insert into {ns}.t values (1, 'a'); select 1/0; insert into {ns}.t values (2, 'b'); end;
-- error
begin declare continue handler for divide_by_zero insert into {ns}.log values ('continue', 'div'); insert into {ns}.t values (3, 'c'); select 1/0; insert into {ns}.t values (4, 'd'); select 'end' r; end;
-- error
begin declare continue handler for sqlstate '22012' begin insert into {ns}.log values ('state', 'div'); end; insert into {ns}.t select 1/0, 'x'; insert into {ns}.t values (5, 'e'); end;
begin declare exit handler for table_or_view_not_found begin insert into {ns}.log values ('missing', 'select'); end; select * from {ns}.nope; insert into {ns}.t values (6, 'never'); end;
begin declare exit handler for table_or_view_not_found begin insert into {ns}.log values ('missing', 'insert'); end; insert into {ns}.nope values (1); insert into {ns}.t values (6, 'never'); end;
begin declare exit handler for sqlstate '42P01' begin insert into {ns}.log values ('missing', 'delete'); end; delete from {ns}.nope; end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('if', 'missing'); end; if (select count(*) from {ns}.nope) > 0 then select 1; end if; end;
-- error
begin declare continue handler for sqlexception begin insert into {ns}.log values ('while', 'missing'); end; while (select count(*) from {ns}.nope) > 0 do select 1; end while; insert into {ns}.t values (7, 'after'); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('notnull', 'x'); end; insert into {ns}.t values (cast(null as int), 'x'); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('column', 'x'); end; insert into {ns}.t (nope) values (1); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('column2', 'x'); end; update {ns}.t set nope = 1; end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('column3', 'x'); end; select nope from {ns}.t; end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('exists', 'x'); end; create table {ns}.t (id int) using iceberg; end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('merge', 'card'); end; merge into {ns}.t t using (select 3 id union all select 3 id) q on t.id = q.id when matched then update set s = 'm'; end;
begin declare exit handler for merge_cardinality_violation begin insert into {ns}.log values ('merge', 'card2'); end; merge into {ns}.t t using (select 3 id union all select 3 id) q on t.id = q.id when matched then update set s = 'm'; end;
-- error
begin declare exit handler for sqlexception begin insert into {ns}.log values ('procedure', 'x'); end; call local.system.rollback_to_snapshot('{ns}.t', 123); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('procedure2', 'x'); end; call local.system.nope('{ns}.t'); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('cast', 'x'); end; insert into {ns}.t values ('abc', 's'); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('arity', 'x'); end; insert into {ns}.t values (1, 's', 3); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('raise', 'x'); end; insert into {ns}.t select raise_error('boom'), 's'; end;
-- error
begin declare mine condition for sqlstate '45000'; declare exit handler for mine begin insert into {ns}.log values ('mine', 'x'); end; insert into {ns}.t values (8, 'x'); select raise_error('USER_RAISED_EXCEPTION', map('errorMessage', 'x')); end;
begin declare exit handler for not found begin select 'nf'; end; insert into {ns}.t values (9, 'nine'); end;
-- error
begin begin declare exit handler for sqlexception begin insert into {ns}.log values ('inner', 'x'); select 1/0; end; select 1/0; end; insert into {ns}.t values (10, 'never'); end;
begin declare exit handler for sqlexception begin insert into {ns}.log values ('outer', 'x'); end; begin declare exit handler for divide_by_zero begin insert into {ns}.log values ('inner2', 'x'); select * from {ns}.nope; end; select 1/0; end; insert into {ns}.t values (10, 'never'); end;
-- error
begin declare continue handler for sqlexception begin end; insert into {ns}.t values (11, 'x'); insert into {ns}.nope values (1); insert into {ns}.t values (12, 'y'); for r as select id from {ns}.nope do select 1; end for; insert into {ns}.t values (13, 'z'); end;
select * from {ns}.t;
select * from {ns}.log;

-- case: statements
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
-- error
begin insert into {ns}.t values (1, 'a'); select 1/0; end;
-- error
begin insert into {ns}.t values (2, 'b'); insert into {ns}.nope values (1); end;
begin insert into {ns}.t values (3, 'c') select; end;
begin execute immediate 'insert into {ns}.t values (4, ''ei'')'; end;
begin declare q string default 'insert into {ns}.t values (5, ''ei'')'; execute immediate q; end;
begin declare x int; execute immediate 'select max(id) from {ns}.t' into x; insert into {ns}.t values (x + 100, 'into'); select x; end;
-- error
begin declare x int default 3; execute immediate 'select x from {ns}.t'; end;
begin execute immediate 'select id from {ns}.t where id = 1'; end;
begin execute immediate 'select id from {ns}.t where id = 1'; insert into {ns}.t values (6, 'f'); end;
-- error
begin execute immediate 'begin select 1; end'; end;
begin create temporary view tv as select * from {ns}.t where id = 1; select * from tv; end;
begin create or replace temporary view tv2 as select * from {ns}.t; insert into {ns}.t values (7, 'g'); select count(*) from tv2; drop view tv2; end;
begin if (select count(*) from tv) = 1 then select 'one'; end if; end;
drop view tv;
begin truncate table {ns}.t; insert into {ns}.t values (1, 'a'); alter table {ns}.t add column z int; insert into {ns}.t values (2, 'b', 3); select * from {ns}.t; end;
begin select z from {ns}.t where id = 2; alter table {ns}.t drop column z; select * from {ns}.t; end;
begin create table {ns}.u using iceberg as select * from {ns}.t; select count(*) from {ns}.u; drop table {ns}.u; end;
begin drop table if exists {ns}.u; create table {ns}.u (id int) using iceberg; if (select count(*) from {ns}.u) = 0 then insert into {ns}.u values (1); end if; for r as select id from {ns}.u do insert into {ns}.u values (r.id + 1); end for; select * from {ns}.u; drop table {ns}.u; end;
begin show tables in {ns}; end;
begin describe {ns}.t; end;
begin select 1; show tables in {ns}; end;
begin call local.system.rewrite_data_files('{ns}.t'); end;
begin select 5 a; call local.system.rewrite_data_files('{ns}.t'); end;
begin declare tname string default '{ns}.t'; call local.system.rewrite_data_files(table => tname); end;
begin insert into {ns}.t values (50, 'snap'); select count(*) from {ns}.t.snapshots; select operation from {ns}.t.history h join {ns}.t.snapshots s on h.snapshot_id = s.snapshot_id; end;
begin if (select count(*) from {ns}.t.snapshots) > 3 then select 'many' r; end if; end;
begin select count(*) from {ns}.t version as of 'main'; end;
begin use {ns}; insert into t values (60, 'used'); if (select count(*) from t where id = 60) = 1 then select 'yes'; end if; use spark_catalog.default; end;
use spark_catalog.default;
-- error
begin alter table {ns}.t add partition field bucket(2, id); end;
-- error
begin alter table {ns}.t create tag x; end;
begin declare x int default 1; insert overwrite {ns}.t select x, 'ow'; select * from {ns}.t; end;
begin insert into {ns}.t values (70, 'x;y'); insert into {ns}.t values (71, 'end'); /* end; */ select s from {ns}.t where id in (70, 71); -- end
end;
-- error
begin set spark.wap.branch = x; end;
-- error
begin set `spark.sql.shuffle.partitions` = 3; end;
begin values (1), (2); end;
begin from {ns}.t select count(*) c; end;
begin table {ns}.t; end;
begin with q as (select * from {ns}.t) select count(*) c from q; end;
begin explain select * from {ns}.t; end;
begin cache table {ns}.t; uncache table {ns}.t; end;
-- error
begin declare x int default (select max(id) from {ns}.t); select x; end;
-- error
begin signal sqlstate '45000'; end;
begin declare t int; insert into {ns}.t values (80, 'sh'); select count(*) from {ns}.t; end;
begin not atomic insert into {ns}.t values (81, 'na'); end;
begin declare x int default 5; begin set x = 6; insert into {ns}.t values (x, 'nest'); end; insert into {ns}.t values (x, 'nest2'); select id, s from {ns}.t where s like 'nest%'; end;
begin declare f double default 0.5; declare d date default date'2020-01-01'; insert into {ns}.t values (cast(f * 10 as int), cast(d as string)); end;
begin for r as select local.system.bucket(4, id) b, id from {ns}.t where id < 3 order by id do if local.system.bucket(4, r.id) = r.b then insert into {ns}.t values (r.id + 500, 'bucket'); end if; end for; select id from {ns}.t where s = 'bucket'; end;
begin insert into {ns}.t select id + 1, s from {ns}.t where id = 70; update {ns}.t set s = (select max(s) from {ns}.t) where id = 71; delete from {ns}.t where id in (select max(id) from {ns}.t); end;
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: handlers_that_continue
create namespace {ns};
create table {ns}.t (id int not null, s string) using iceberg;
set spark.sql.scripting.continueHandlerEnabled = true;
begin declare continue handler for divide_by_zero insert into {ns}.t values (0, 'div'); insert into {ns}.t values (3, 'c'); select 1/0; insert into {ns}.t values (4, 'd'); select 'end' r; end;
-- error
begin declare continue handler for sqlstate '22012' begin insert into {ns}.t values (0, 'state'); end; insert into {ns}.t select 1/0, 'x'; insert into {ns}.t values (5, 'e'); end;
begin declare continue handler for sqlexception insert into {ns}.t values (0, 'while'); while (select count(*) from {ns}.nope) > 0 do select 1; end while; insert into {ns}.t values (7, 'after'); end;
begin declare continue handler for sqlexception begin end; insert into {ns}.t values (11, 'x'); insert into {ns}.nope values (1); insert into {ns}.t values (12, 'y'); for r as select id from {ns}.nope do select 1; end for; insert into {ns}.t values (13, 'z'); end;
begin declare continue handler for sqlexception insert into {ns}.t values (0, 'seen'); if (select 1/0) = 1 then select 1; end if; case (select count(*) from {ns}.nope) when 1 then select 1; else select 2; end case; delete from {ns}.t where nope = 1; insert into {ns}.t values (14, 'z'); end;
begin declare n int default 0; declare continue handler for unresolved_column.with_suggestion set n = n + 1; select nope from {ns}.t; update {ns}.t set s = nope; merge into {ns}.t t using {ns}.t q on t.id = q.nope when matched then delete; select n; end;
begin declare exit handler for not_null_assert_violation insert into {ns}.t values (0, 'null'); insert into {ns}.t values (null, 'x'); end;
begin declare exit handler for not_null_assert_violation, divide_by_zero insert into {ns}.t values (0, 'one of'); insert into {ns}.t select cast(null as int), 's' from {ns}.t; end;
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'column list'); insert into {ns}.t (id, id) values (1, 2); end;
begin declare exit handler for insert_column_arity_mismatch.too_many_data_columns insert into {ns}.t values (0, 'many'); insert into {ns}.t values (1, 's', 3); end;
begin declare exit handler for insert_column_arity_mismatch.not_enough_data_columns insert into {ns}.t values (0, 'few'); insert into {ns}.t values (1); end;
begin declare exit handler for incompatible_data_for_table.cannot_safely_cast insert into {ns}.t values (0, 'cast'); insert into {ns}.t values (date'2020-01-01', 'x'); end;
begin declare exit handler for table_or_view_already_exists insert into {ns}.t values (0, 'exists'); create table {ns}.t (id int) using iceberg; end;
begin declare exit handler for sqlstate '42P07' insert into {ns}.t values (0, 'exists 2'); create table {ns}.t using iceberg as select 1 a; end;
begin declare exit handler for table_or_view_not_found insert into {ns}.t values (0, 'drop'); drop table {ns}.nope; end;
begin declare exit handler for table_or_view_not_found insert into {ns}.t values (0, 'alter'); alter table {ns}.nope add column a int; end;
begin declare exit handler for table_or_view_not_found insert into {ns}.t values (0, 'describe'); describe {ns}.nope; end;
begin declare exit handler for table_or_view_not_found insert into {ns}.t values (0, 'truncate'); truncate table {ns}.nope; end;
begin declare exit handler for field_already_exists insert into {ns}.t values (0, 'field'); alter table {ns}.t add column id int; end;
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'schema'); create namespace {ns}; end;
-- error
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'when'); merge into {ns}.t t using {ns}.t q on t.id = q.id when matched then update set s = 'x' when matched then delete; end;
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'procedure'); call local.system.rollback_to_snapshot(nope => 1); end;
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'default'); insert into {ns}.t values (9, 's', default); end;
-- error
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'never'); call local.system.rollback_to_snapshot('{ns}.t', 1); end;
-- error
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'never'); alter table {ns}.t set tblproperties ('sort-order' = 'x'); end;
-- error
begin declare exit handler for sqlexception insert into {ns}.t values (0, 'never'); select * from {ns}.t version as of 12; end;
select * from {ns}.t;

-- case: what_is_asked
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a');
insert into {ns}.t values (2, 'b');
insert into {ns}.t values (3, 'c');
begin if (select count(_file) from {ns}.t where _pos >= 0) = 3 then select 'files' r; end if; end;
begin for r as select *, _pos p from {ns}.t where id = 1 do select r.id, r.s; end for; end;
begin for r as select t.id, {ns}.t.s from {ns}.t do delete from {ns}.t where id = r.id; end for; select count(*) c from {ns}.t; end;
begin if exists (select * from {ns}.t) then select 'some' r; elseif (select count(*) from {ns}.t version as of 'main') = 0 then insert into {ns}.t values (1, 'x'); else select 'else' r; end if; select id from {ns}.t; end;
begin declare n bigint; set n = (select count(*) from {ns}.t.files); set (n) = (select n + count(*) from {ns}.t.snapshots); select n; end;
begin for a as select id from {ns}.t do for b as select id from {ns}.t.history h join {ns}.t on true do insert into {ns}.t values (a.id + b.id, 'nested'); end for; end for; select count(*) c from {ns}.t; end;
begin declare x int default 1; begin declare x int default 2; if (select max(id) from {ns}.t) = x then select 'inner' r; else select 'not' r; end if; end; end;
begin with_label: begin leave with_label; insert into {ns}.t values (99, 'never'); end with_label; select count(*) c from {ns}.t where id = 99; end;
begin declare v array<int> default array(1, 2); declare s struct<a: int> default named_struct('a', 7); insert into {ns}.t values (v[1], cast(s.a as string)); select id, s from {ns}.t where s = '7'; end;
-- error
begin if (select id from {ns}.t) then select 1; end if; end;
-- error
begin if (select count(*) from {ns}.t) then select 1; end if; end;
-- error
begin declare x int; declare x int; end;
-- error
begin insert into {ns}.t values (5, 'no end');
begin for r as select id from {ns}.t do set r.id = 5; end for; end;
-- error
begin insert into {ns}.t values (77, 'kept'); insert into {ns}.t values (x, 'no'); end;
select id from {ns}.t where id = 77;
create temporary view asked as select * from {ns}.t where id = 77;
begin insert into {ns}.t values (77, 'again'); if (select count(*) from asked) = 2 then select 'fresh' r; else select 'stale' r; end if; end;
declare or replace variable outside_{nsname} int default 3;
begin insert into {ns}.t values (outside_{nsname}, 'session'); set outside_{nsname} = 4; if outside_{nsname} = 4 then insert into {ns}.t values (session.outside_{nsname}, 'session'); end if; end;
drop temporary variable outside_{nsname};
select * from {ns}.t where s = 'session';

-- case: immediate_expressions
create namespace {ns};
create table {ns}.t (id int) using iceberg;
execute immediate 'insert into {ns}.t ' || 'select /*+ coalesce(1) */ 7';
declare or replace variable name string default '{ns}.t';
execute immediate 'select id + 1 from ' || name;
begin declare c string default '{nsname}'; execute immediate 'use local.' || c; select id from t; end;
select current_schema();
use spark_catalog.default;
drop temporary variable name;
