-- Namespaces, USE, SHOW and DESCRIBE.

-- case: create_and_drop
create namespace {ns};
-- error
create namespace {ns};
create namespace if not exists {ns};
create namespace {ns}.inner;
show namespaces in {ns};
create table {ns}.inner.t (id int) using iceberg;
-- error
drop namespace {ns}.inner;
drop table {ns}.inner.t;
drop namespace {ns}.inner;
-- error
drop namespace {ns}.inner;
drop namespace if exists {ns}.inner;
show namespaces in {ns};

-- case: show_tables
create namespace {ns};
create table {ns}.alpha (id int) using iceberg;
create table {ns}.beta (id int) using iceberg;
create table {ns}.gamma (id int) using iceberg;
show tables in {ns};
show tables in {ns} like 'a*';
show tables in {ns} like 'beta|gamma';
show columns in {ns}.alpha;
-- error
show columns in {ns}.delta;
-- ordered
-- ignore
show create table {ns}.alpha;
-- ordered
describe table {ns}.alpha;
describe {ns}.alpha id;
-- error
describe {ns}.alpha nope;

-- case: use_and_current
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg;
insert into {ns}.t values (1, 'a');
use {ns};
show current namespace;
select * from t;
insert into t values (2, 'b');
select t.id from t order by id;
show tables;
alter table t add column x int;
-- ordered
describe t;
update t set x = id * 10;
select * from t;
delete from t where id = 1;
select count(*) from t;
drop table t;
show tables;
use spark_catalog.default;

-- case: describe_extended
create namespace {ns};
create table {ns}.t (id bigint not null, ts timestamp, s string) using iceberg partitioned by (days(ts), bucket(4, id)) comment 'c';
-- ordered
-- ignore
describe extended {ns}.t;
-- ordered
describe {ns}.t;
alter table {ns}.t write ordered by id, s desc nulls first;
show tblproperties {ns}.t ('sort-order');
alter table {ns}.t set identifier fields id;
show tblproperties {ns}.t ('identifier-fields');
show tblproperties {ns}.t ('current-snapshot-id');
show tblproperties {ns}.t ('format');

-- case: properties_refused_in_hadoop
create namespace {ns};
-- error: metadata is not supported
create namespace {ns}.p comment 'x';
-- error
create namespace {ns}.p location '/tmp/x';
-- error: reserved
create namespace {ns}.p with dbproperties ('location'='x');
-- error: reserved
create namespace {ns}.p with properties ('owner'='x');
-- error
create namespace {ns}.p with dbproperties ('k'='v');
-- error: setProperties is not supported
alter namespace {ns} set properties ('a'='b');
-- error: reserved
alter namespace {ns} set properties ('location'='b');
-- error
alter namespace {ns} unset properties ('a');
-- error
alter namespace {ns} set location '/tmp/x';
-- error
comment on schema {ns} is 'x';
describe namespace {ns};
describe schema extended {ns};
-- error
describe namespace {ns}_none;
show namespaces in {ns};

-- case: walking_about
create namespace {ns};
create namespace {ns}.inner;
create table {ns}.inner.t (id int) using iceberg;
create table {ns}.u (id int) using iceberg;
use local;
show current namespace;
-- error
show tables;
use {nsname};
show current namespace;
show tables;
select count(*) from u;
-- error
select count(*) from inner.t;
select count(*) from {nsname}.inner.t;
use namespace {nsname};
use schema {nsname}.inner;
show current namespace;
select count(*) from t;
-- error
use local.{nsname}.missing;
show current namespace;
use {nsname};
-- error
use nosuchcatalog.x;
-- error
use Local;
-- error
use catalog nosuchcatalog;
show current namespace;
show namespaces in {nsname};
show tables in {nsname}.inner;
create table made (id int);
drop table made;
alter table u add column x int;
-- ordered
describe u;
-- error
alter table inner.t add column x int;
use spark_catalog.default;
show current namespace;
use local.{nsname};
show tables;
use spark_catalog.default;

-- case: wrong_places
create namespace {ns};
create table {ns}.t (id int) using iceberg;
-- error
create table nosuchcatalog.a.t (id int) using iceberg;
-- error
create table LOCAL.{nsname}.t2 (id int) using iceberg;
-- error
select * from LOCAL.{nsname}.t;
-- error
select count(*) from local.{nsname}.T;
-- error
show namespaces in nosuch;
-- error
show namespaces in local.nope;
-- error
show tables in local.nope;
-- error
drop namespace local.nope;
drop namespace if exists local.nope;
-- error
drop namespace {ns};
-- error
drop namespace {ns} restrict;
-- error
drop database {ns} cascade;
-- error
drop view {ns}.t;
-- error
drop table {ns}.t.u;
-- error
create namespace local;
-- error
create namespace {ns};
create database if not exists {ns};
drop table {ns}.t;
drop schema {ns} cascade;
-- error
show tables in {ns};

-- case: show_forms
create namespace {ns};
create table {ns}.one (id int comment 'c', `odd name` string, p struct<a: int>) using iceberg partitioned by (id) comment 'it''s' tblproperties ('k'='v', 'quote'='it''s');
create table {ns}.two (id int) using iceberg;
create schema {ns}.sub;
show tables in {ns} like 'O*';
show tables in {ns} 'one|two';
show tables from {ns};
-- error
show tables in {ns} like;
show schemas in {ns};
show namespaces in {ns} like '*sub';
show namespaces in {ns} like 'sub';
show databases in local like 'namespaces_show_f*';
show columns in {ns}.one;
-- error
show columns in one in {ns};
-- error
show tblproperties {ns}.nope;
-- error
show create table {ns}.nope;
show create table {ns}.one;
-- ordered
describe {ns}.one;
describe {ns}.one `odd name`;
describe extended {ns}.one id;
-- error
describe {ns}.one p.a;
-- error
describe {ns}.one nope;
-- ordered
describe {ns}.one.partitions;
show columns in {ns}.one.snapshots;
refresh table {ns}.one;
-- error
refresh table {ns}.nope;
drop table {ns}.one.files;
select count(*) from {ns}.one;
show views in {ns};
