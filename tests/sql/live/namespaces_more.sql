-- Namespaces, USE, SHOW, DESCRIBE, SET: the forms beside the everyday ones.

-- case: properties
create namespace jdbc.{nsname} comment 'a note' with dbproperties ('k'='w');
-- ignore
describe namespace jdbc.{nsname};
-- ignore
describe namespace extended jdbc.{nsname};
alter namespace jdbc.{nsname} set properties ('k'='x', 'z'='1');
alter namespace jdbc.{nsname} unset properties ('z');
comment on namespace jdbc.{nsname} is 'another';
alter database jdbc.{nsname} set dbproperties ('q'='r');
-- error
create namespace jdbc.{nsname};
create schema if not exists jdbc.{nsname};
create database jdbc.{nsname}.deep;
create namespace jdbc.{nsname}.deep.er;
show namespaces in jdbc.{nsname};
show schemas in jdbc.{nsname}.deep;
show databases in jdbc.{nsname};
show namespaces in jdbc.{nsname} like 'de*';
create table jdbc.{nsname}.deep.er.t (id int) using iceberg;
-- error
drop namespace jdbc.{nsname}.deep.er;
insert into jdbc.{nsname}.deep.er.t values (1);
-- error: does not exist
alter table jdbc.{nsname}.deep.er.t rename to {nsname}.nowhere.t;
select * from jdbc.{nsname}.deep.er.t;
drop table jdbc.{nsname}.deep.er.t;
drop namespace jdbc.{nsname}.deep.er;
-- error
drop namespace jdbc.{nsname}.nope;
drop namespace if exists jdbc.{nsname}.nope;
-- error
describe namespace jdbc.{nsname}.nope;
-- error
alter namespace jdbc.{nsname}.nope set properties ('a'='b');
-- error
show tables in jdbc.{nsname}.nope;
-- error
create namespace local.{nsname} with properties ('a'='b');
create namespace local.{nsname};
-- error
alter namespace local.{nsname} set properties ('a'='b');
-- error
comment on namespace local.{nsname} is 'x';
-- ignore
describe namespace local.{nsname};
drop namespace local.{nsname} cascade;

-- case: use
create namespace {ns};
create namespace {ns}.sub;
create table {ns}.t (id int) using iceberg;
create table {ns}.sub.t (n string) using iceberg;
use local;
show current namespace;
use {nsname};
show current namespace;
select * from t;
-- error
select * from sub.t;
select * from {nsname}.sub.t;
use {ns}.sub;
show current namespace;
select n from t;
use namespace {nsname};
show current namespace;
-- error
use database local;
-- error
use {ns}.missing;
show current namespace;
-- error
use missing_{nsname};
use spark_catalog;
show current namespace;
use default;
show current namespace;
set catalog local;
show current namespace;
set catalog 'spark_catalog';
-- error
set catalog nope_{nsname};
use local.{nsname};
show tables;
show tables like 't';
-- error
show tables in sub;
show tables in {nsname}.sub;
show columns in t;
show columns in t in {nsname};
describe t;
show tblproperties t ('format-version');
comment on table t is 'noted';
show tblproperties t ('comment');
drop table t;
use spark_catalog.default;

