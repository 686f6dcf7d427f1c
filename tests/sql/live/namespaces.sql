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
