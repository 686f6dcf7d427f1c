-- ALTER TABLE: what renames, drops and replacements do to ids, properties, specs, orders and refs.

-- case: column_properties_follow
create namespace {ns};
create table {ns}.t (id int, data string, p struct<x: int, y: string>) using iceberg tblproperties ('write.metadata.metrics.column.data'='counts', 'write.metadata.metrics.column.p.y'='full', 'write.parquet.bloom-filter-enabled.column.data'='true', 'write.parquet.bloom-filter-fpp.column.data'='0.02', 'write.parquet.stats-enabled.column.data'='false', 'write.parquet.bloom-filter-ndv.column.data'='10', 'write.parquet.dict-encoding-enabled.column.data'='true', 'other.column.data'='kept');
alter table {ns}.t rename column data to renamed;
alter table {ns}.t rename column p.y to yy;
-- ordered
-- mask: value
show tblproperties {ns}.t;
alter table {ns}.t drop column renamed;
-- ordered
-- mask: value
show tblproperties {ns}.t;
alter table {ns}.t rename column p to q;
show tblproperties {ns}.t ('write.metadata.metrics.column.q.yy');
alter table {ns}.t add column data int;
insert into {ns}.t values (1, named_struct('x', 1, 'yy', 'abc'), 5);

-- case: name_mapping_follows
create namespace {ns};
create table {ns}.t (id int, data string, p struct<x: int>) using iceberg tblproperties ('schema.name-mapping.default'='[{"field-id":1,"names":["id"]},{"field-id":2,"names":["data"]},{"field-id":3,"names":["p"],"fields":[{"field-id":4,"names":["x"]}]}]');
alter table {ns}.t rename column data to renamed;
alter table {ns}.t add column extra int;
alter table {ns}.t add column p.z int;
alter table {ns}.t rename column p.x to xx;
alter table {ns}.t drop column id;
alter table {ns}.t add column data date;

-- case: replace_columns
create namespace {ns};
create table {ns}.t (id bigint not null, data string comment 'c', p struct<a: int>) using iceberg;
insert into {ns}.t values (1, 'a', named_struct('a', 1));
alter table {ns}.t replace columns (id bigint comment 'new', p struct<a: int, b: int>, z double);
-- ordered
describe {ns}.t;
select * from {ns}.t;
insert into {ns}.t values (2, named_struct('a', 1, 'b', 2), 0.5);
select * from {ns}.t;
-- error
alter table {ns}.t replace columns (id bigint, ID int);
-- error
alter table {ns}.t replace columns (id bigint not null);
-- error
alter table {ns}.t replace columns (id bigint first);
-- error
alter table {ns}.t replace columns ();
alter table {ns}.t replace columns (only int);
select * from {ns}.t;

-- case: replace_columns_partitioned
create namespace {ns};
create table {ns}.t (id bigint, data string) using iceberg partitioned by (data);
-- error
alter table {ns}.t replace columns (id bigint, data string);
-- error
alter table {ns}.t replace columns (id bigint);
-- ordered
describe {ns}.t;

-- case: nested_evolution
-- each: v=1,2,3
create namespace {ns};
create table {ns}.t (id int, s struct<a: int, b: struct<c: int, d: float>>, l array<struct<x: int, y: array<struct<z: int>>>>, m map<string, struct<k: int>>) using iceberg tblproperties ('format-version'='{v}');
insert into {ns}.t values (1, named_struct('a', 1, 'b', named_struct('c', 2, 'd', 3.5)), array(named_struct('x', 1, 'y', array(named_struct('z', 2)))), map('q', named_struct('k', 3)));
alter table {ns}.t add column s.b.e string comment 'deep' after c;
alter table {ns}.t add column l.element.y.element.w int first;
alter table {ns}.t add column m.value.n struct<o: int>;
alter table {ns}.t rename column l.element.y to yy;
alter table {ns}.t alter column s.b.c type bigint;
alter table {ns}.t alter column s.b.d type double;
alter table {ns}.t alter column l.element.yy.element.z type bigint;
alter table {ns}.t alter column s.b.e first;
alter table {ns}.t alter column s.b after a;
alter table {ns}.t alter column s.b first;
alter table {ns}.t alter column m.value.k comment 'key';
alter table {ns}.t drop column l.element.x;
-- ordered
describe {ns}.t;
select * from {ns}.t;
-- error
alter table {ns}.t alter column s.a after nope;
-- error
alter table {ns}.t alter column s.a after m;
-- error
alter table {ns}.t alter column l.element first;
-- error
alter table {ns}.t alter column m.key comment 'x';
-- error
alter table {ns}.t rename column m.value to v;
-- error
alter table {ns}.t drop column s.b.nope;
insert into {ns}.t select 2, named_struct('b', named_struct('e', 'e', 'c', 5L, 'd', 1D), 'a', 1), array(), map();
select s.b.e, s.b.c from {ns}.t where s.b.c > 1;