-- case: show_and_describe
create namespace {ns};
-- error
create table {ns}.t (id bigint not null comment 'key', s struct<a: int comment 'inner', b: array<string>>, m map<string, decimal(10, 2)>, ts timestamp, d date) using iceberg partitioned by (days(ts), bucket(8, id), truncate(3, d)) comment 'hello';
create table {ns}.t (id bigint not null comment 'key', s struct<a: int comment 'inner', b: array<string>>, m map<string, decimal(10, 2)>, ts timestamp, d date) using iceberg partitioned by (days(ts), bucket(8, id), months(d)) comment 'hello' tblproperties ('x'='y', 'a'='b');
-- ordered
describe {ns}.t;
-- ordered
describe table {ns}.t;
desc {ns}.t;
describe {ns}.t id;
describe extended {ns}.t id;
describe {ns}.t s;
-- error
describe {ns}.t s.a;
-- error
describe {ns}.t nope;
-- error
describe {ns}.t partition (ts='x');
-- error
describe formatted {ns}.nope;
show columns in {ns}.t;
show tblproperties {ns}.t ('x');
show tblproperties {ns}.t ('nope');
-- error
show tblproperties {ns}.nope;
-- mask: value
show tblproperties {ns}.t;
-- error
show create table {ns}.nope;
-- error
show partitions {ns}.nope;
show table extended in {ns} like 'nope*';
show tables in {ns};
show tables from {ns} like 'x*|t';
show tables in {ns} 't';
create table {ns}.u (id int) using iceberg;
-- ordered
describe {ns}.u;
alter table {ns}.u alter column id comment 'now';
-- ordered
describe {ns}.u;
describe {ns}.u id;
show columns in {ns}.u;
-- error
analyze table {ns}.u compute statistics;
-- error
analyze table {ns}.u compute statistics for all columns;
-- error
msck repair table {ns}.u;
-- error
load data inpath '/nope' into table {ns}.u;
truncate table {ns}.u;
-- error
truncate table {ns}.u partition (id = 1);
show catalogs like 'loc*';

-- case: settings
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p) tblproperties ('write.format.default'='orc');
-- error
set spark.sql.iceberg.snapshot-property.note = hello;
insert into {ns}.t values (1, 'a');
-- error
reset spark.sql.iceberg.snapshot-property.note;
insert into {ns}.t values (2, 'a');
select summary['note'] from {ns}.t.snapshots;
-- error
set spark.sql.iceberg.compression-codec = zstd;
insert into {ns}.t values (3, 'b');
-- error
set spark.sql.iceberg.compression-codec;
-- error
reset spark.sql.iceberg.compression-codec;
set spark.sql.iceberg.vectorization.enabled = false;
select * from {ns}.t where id > 1;
reset spark.sql.iceberg.vectorization.enabled;
-- error
set spark.sql.iceberg.distribution-mode = none;
insert into {ns}.t values (4, 'c');
-- error
reset spark.sql.iceberg.distribution-mode;
-- error
set spark.sql.iceberg.aggregate-push-down.enabled = false;
select count(*), max(id) from {ns}.t;
-- error
reset spark.sql.iceberg.aggregate-push-down.enabled;
-- error
set spark.sql.iceberg.merge-schema = true;
-- error
insert into {ns}.t select 5, 'd', 'extra';
alter table {ns}.t set tblproperties ('write.spark.accept-any-schema'='true');
-- error
insert into {ns}.t by name select 6 as id, 'e' as p, 'more' as extra;
-- error
reset spark.sql.iceberg.merge-schema;
select * from {ns}.t;
-- error
insert into {ns}.t by name select 7 as id, 'e' as p, 'more' as extra2;
insert into {ns}.t with ('mergeSchema'='true') by name select 7 as id, 'e' as p, 'more' as extra2;
select * from {ns}.t where id = 7;
-- error
insert into {ns}.t with ('write-format'='avro', 'snapshot-property.who'='me') values (8, 'f', null, null);
select lower(file_format), record_count from {ns}.t.files;
select summary['who'] from {ns}.t.snapshots where summary['who'] is not null;
set spark.sql.session.timeZone = America/New_York;
create table {ns}.z (ts timestamp) using iceberg partitioned by (hours(ts));
insert into {ns}.z values (timestamp'2020-07-01 00:00:00');
select * from {ns}.z;
select partition from {ns}.z.files;
select ts from {ns}.z where ts = '2020-07-01 00:00:00';
set spark.sql.session.timeZone = UTC;
select * from {ns}.z;
set spark.sql.caseSensitive = true;
-- error
select ID from {ns}.t;
-- error
select id from {ns}.t where ID = 1;
reset spark.sql.caseSensitive;
select ID from {ns}.t where iD = 1;
set spark.sql.ansi.enabled = false;
select cast('x' as int), id from {ns}.t where id = 1;
set spark.sql.ansi.enabled = true;
