-- CREATE TABLE in its corners: names, clauses, properties, options, formats, refusals.

-- case: partition_names_and_case
create namespace {ns};
create table {ns}.t (Id bigint, S string, Ts timestamp) using iceberg partitioned by (bucket(4, id), days(TS), s);
create table {ns}.u (id bigint, s string, ts timestamp) using iceberg partitioned by (truncate(s, 4), month(ts), identity(id));
-- error
create table {ns}.v (Id bigint) using iceberg partitioned by (truncate(4, id));
-- error
create table {ns}.v (Ts timestamp) using iceberg partitioned by (day(ts));
-- error
create table {ns}.v (Id bigint) using iceberg partitioned by (BUCKET(4, id));
-- error
create table {ns}.v (id bigint, id_bucket int) using iceberg partitioned by (bucket(4, id));
-- error
create table {ns}.v (id bigint, s string) using iceberg partitioned by (id, id);
-- error
create table {ns}.v (id bigint, s string) using iceberg partitioned by (bucket(2, id), bucket(4, id));
-- error
create table {ns}.v (id bigint, s string) using iceberg partitioned by (truncate(2, s), truncate(4, s));
-- error
create table {ns}.v (id bigint, s string) using iceberg partitioned by (bucket(2, id, s));
-- error
create table {ns}.v (id bigint, s string) using iceberg partitioned by (truncate(0, s));
-- error
create table {ns}.v (id bigint, b boolean) using iceberg partitioned by (bucket(2, b));
-- error
create table {ns}.v (id bigint, f double) using iceberg partitioned by (truncate(2, f));
-- error
create table {ns}.v (id bigint, d date) using iceberg partitioned by (hours(d));
-- error
create table {ns}.v (id bigint, s struct<a: int>) using iceberg partitioned by (s);
create table {ns}.w (id bigint, s struct<a: int, d: date>) using iceberg partitioned by (s.a, days(s.d));
insert into {ns}.w values (1, named_struct('a', 5, 'd', date'2021-01-01'));
select partition, record_count from {ns}.w.partitions;
-- ordered
describe {ns}.w;
-- ordered
describe {ns}.u;

-- case: options_and_formats
create namespace {ns};
create table {ns}.o (id int) using iceberg options ('a'='1', 'write.format.default'='orc') tblproperties ('b'='2');
create table {ns}.p (id int) using parquet;
create table {ns}.a (id int) using avro tblproperties ('x'='y');
create table {ns}.r (id int) using ORC;
create table {ns}.n (id int);
-- error
create table {ns}.q (id int) using parquet tblproperties ('write.format.default'='orc');
-- error: crocodile
create table {ns}.q (id int) using crocodile;
-- error
create table {ns}.q (id int) using csv;
-- ordered
-- mask: value
show tblproperties {ns}.o;
show tblproperties {ns}.a ('format');
insert into {ns}.o values (1);
insert into {ns}.a values (1);
select file_format from {ns}.o.files;
select file_format from {ns}.a.files;
create table {ns}.s (id int) stored as parquet;
create table {ns}.h (id int) stored as orc tblproperties ('k'='v');
show tblproperties {ns}.h ('hive.stored-as');
create table {ns}.both (id int) using iceberg options ('k'='1') tblproperties ('k'='2');
create table {ns}.rows (id int) row format delimited fields terminated by ',' escaped by '\\' collection items terminated by ';' map keys terminated by ':' lines terminated by '\n' null defined as 'N';
create table {ns}.serde (id int) row format serde 'x.y' with serdeproperties ('a'='b') stored as textfile;
create table {ns}.formats (id int) stored as inputformat 'a' outputformat 'b';
-- error
create table {ns}.no (id int) using iceberg row format delimited fields terminated by ',';
-- error: only compatible with
create table {ns}.no (id int) row format delimited fields terminated by ',' stored as parquet;
-- error: only compatible with
create table {ns}.no (id int) row format serde 'x' stored as parquet;
-- error: newline
create table {ns}.no (id int) row format delimited lines terminated by 'x';
alter table {ns}.o default collation utf8_lcase;
-- ordered
describe extended {ns}.o;
-- error
alter table {ns}.o default collation nope;
alter table {ns}.o add column z timestamp without time zone;