-- case: alter_several_columns
create namespace {ns};
create table {ns}.t (a int, b float, c string, d int not null) using iceberg;
alter table {ns}.t alter column a type bigint, b comment 'bee', c first, d drop not null;
-- ordered
describe {ns}.t;
-- error
alter table {ns}.t alter column a type bigint, nope comment 'x';
-- error
alter table {ns}.t alter column a comment 'x', a comment 'y';
-- error
alter table {ns}.t alter column a type int, b comment 'other';
-- error
alter table {ns}.t alter column a;
-- error
alter table {ns}.t alter column a type bigint comment 'x';
alter table {ns}.t change column b b double comment 'hive';
alter table {ns}.t change a a bigint first;
-- error
alter table {ns}.t change column a aa bigint;
-- error
alter table {ns}.t change column a a string;
alter table {ns}.t alter column c comment '';
alter table {ns}.t alter column b after d;
-- error
alter table {ns}.t alter column b after b;
-- ordered
describe {ns}.t;

-- case: case_of_names
create namespace {ns};
create table {ns}.t (Id int, `Data` string, P struct<Aa: int>) using iceberg;
alter table {ns}.t rename column ID to number;
alter table {ns}.t alter column DATA comment 'found';
alter table {ns}.t add column p.BB int after AA;
alter table {ns}.t drop column P.aa;
-- error
alter table {ns}.t rename column number to NUMBER;
-- error
alter table {ns}.t add column NUMBER int;
alter table {ns}.t add column last int after DATA;
-- ordered
describe {ns}.t;
-- error
alter table {ns}.t add partition field truncate(2, DATA);
-- error
alter table {ns}.t add partition field DATA;
-- error
alter table {ns}.t add partition field bucket(2, DATA);
alter table {ns}.t add partition field bucket(2, `Data`);
alter table {ns}.t add partition field `Data` as d;
-- error
alter table {ns}.t drop partition field bucket(2, data);
-- error
alter table {ns}.t drop partition field DATA;
-- error
alter table {ns}.t drop partition field D;
alter table {ns}.t drop partition field d;
alter table {ns}.t write ordered by NUMBER;
-- error
alter table {ns}.t set identifier fields NUMBER;
alter table {ns}.t alter column `Data` type string;

-- case: identifier_fields_at_depth
create namespace {ns};
create table {ns}.t (id bigint not null, s struct<a: int not null, b: struct<c: int not null> not null> not null, o struct<x: int not null>, l array<struct<y: int not null>> not null, m map<string, int> not null) using iceberg;
alter table {ns}.t set identifier fields id, s.a, s.b.c;
show tblproperties {ns}.t ('identifier-fields');
-- error
alter table {ns}.t set identifier fields o.x;
-- error
alter table {ns}.t set identifier fields s;
-- error
alter table {ns}.t set identifier fields l.element.y;
-- error
alter table {ns}.t set identifier fields;
-- error
alter table {ns}.t drop column s.a;
-- error
alter table {ns}.t drop column s;
-- error
alter table {ns}.t alter column id drop not null;
alter table {ns}.t set identifier fields id;
alter table {ns}.t drop column s.a;
alter table {ns}.t rename column id to number;
show tblproperties {ns}.t ('identifier-fields');
create or replace table {ns}.t (number bigint not null, other int) using iceberg;
show tblproperties {ns}.t ('identifier-fields');

-- case: replace_table_keeps
create namespace {ns};
create table {ns}.t (id bigint, s string) using iceberg partitioned by (s) comment 'first' tblproperties ('a'='1', 'b'='1');
insert into {ns}.t values (1, 'x');
alter table {ns}.t create branch b;
alter table {ns}.t create tag g;
alter table {ns}.t write distributed by partition;
create or replace table {ns}.t (id bigint, s string, n int) using iceberg tblproperties ('b'='2', 'c'='3');
-- ordered
describe {ns}.t;
-- ordered
-- mask: value
show tblproperties {ns}.t;
select name, type from {ns}.t.refs;
select * from {ns}.t;
insert into {ns}.t values (5, 'y', 6);
select count(*) from {ns}.t.snapshots;
select * from {ns}.t version as of 'b';
replace table {ns}.t (s string, id bigint) using iceberg partitioned by (bucket(4, id)) comment 'second';
show tblproperties {ns}.t ('comment');
insert into {ns}.t values ('z', 9);
select partition from {ns}.t.partitions;
create or replace table {ns}.t using iceberg partitioned by (s) as select 'q' as s, 1L as id;
select parent_id is null, is_current_ancestor from {ns}.t.history;
select * from {ns}.t;
replace table {ns}.t using iceberg tblproperties ('format-version'='3') as select 1 as other;
select * from {ns}.t;
-- error
replace table {ns}.t tblproperties ('format-version'='1') as select 1 as other;
-- error
create or replace table if not exists {ns}.t (x int);
-- error
create or replace table {ns}.t using iceberg as select nope from {ns}.t;
create or replace table {ns}.t using iceberg as select other + 1 as other from {ns}.t;
select * from {ns}.t;

