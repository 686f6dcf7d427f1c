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

-- case: changes_at_depth
create namespace {ns};
create table {ns}.t (id int, s struct<a: int, b: struct<c: float, d: decimal(5,2)>>, l array<struct<x: int, y: string>>, m map<string, struct<k: int, v: date>>, ll array<array<int>>, mm map<int, map<string, float>>, pl array<int>, pm map<string, int>, r struct<n: int not null> not null) using iceberg;
insert into {ns}.t values (1, named_struct('a', 1, 'b', named_struct('c', 1.5, 'd', 2.25)), array(named_struct('x', 1, 'y', 'p')), map('k', named_struct('k', 1, 'v', date'2020-01-01')), array(array(1, 2), null), map(1, map('a', 1.5)), array(1, null), map('a', 1), named_struct('n', 5));
alter table {ns}.t add column s.e string comment 'added' after a;
alter table {ns}.t add columns (s.b.f int first, l.element.z double, m.value.w array<int>, l.element.q string after x);
-- error
alter table {ns}.t add column m.key.z int;
-- error
alter table {ns}.t add column pl.element.z int;
-- error
alter table {ns}.t add column s.a int;
-- error
alter table {ns}.t add column s.zz.y int;
-- error
alter table {ns}.t add column s.nn int not null;
-- error
alter table {ns}.t add column mm.value.value.x int;
alter table {ns}.t rename column s.b.c to cc;
alter table {ns}.t rename column l.element.y to yy;
alter table {ns}.t rename column m.value.k to kk;
-- error
alter table {ns}.t rename column s.b.cc to d;
-- error
alter table {ns}.t rename column l.element to e;
-- error
alter table {ns}.t rename column m.value to e;
alter table {ns}.t alter column s.a type bigint;
alter table {ns}.t alter column s.b.cc type double;
alter table {ns}.t alter column s.b.d type decimal(9,2);
-- error
alter table {ns}.t alter column s.b.d type decimal(9,3);
-- error
alter table {ns}.t alter column s.b.d type decimal(4,2);
alter table {ns}.t alter column l.element.x type bigint;
alter table {ns}.t alter column m.value.kk type bigint;
-- error
alter table {ns}.t alter column m.value.v type timestamp;
alter table {ns}.t alter column pl.element type bigint;
alter table {ns}.t alter column pm.value type bigint;
-- error
alter table {ns}.t alter column pm.key type int;
alter table {ns}.t alter column ll.element.element type bigint;
-- error
alter table {ns}.t alter column mm.key type bigint;
alter table {ns}.t alter column mm.value.value type double;
-- error
alter table {ns}.t alter column s type struct<a: bigint>;
-- error
alter table {ns}.t alter column l.element type struct<x: bigint>;
-- error
alter table {ns}.t alter column s.a type int;
alter table {ns}.t alter column r.n drop not null;
alter table {ns}.t alter column r drop not null;
-- error
alter table {ns}.t alter column r.n set not null;
-- error
alter table {ns}.t alter column l.element set not null;
-- error
alter table {ns}.t alter column m.key drop not null;
alter table {ns}.t alter column s.b.d comment 'deep';
alter table {ns}.t alter column l.element comment 'elem';
alter table {ns}.t alter column l.element.x comment 'x of element';
alter table {ns}.t alter column m.value.v comment 'v';
-- error
alter table {ns}.t alter column m.key comment 'key';
alter table {ns}.t alter column s.e first;
alter table {ns}.t alter column s.a after b;
alter table {ns}.t alter column s.b.d first;
alter table {ns}.t alter column l.element.z first;
alter table {ns}.t alter column m.value.v first;
-- error
alter table {ns}.t alter column s.b.d after a;
-- error
alter table {ns}.t alter column m.key first;
-- error
alter table {ns}.t alter column s.a after nope;
alter table {ns}.t drop column s.e;
alter table {ns}.t drop columns (l.element.yy, m.value.w);
-- error
alter table {ns}.t drop column m.key;
-- error
alter table {ns}.t drop column l.element;
-- error
alter table {ns}.t drop column mm.value;
-- error
alter table {ns}.t drop column s.nope;
alter table {ns}.t drop column r.n;
-- error
insert into {ns}.t select * from {ns}.t;
select * from {ns}.t;
-- ordered
describe {ns}.t;