-- case: reserved_properties
create namespace {ns};
create table {ns}.t (id int not null, s string) using iceberg tblproperties ('uuid'='x', 'snapshot-count'='5', 'current-schema'='y', 'current-snapshot-id'='7', 'default-partition-spec'='{}', 'keep'='me');
show tblproperties {ns}.t ('keep');
show tblproperties {ns}.t ('current-snapshot-id');
alter table {ns}.t set tblproperties ('uuid'='abc', 'snapshot-count'='9', 'mine'='1');
create table {ns}.u (id int) using iceberg tblproperties ('sort-order'='id', 'identifier-fields'='[id]');
-- error: reserved
alter table {ns}.t set tblproperties ('sort-order'='id');
-- error: reserved
alter table {ns}.t set tblproperties ('identifier-fields'='id');
-- error: reserved
alter table {ns}.t set tblproperties ('location'='/tmp/x');
-- error: reserved
alter table {ns}.t set tblproperties ('provider'='parquet');
-- error: reserved
alter table {ns}.t set tblproperties ('owner'='me');
-- error: reserved
alter table {ns}.t unset tblproperties ('location');
-- error: reserved
create table {ns}.v (id int) using iceberg tblproperties ('location'='/tmp/x');
-- error: reserved
create table {ns}.v (id int) using iceberg tblproperties ('provider'='x');
-- error: reserved
create table {ns}.v (id int) using iceberg tblproperties ('owner'='x');
-- error: reserved
create table {ns}.v (id int) using iceberg tblproperties ('external'='true');
-- error: reserved
create table {ns}.v (id int) using iceberg tblproperties ('is_managed_location'='true');
-- error: reserved
alter table {ns}.t set tblproperties ('external'='true');
-- error
alter table {ns}.t unset tblproperties ();
alter table {ns}.t set tblproperties ('comment'='words', 'a.b'='c', 'empty'='');
-- ordered
-- mask: value
show tblproperties {ns}.t;
alter table {ns}.t unset tblproperties ('comment', 'a.b', 'never');
alter table {ns}.t set tblproperties (number=5, flag=true, name="dq");
show tblproperties {ns}.t ('number');
show tblproperties {ns}.t ('flag');
-- error
alter table {ns}.t set tblproperties ();
-- error
alter table {ns}.t set tblproperties ('k');

-- case: bad_property_values
create namespace {ns};
-- error
create table {ns}.t (id int) using iceberg tblproperties ('commit.retry.num-retries'='x');
-- error
create table {ns}.t (id int) using iceberg tblproperties ('commit.retry.num-retries'='-1');
-- error
create table {ns}.t (id int) using iceberg tblproperties ('format-version'='two');
-- error
create table {ns}.t (id int) using iceberg tblproperties ('write.metadata.metrics.column.nope'='full');
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.metadata.metrics.default'='counts', 'write.metadata.metrics.column.s'='truncate(4)');
insert into {ns}.t values (1, 'abcdefgh');
select lower_bounds is null or cardinality(lower_bounds) = 1 as ok, cardinality(value_counts) as counts from {ns}.t.files;
-- error
alter table {ns}.t set tblproperties ('write.metadata.metrics.column.nope'='full');
show tables in {ns};

-- case: format_upgrades
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('format-version'='1');
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('format-version'='2');
insert into {ns}.t values (2);
alter table {ns}.t set tblproperties ('format-version'='2');
-- error: downgrade
alter table {ns}.t set tblproperties ('format-version'='1');
alter table {ns}.t set tblproperties ('format-version'='3', 'and'='this');
insert into {ns}.t values (3);
-- error: unsupported format version
alter table {ns}.t set tblproperties ('format-version'='9');
alter table {ns}.t unset tblproperties ('format-version');
show tblproperties {ns}.t ('format-version');
select * from {ns}.t;
select id, _last_updated_sequence_number from {ns}.t;
select operation, summary['total-records'] from {ns}.t.snapshots;

