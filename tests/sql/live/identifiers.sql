-- case: identifier_clauses_for_parts_of_names
create namespace {ns};
create table {ns}.t (id int, p string, s struct<a:int>) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a', named_struct('a', 1)), (2, 'b', null);
select count(*) from identifier('{ns}.t').files where content = 9;
select count(*) from identifier('{ns}').t.snapshots;
select count(*) from {ns}.identifier('t').snapshots;
select count(*) from identifier('{ns}').identifier('t');
select identifier('id'), identifier('t.p'), identifier('s.a') from {ns}.t;
select identifier('upper')(p), identifier('local.system.bucket')(4, id) as b from {ns}.t;
with identifier('c') as (select * from {ns}.t) select identifier('c.id') from identifier('c');
select id as identifier('x') from {ns}.t;
insert into {ns}.t (identifier('id'), p) values (4, 'c');
insert overwrite identifier('{ns}.t') partition (identifier('p') = 'c') select 6, null;
insert into identifier('{ns}').t (identifier('p'), id) select 'd', 7;
update {ns}.t set identifier('id') = 8, identifier('s').a = 5 where identifier('id') = 6;
delete from {ns}.identifier('t') where identifier('id') = 7;
merge into identifier('{ns}.t') as t using (select 1 as id) as s on t.id = s.id when matched then update set identifier('p') = 'mm';
merge into {ns}.t as t using (select 9 as id) as s on t.id = s.id when not matched then insert (identifier('id')) values (9);
select * from {ns}.t;
create table {ns}.a (identifier('x') int, s struct<identifier('q'):int>) using iceberg;
alter table identifier('{ns}').a add column identifier('z') int;
alter table {ns}.a rename column identifier('z') to zz;
alter table {ns}.a alter column identifier('s').identifier('q') comment 'c';
alter table {ns}.a add column w int after x;
alter table {ns}.a drop column zz;
describe identifier('{ns}.a') identifier('x');
describe {ns}.a;
show columns in identifier('{ns}').a;
show tables in local.identifier('{nsname}');
call local.system.identifier('rewrite_manifests')('{nsname}.t');
call identifier('local').system.rewrite_manifests(table => '{nsname}.t');
drop table if exists {ns}.identifier('nope');
create namespace jdbc.{nsname};
create table jdbc.{nsname}.t (id int) using iceberg;
create view jdbc.{nsname}.identifier('v') as select identifier('id') from jdbc.{nsname}.t;
select * from jdbc.{nsname}.v;
show columns from {ns}.t from {nsname};
-- error
show columns from {ns}.t from nope;
-- error
select identifier('') from {ns}.t;
-- error
select identifier('a b') from {ns}.t;
-- error
select * from identifier('{ns}.nope').files;