-- case: promotions
create namespace {ns};
create table {ns}.t (i int, l bigint, f float, d double, dec decimal(5,2), dt date, s string, b boolean, ts timestamp, n timestamp_ntz, bin binary) using iceberg;
insert into {ns}.t values (1, 2, 1.5, 2.5, 3.25, date'2020-01-01', 's', true, timestamp'2020-01-01 00:00:00', timestamp_ntz'2020-01-01 00:00:00', X'01');
alter table {ns}.t alter column i type bigint;
-- error
alter table {ns}.t alter column l type int;
alter table {ns}.t alter column f type double;
-- error
alter table {ns}.t alter column d type float;
alter table {ns}.t alter column dec type decimal(10,2);
alter table {ns}.t alter column dec type decimal(38,2);
-- error
alter table {ns}.t alter column dec type decimal(38,3);
-- error
alter table {ns}.t alter column dt type timestamp;
-- error
alter table {ns}.t alter column dt type timestamp_ntz;
-- error
alter table {ns}.t alter column s type binary;
-- error
alter table {ns}.t alter column s type varchar(5);
-- error
alter table {ns}.t alter column b type int;
-- error
alter table {ns}.t alter column ts type timestamp_ntz;
-- error
alter table {ns}.t alter column n type date;
-- error
alter table {ns}.t alter column bin type string;
-- error
alter table {ns}.t alter column i type string;
-- error
alter table {ns}.t alter column i type decimal(20,0);
-- error
alter table {ns}.t alter column i type double;
alter table {ns}.t alter column i type bigint;
-- error
alter table {ns}.t alter i type smallint;
alter table {ns}.t change column i i bigint comment 'c' first;
-- error
alter table {ns}.t change i j bigint;
alter table {ns}.t change column l l bigint after dt;
insert into {ns}.t select * from {ns}.t;
select * from {ns}.t where i > 0 and dec > 1;
-- ordered
describe {ns}.t;

-- case: promotions_of_partition_sources
create namespace {ns};
create table {ns}.t (i int, f float, dec decimal(5,2), id int) using iceberg partitioned by (i, f, dec, bucket(4, i), truncate(10, id));
insert into {ns}.t values (1, 1.5, 3.25, 17);
alter table {ns}.t alter column i type bigint;
alter table {ns}.t alter column f type double;
alter table {ns}.t alter column dec type decimal(9,2);
alter table {ns}.t alter column id type bigint;
insert into {ns}.t values (5000000000, 2.5, 1234567.89, 5000000017);
select * from {ns}.t where i = 1;
select * from {ns}.t where dec > 100 and f = 2.5;
select partition from {ns}.t.partitions;
insert overwrite {ns}.t partition (i = 1) select 1.5, 3.25, 9;
delete from {ns}.t where dec = 3.25;
select * from {ns}.t;

-- case: promotions_v3
create namespace {ns};
create table {ns}.t (dt date, u void, i int) using iceberg tblproperties ('format-version'='3');
insert into {ns}.t values (date'2020-01-01', null, 1);
-- error
alter table {ns}.t alter column dt type timestamp_ntz;
-- error
alter table {ns}.t alter column dt type timestamp;
-- error
alter table {ns}.t alter column u type int;
-- error
alter table {ns}.t alter column i type variant;
-- error
insert into {ns}.t values (timestamp_ntz'2020-01-01 00:00:00', 5, 2);
select * from {ns}.t;