-- case: create_clauses
create namespace {ns};
create table {ns}.a (id int comment 'it''s', `odd name` string, `x.y` int) using iceberg comment 'a "table"' partitioned by (`odd name`) tblproperties ('k'='v');
-- ordered
describe {ns}.a;
-- error
create table {ns}.b (id int) tblproperties ('k'='v') comment 'late' using iceberg;
create table {ns}.b (id int) using iceberg tblproperties ('k'='v') comment 'late';
create table if not exists {ns}.b (other string) using iceberg;
-- error: already exists
create table {ns}.b (id int) using iceberg;
-- error
create table {ns}.c (id int) using iceberg location '/tmp/icesql-elsewhere';
-- error
create table {ns}.c (id int) using iceberg comment 'a' comment 'b';
-- error
create table {ns}.c (id int, ) using iceberg;
-- error
create table {ns}.c (id int) using iceberg partitioned by ();
-- error
create table {ns}.c (id nosuchtype) using iceberg;
-- error
create table {ns}.c (id int, x interval day) using iceberg;
-- error
create table {ns}.c (id int default 5) using iceberg;
-- error
create table {ns}.c (id int, t int generated always as (id + 1)) using iceberg;
-- error
create table {ns}.c (a struct<x: int, x: int>) using iceberg;
-- error
create table {ns}.c (id int, v variant) using iceberg;
create table {ns}.d (id int, v variant, n void) using iceberg tblproperties ('format-version'='3');
-- ordered
describe {ns}.d;
create external table {ns}.e (id int) using iceberg;
create table {ns}.`quoted table` (id int) using iceberg;
insert into {ns}.`quoted table` values (1);
select * from {ns}.`quoted table`;
show tables in {ns};
-- error
create table {ns}.f (id bigint, s string) using iceberg clustered by (s, id) into 4 buckets;

-- case: bucket_and_cluster
create namespace {ns};
create table {ns}.b (id bigint, s string) using iceberg clustered by (s) into 4 buckets;
-- ordered
describe {ns}.b;
-- error
create table {ns}.c (id bigint, s string) using iceberg clustered by (s) sorted by (id) into 4 buckets;
-- error
create table {ns}.c (id bigint, s string) using iceberg cluster by (s);
-- error
create table {ns}.c (id bigint, s string) using iceberg clustered by (nope) into 4 buckets;
-- error
create table {ns}.c (id bigint, s string) using iceberg clustered by (s) into 0 buckets;
create table {ns}.d (id bigint, s string) using iceberg partitioned by (id) clustered by (s) into 4 buckets;
-- ordered
describe {ns}.d;

-- case: types_kept_and_lost
create namespace {ns};
create table {ns}.t (a byte, b short, c integer, d long, e real, f numeric(10), g dec(5,5), h character(4), i varchar(9), j timestamp_ltz, k string collate UTF8_BINARY, l array<varchar(3)>, m map<string, char(2)>, n struct<o: smallint not null comment 'in', p: decimal(38,18)>) using iceberg;
-- ordered
describe {ns}.t;
insert into {ns}.t values (1, 2, 3, 4, 5.5, 6, 0.12345, 'ab', 'toolongforit', timestamp'2020-01-01 00:00:00', 'k', array('abc', 'much longer'), map('k', 'v'), named_struct('o', 1Y, 'p', 1.5));
select * from {ns}.t;
-- error
insert into {ns}.t (a) values (3000000000);
-- error
create table {ns}.u (d decimal(39,1)) using iceberg;
-- error
create table {ns}.u (d decimal(5,6)) using iceberg;
-- error
create table {ns}.u (v varchar) using iceberg;