-- case: replace_v1
create namespace {ns};
create table {ns}.t (id bigint, s string, d date) using iceberg partitioned by (s, days(d)) tblproperties ('format-version'='1');
insert into {ns}.t values (1, 'x', date'2020-01-01');
create or replace table {ns}.t (id bigint, s string, d date) using iceberg partitioned by (bucket(2, id));
insert into {ns}.t values (2, 'y', null);
select partition, record_count from {ns}.t.partitions;
create or replace table {ns}.t (id bigint, s string, d date) using iceberg partitioned by (s);
insert into {ns}.t values (3, 'z', null);
select * from {ns}.t;

-- case: special_properties
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
-- set: first
select snapshot_id from {ns}.t.snapshots;
insert into {ns}.t values (2);
alter table {ns}.t set tblproperties ('current-snapshot-id'='{first}');
select * from {ns}.t;
set spark.wap.id=ddl_wap;
alter table {ns}.t set tblproperties ('write.wap.enabled'='true');
insert into {ns}.t values (3);
reset spark.wap.id;
-- set: staged
select snapshot_id from {ns}.t.snapshots where summary['wap.id'] = 'ddl_wap';
select * from {ns}.t;
alter table {ns}.t set tblproperties ('cherry-pick-snapshot-id'='{staged}');
select * from {ns}.t;
-- error
alter table {ns}.t set tblproperties ('cherry-pick-snapshot-id'='{staged}');
-- error
alter table {ns}.t set tblproperties ('current-snapshot-id'='77');
-- error
alter table {ns}.t set tblproperties ('current-snapshot-id'='x');
-- error
alter table {ns}.t set tblproperties ('current-snapshot-id'='{first}', 'cherry-pick-snapshot-id'='{staged}');

-- case: refused_forms
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p);
-- error
alter table {ns}.t add partition (p='x');
-- error
alter table {ns}.t drop partition (p='x');
-- error
alter table {ns}.t partition (p='x') rename to partition (p='y');
-- error
alter table {ns}.t recover partitions;
-- error
msck repair table {ns}.t;
-- error
alter table {ns}.t cluster by (id);
-- error
alter table {ns}.t add constraint pk primary key (id);
-- error
alter table {ns}.t add constraint c check (id > 0);
-- error
alter table {ns}.t drop constraint c;
-- error
alter table {ns}.t set serdeproperties ('a'='b');
-- error
alter table {ns}.t set fileformat parquet;
-- error
alter table {ns}.t partition (p='x') set location '/tmp/x';
-- error
alter table {ns}.t alter column id set default 5;
-- error
alter table {ns}.t alter column id drop default;
-- error
analyze table {ns}.t compute statistics;
-- error
load data local inpath '/tmp/nothing' into table {ns}.t;
-- error
alter table {ns}.t rename to {ns}.u;
-- error
alter table {ns}.t frobnicate;
-- error
alter table {ns}.t;
-- error
optimize {ns}.t;
-- error
vacuum {ns}.t;
-- error
truncate table {ns}.t partition (p='x');
show tables in {ns};

-- case: set_location
create namespace {ns};
create table {ns}.t (id int) using iceberg;
-- error
alter table {ns}.t set location '/tmp/icesql-nowhere';
insert into {ns}.t values (1);
select * from {ns}.t;

-- case: comments
create namespace {ns};
create table {ns}.t (id int comment 'one', s string) using iceberg comment 'table';
comment on table {ns}.t is 'new';
show tblproperties {ns}.t ('comment');
comment on table {ns}.t is null;
show tblproperties {ns}.t ('comment');
alter table {ns}.t alter column id comment 'two';
alter table {ns}.t alter column s comment 'quote '' and "double"';
-- ordered
describe {ns}.t;
-- error
comment on table {ns}.nope is 'x';
-- error
comment on namespace {ns} is 'x';
describe {ns}.t id;
describe {ns}.t `s`;