-- case: refusals_in_the_same_words
create namespace {ns};
create table {ns}.t (id int, s string, ts timestamp, n bigint, x decimal(9,2), d date, st struct<a: int, b: struct<x: string>>, arr array<struct<a: int>>, m map<string, struct<a: int>>) using iceberg partitioned by (bucket(4, id));
-- error: UNRESOLVED_COLUMN.WITH_SUGGESTION
alter table {ns}.t alter column nope type int;
-- error: `st`.`nope` cannot be resolved
alter table {ns}.t drop column st.nope;
-- error: `st`.`a` is not a struct
alter table {ns}.t alter column st.a.b comment 'x';
-- error: `m`.`a`.`b` is invalid: `m` is not a struct
alter table {ns}.t drop column if exists m.a.b;
alter table {ns}.t drop column if exists st.nope;
-- error: `m`.`z` is invalid: `m` is not a struct
alter table {ns}.t rename column m.key to z;
-- error: `id`.`a` is invalid: `id` is not a struct
alter table {ns}.t add column id.a int;
-- error: Unsupported table change: Cannot delete element type from list
alter table {ns}.t drop column arr.element;
-- error: Unsupported table change: Cannot delete map keys
alter table {ns}.t drop column m.key;
-- error: No such struct field
alter table {ns}.t add column z int not null after nope;
-- error: The column `z` already exists
alter table {ns}.t add columns (z int, z string);
-- error: Unsupported table change: Cannot change column type: id: int -> double
alter table {ns}.t alter column id type double;
-- error: with type "BIGINT" to `n` with type "INT"
alter table {ns}.t alter column n type int;
-- error: with type "DECIMAL(9,2)" to `x` with type "DECIMAL(7,2)"
alter table {ns}.t alter column x type decimal(7, 2);
-- error: with type "STRING" to `s` with type "VARCHAR(5)"
alter table {ns}.t alter column s type varchar(5);
-- error: Update a struct by updating its fields
alter table {ns}.t alter column d type struct<a: int>;
-- error: Update the element by updating `arr`.element
alter table {ns}.t alter column arr type array<int>;
-- error: Update a map by updating `m`.key or `m`.value
alter table {ns}.t alter column m type map<int, int>;
-- error: Unsupported table change: Cannot move id after itself
alter table {ns}.t alter column id after id;
-- error: `st`.`zz` cannot be resolved
alter table {ns}.t alter column st.a after zz;
-- error: Cannot bind: hour cannot transform int values from 'id'
alter table {ns}.t add partition field hours(id);
-- error: Cannot bind: day cannot transform string values from 's'
alter table {ns}.t drop partition field days(s);
-- error: Cannot partition by non-primitive source field
alter table {ns}.t add partition field st;
-- error: Cannot bind: year cannot transform
alter table {ns}.t write ordered by years(m), arr;
-- error: Cannot sort by non-primitive source field
alter table {ns}.t write ordered by arr;
-- error: conflicts with 1000
alter table {ns}.t add partition field bucket(4, id);
-- error: mismatched input 'extra'
alter table {ns}.t create tag g extra words;
-- error: extraneous input 'extra' expecting <EOF>
alter table {ns}.t create tag g extra;
-- error: Unsupported table change: Cannot downgrade v2 table to v1
alter table {ns}.t set tblproperties ('format-version' = '1');
-- error: Unsupported table change: Hadoop path-based tables cannot be relocated
alter table {ns}.t set location '/tmp/elsewhere';
-- error: Couldn't find column nope in
create table {ns}.u (id int) using iceberg partitioned by (nope);
-- error: does not support table constraint
create table {ns}.u (id int primary key) using iceberg;
-- error: does not support table constraint
create table {ns}.u (id int, check (id > 0)) using iceberg;
-- error: does not support generated columns
create table {ns}.u (id int generated always as (1)) using iceberg;
-- error: does not support identity column
create table {ns}.u (id bigint generated always as identity) using iceberg;
-- error: The column `id` already exists
insert into {ns}.t (id, id) values (1, 2);
-- error: Cannot use branch (does not exist): nope
select * from {ns}.t.branch_nope;
select * from {ns}.t.branch_main;
-- error: Cannot delete from a metadata table
delete from {ns}.t.files;
-- error: INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS
update {ns}.t set id = 1, id = 2;
-- error: Namespace does not exist
show tables in local.nope_nope;
select count(*) from {ns}.t;