-- case: missing_parents
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
show tables in {ns};
create table {ns}.deep.er.t (id int) using iceberg;
select count(*) from {ns}.deep.er.t;
show namespaces in {ns};
drop table {ns}.deep.er.t;
drop table {ns}.t;
-- error
drop table {ns}.t;
-- error
drop namespace {ns} cascade;

-- case: ctas_details
create namespace {ns};
create table {ns}.src (id bigint not null comment 'key', s string comment 'text', p struct<a: int not null comment 'in', b: array<int>>) using iceberg partitioned by (s) tblproperties ('src'='1');
insert into {ns}.src values (1, 'a', named_struct('a', 1, 'b', array(1))), (2, 'b', null);
create table {ns}.c using iceberg as select * from {ns}.src;
-- ordered
describe {ns}.c;
create table {ns}.d using iceberg comment 'made' partitioned by (truncate(1, s), days(ts)) tblproperties ('k'='v', 'format-version'='3') as select id, s, timestamp'2020-02-02 02:02:02' as ts from {ns}.src;
-- ordered
describe {ns}.d;
select partition, record_count from {ns}.d.partitions;
create table {ns}.e using iceberg as with x as (select 1 as a) select a, a + 1 as b from x union all select 5, null;
select * from {ns}.e;
create table {ns}.f as (select id from {ns}.src order by id desc limit 1);
select * from {ns}.f;
create table {ns}.g using iceberg as values (1, 'x'), (2, 'y');
-- ordered
describe {ns}.g;
create table {ns}.h as table {ns}.src;
select count(*) from {ns}.h;
-- error
create table {ns}.i as select 1 as a, 2 as A;
-- error
create table {ns}.i as select id from {ns}.nope;
-- error
create table {ns}.i partitioned by (nope) as select 1 as a;
-- error
create table {ns}.i as select interval '1' day as i;
-- error
create table {ns}.i as select raise_error('boom') as x;
-- error
create table {ns}.j as select null as n, 1 as one where false;
create table {ns}.j;
-- ordered
describe {ns}.j;
alter table {ns}.j add column first_one int;
insert into {ns}.j values (1);
show tables in {ns};
create table {ns}.k as select 1Y as a, 2S as b, cast('x' as varchar(3)) as c, 1.5BD as d, current_date() > date'2000-01-01' as e;
-- ordered
describe {ns}.k;

-- case: options_that_are_expressions
create namespace {ns};
create table {ns}.a (id int) using iceberg options ('a' = 1 + 1, 'b' = true, 'c' = 'x' || 'y', d = concat('a', 'b'), 'e' = -1.50, f = 1e3, g 5);
show create table {ns}.a;
create table {ns}.b (id int) using iceberg options ('a' = date '2020-01-01', 'b' = 1/3, 'c' = 1 < 2, 'd' = interval 1 day, e = X'AB', f = 'a' 'b', 'f' = 'last', g = cast(null as string));
create table {ns}.c using iceberg options ('write.format.default' = lower('AVRO'), h = 007) as select 1 as id;
create or replace table {ns}.c using iceberg options ('a' = 2 * 3.5) as select 1 as id;
show tblproperties {ns}.c ('a');
-- error: OPTION_IS_INVALID
create table {ns}.d (id int) using iceberg options ('d' = id);
-- error: OPTION_IS_INVALID
create table {ns}.d (id int) using iceberg options ('d' = array(1));
-- error: OPTION_IS_INVALID
create table {ns}.d (id int) using iceberg options ('d' = rand());
-- error: OPTION_IS_INVALID
create table {ns}.d (id int) using iceberg options ('d' = 1 + 'x');
-- error: UNRESOLVED_ROUTINE
create table {ns}.d (id int) using iceberg options ('d' = nope(1));
-- error: A value must be specified for the key: d.
create table {ns}.d (id int) using iceberg options ('d', 'e' = 1);
-- error
create table {ns}.d (id int) using iceberg tblproperties ('d' = 1 + 1);
-- error
create table {ns}.d (id int) using iceberg tblproperties ('d' = -1);
-- error
alter table {ns}.a set tblproperties ('d' = concat('a', 'b'));
