create namespace local.db

CreateNamespace

create table local.db.t (id bigint not null, data string)

CreateTable

create table local.db.t (id int)

CreateTable

create table local.db.t (id int, p struct<x: double, y: double>, a array<struct<n: int>>, m map<struct<k: int>, struct<v: int>>, d struct<e: array<struct<f: map<string, struct<g: int>>>>>)

CreateTable

create table local.db.t (id int, data string, p struct<x: int>, a array<int>)

CreateTable

create table local.db.t (id int, `a.b` struct<`c.d`: int>)

CreateTable

create table local.db.t2 (id int) tblproperties ('format-version'='2')

CreateTable

create table local.db.t3 (id int) tblproperties ('format-version'='3')

CreateTable

create table local.db.t (a int, b int, c int, d int, e int, s struct<x: int, y: int, z: int>)

CreateTable

create table local.db.t (id int, s struct<x: int>, a array<struct<n: int>>, m map<string, int>)

CreateTable

create table local.db.t (id int, s struct<x: int>)

CreateTable

create table local.db.t (id int, s struct<x: int>, k int)

CreateTable

create table local.db.t (id int, a array<struct<n: int, o: string>>, m map<string, struct<v: int, w: int>>)

CreateTable

create table local.db.t (id int, p string, q string)

CreateTable

create table local.db.t (id bigint not null comment 'kept', s struct<a: int comment 'in', b: struct<c: int>>, arr array<struct<n: int>>, m map<string, struct<v: int>>)

CreateTable

create table local.db.t (id int, data string, s struct<a: int, b: int>, arr array<struct<n: int>>, m map<string, int>)

CreateTable

create table local.db.t (a int, b int)

CreateTable

create table local.db.t (i int, d decimal(5,2), s string, ts timestamp)

CreateTable

create table local.db.t (s string, c char(3))

CreateTable

create table local.db.t (i int, l bigint, f float, d double, dc decimal(9,2), s string, b binary, bo boolean, dt date, ts timestamp, n timestamp_ntz) tblproperties ('format-version'='3')

CreateTable

create table local.db.t (id int, s struct<a: int>, arr array<int>, m map<int, int>)

CreateTable

create table local.db.t (id bigint not null, data string, s struct<a: int not null, b: int> not null)

CreateTable

create table local.db.t (id int, s struct<a: int>, arr array<struct<n: int>>, m map<string, struct<v: int>>)

CreateTable

create table local.db.t (a int, b int, c int, s struct<x: int, y: int, z: int>)

CreateTable

create table local.db.t (a int, b int, s struct<x: int, y: int>)

CreateTable

create table local.db.t (a int, b string, c float not null, d int)

CreateTable

create table local.db.t (a int comment 'old', b string)

CreateTable

create table local.db.t (a int, b string) tblproperties ('format-version'='3')

CreateTable

create table local.db.t (a int, b string, c int not null)

CreateTable

create table local.db.t (a int, p string, q int) partitioned by (p)

CreateTable

create table local.db.t (a int, b string)

CreateTable

create table local.db.t (a int)

CreateTable

create table local.db.t (id int, st struct<a:int, b:struct<c:string>>, arr array<struct<x:int>>, m map<string, struct<y:int>>) using iceberg

CreateTable

create table local.db.u (id int, s string) using iceberg

CreateTable

create table local.db.u (id int, n int) using iceberg

CreateTable

create table local.db.t (id int, n int) using iceberg

CreateTable

create table local.db.t (i int, l bigint, f float, d decimal(6,2), s string, dt date, ts timestamp) using iceberg

CreateTable

create table local.db.t (i int not null, d decimal(6,2), dt date, b boolean, a array<int>) using iceberg

CreateTable

create table local.db.t (id int, s string) using iceberg

CreateTable

create table local.db.t (id int not null, s string, n int) using iceberg

CreateTable

create table local.db.t (id int, s string) using iceberg tblproperties ('format-version'='2', 'write.update.mode'='merge-on-read')

CreateTable

create table local.db.t (id int, p int) using iceberg partitioned by (p) tblproperties ('format-version'='3')

CreateTable

create table local.db.t (id int, s string) using iceberg tblproperties ('write.format.default'='avro', 'write.delete.mode'='merge-on-read', 'write.delete.format.default'='parquet')

CreateTable

create table local.db.t (id int) using iceberg

CreateTable

create table local.db.t (id bigint, s string, ts timestamp) using iceberg partitioned by (days(ts)) tblproperties ('write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read', 'write.merge.mode'='merge-on-read')

CreateTable

create table local.db.t (id int, p int) using iceberg partitioned by (p) tblproperties ('format-version'='3', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read')

CreateTable

alter table local.db.t add column c1 int comment 'one'

AddColumns

alter table local.db.t add column c0 decimal(9,2) first

AddColumns

alter table local.db.t add column mid date comment 'between' after id

AddColumns

alter table local.db.t add columns (x int, y string comment 'why', z double after x, w binary first)

AddColumns

alter table local.db.t add columns q1 int, q2 int after q1

AddColumns

alter table local.db.t add column p struct<x: double not null, y: double not null comment 'up'> after id

AddColumns

alter table local.db.t add column p.z double comment 'May be null' first

AddColumns

alter table local.db.t add columns (a array<struct<n: int, m: map<string, int>>>, m map<struct<k: int>, struct<v: int, w: int>>)

AddColumns

alter table local.db.t add column p.z int

AddColumns

alter table local.db.t add column p.first_one int first

AddColumns

alter table local.db.t add column p.after_x string comment 'after x' after x

AddColumns

alter table local.db.t add column a.element.o string

AddColumns

alter table local.db.t add column m.value.w string after v

AddColumns

alter table local.db.t add columns (d.e.element.f.value.h int comment 'deep', p.q int, top int)

AddColumns

alter table local.db.t add column m.key.k2 int

AddColumns

alter table local.db.t add column data int

AddColumns

alter table local.db.t add column p.x int

AddColumns

alter table local.db.t add column nope.x int

AddColumns

alter table local.db.t add column data.x int

AddColumns

alter table local.db.t add column a.element.x int

AddColumns

alter table local.db.t add column c int after nope

AddColumns

alter table local.db.t add column p.c int after nope

AddColumns

alter table local.db.t add column c int not null

AddColumns

alter table local.db.t add column p.c int not null

AddColumns

alter table local.db.t add column c int default 5

AddColumns

alter table local.db.t add columns (c int, c string)

AddColumns

alter table local.db.missing add column c int

AddColumns

alter table local.db.t add columns (a int, id string)

AddColumns

alter table local.db.t add columns (a int, b int not null)

AddColumns

alter table local.db.t add column `x.y` int after `a.b`

AddColumns

alter table local.db.t add column `a.b`.`e f` string

AddColumns

alter table local.db.t add column `select` int first

AddColumns

alter table local.db.t2 add column v variant

AddColumns

alter table local.db.t3 add column v variant

AddColumns

alter table local.db.t add column z int

AddColumns

alter table local.db.t add columns (a struct<b: int not null, c: int> after id, a2 int after a)

AddColumns

alter table local.db.t add column v varchar(4)

AddColumns

alter table local.db.t add column c int default 7

AddColumns

alter table local.db.t add columns (st.b string, extra string)

AddColumns

alter table local.db.t add column extra int

AddColumns

alter table local.db.t add column s string

AddColumns

alter table local.db.t add column added int

AddColumns

alter table local.db.t add column extra string

AddColumns

alter table local.db.t.files add column x int

AddColumns

describe local.db.t

DescribeTable

describe local.db.t.refs

DescribeTable

describe table local.db.t

DescribeTable

describe local.db.t.partitions

DescribeTable

describe local.db.t.snapshots

DescribeTable

describe local.db.t.manifests

DescribeTable

describe table local.db.t.files

DescribeTable

describe local.db.t.nothing

DescribeTable

alter table local.db.t add column if not exists c int

Other

alter table local.db.t add column c interval day

Other

alter table local.db.t add column c

Other

alter table local.db.t rename column s.a to s.x

Other

alter table local.db.t alter column id comment null

Other

alter table local.db.t alter column a after s.x

Other

alter table local.db.t alter column a type bigint comment 'both'

Other

alter table local.db.t change column a z bigint

Other

alter table local.db.t replace columns (a int not null)

Other

alter table local.db.t replace columns (a int first)

Other

alter table local.db.t alter column a drop identity

Other

update local.db.t set arr[0] = named_struct('x', 2)

Other

update local.db.t set id = u.id from local.db.t u

Other

update local.db.t id = 1

Other

update local.db.t set (id, s) = (1, 'b')

Other

update local.db.t set *

Other

select count(*) from local.db.t

Query

select a, b from local.db.t where a = 20 or a = 2

Query

select operation, summary['total-records'] as r, summary['total-position-deletes'] as d from local.db.t.snapshots

Query

select _last_updated_sequence_number as q, id, s from local.db.t

Query

select _row_id, _last_updated_sequence_number, id from local.db.t

Query

select * from local.db.t.branch_b2

Query

select count(*) as n from local.db.t.history

Query

select snapshot_id from local.db.t.refs where name = 'main'

Query

select count(*) as n from local.db.t.snapshots

Query

select * from local.db.t.`branch_with space`

Query

select * from local.db.t.branch_snapshot_id_5

Query

select snapshot_id from local.db.t.refs where name = 'late'

Query

select * from local.db.t order by id

Query

select cast(max(committed_at) + interval 1 millisecond as string) as committed_at from local.db.t.snapshots

Query

select count(*) from local.db.t.snapshots

Query

select * from local.db.t.branch_lag

Query

select * from local.db.t.files limit 0

Query

select * from local.db.t.position_deletes limit 0

Query

select partition, spec_id, record_count from local.db.t.files

Query

select id, str from local.db.t where str = 'a' or ts < timestamp'1970-01-01 00:00:00'

Query

select * from local.db.t.files

Query

select * from local.db.t.all_manifests

Query

select * from local.db.t.snapshots

Query

select count(*) from local.db.t.all_data_files

Query

select count(*) from local.db.t.metadata_log_entries m join local.db.t.snapshots s on m.latest_snapshot_id = s.snapshot_id

Query

select count(*) from local.db.t.delete_files

Query

select readable_metrics.b.lower_bound b, readable_metrics.l.lower_bound l, readable_metrics.f.upper_bound f, readable_metrics.d.nan_value_count dn, readable_metrics.d.lower_bound dl, readable_metrics.e.upper_bound e from local.db.t.files

Query

select readable_metrics.nope from local.db.t.files

Query

select content, lower(file_format) f, partition, record_count, referenced_data_file is null r, content_offset is null o, content_size_in_bytes is null z, first_row_id from local.db.t.files

Query

select count(*) from local.db.t.position_deletes d join local.db.t.data_files f on d.file_path = f.file_path

Query

select count(*) from local.db.t.all_delete_files

Query

select count(*) from local.db.t.manifests m join local.db.t.snapshots s on m.added_snapshot_id = s.snapshot_id

Query

select status, sequence_number, data_file.partition.p p from local.db.t.all_entries

Query

select partition, spec_id, record_count, position_delete_record_count, equality_delete_file_count from local.db.t.partitions

Query

select partition, record_count, file_count from local.db.t.partitions

Query

select distinct partition from local.db.t.all_data_files

Query

select partition.p from local.db.t.files where partition.p in ('a', 'b') and record_count > 0

Query

select spec_id, content, record_count from local.db.t.files where file_path not like '%zzz%' limit 1

Query

select nope from local.db.t.files

Query

select count(*) from local.db.t.delete_files version as of 'one'

Query

select * from local.db.t.all_data_files version as of 'one'

Query

select (select count(*) from local.db.t.files) f, (select count(*) from local.db.t.snapshots) s, count(*) c from local.db.t

Query

select * from local.db.t.files.snapshots

Query

select _row_id, _last_updated_sequence_number q, * from local.db.t

Query

select first_row_id, partition.p from local.db.t.files

Query

insert into local.db.t values (9, 1, named_struct('c.d', 2, 'e f', 's'), 3)

Insert

insert into local.db.t values (1, named_struct('x', 1), 2)

Insert

insert into local.db.t values (1, 'a', 'b')

Insert

insert into local.db.t values (2, 'b')

Insert

insert into local.db.t values (1, 2)

Insert

insert into local.db.t values (null, 'x', named_struct('a', 1, 'b', 2))

Insert

insert into local.db.t values (1, 'y', null)

Insert

insert into local.db.t values (named_struct('z', 60, 'y', 50, 'x', 40), 30, 20, 10)

Insert

insert into local.db.t values (1, 'x', 3)

Insert

insert into local.db.t values (1)

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c')

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, named_struct('a', 1, 'b', named_struct('c', 'x', 'd', 1.5D)), map('k', 1), array(1, 2)), (2, null, null, null), (3, named_struct('a', 3, 'b', null), map(), array())

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (null, 'n', 4)

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, 1), (2, 2)

Insert

insert into local.db.t values (1, 'a', timestamp'2024-01-01 00:00:00'), (2, 'b', timestamp'2024-01-01 00:00:00'), (3, null, null)

Insert

insert into local.db.t values (1, 1, 1, 1, 'a', date'2024-01-01', timestamp'2024-01-01 00:00:00')

Insert

insert into local.db.t values (1, 'a', 1)

Insert

insert into local.db.t values (4, 'd')

Insert

insert into local.db.t values (3, 'c')

Insert

insert into local.db.t values (2, 2)

Insert

insert overwrite local.db.t partition (p = 2) values (20)

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, 'a', 1.10, timestamp'2024-01-01 01:02:03.456789', timestamp_ntz'1969-12-31 23:59:59', named_struct('a', 1, 'l', array('x', null)), map('k', 1L), x'0001'), (2, null, null, null, null, null, null, null), (3, 'c', -3.33, timestamp'1900-01-01 00:00:00', timestamp_ntz'2500-01-01 00:00:00', named_struct('a', null, 'l', array()), map(), x'')

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (5, 'e'), (6, 'f')

Insert

insert into local.db.t values (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, 'd', 'y'), (5, 'e', null)

Insert

insert into local.db.t select id + 10, s, p from local.db.t

Insert

insert into local.db.t select id + 1000, s, ts from local.db.t where id < 4

Insert

insert into local.db.t select /*+ coalesce(1) */ * from values (1, 10, named_struct('a', 1)), (2, 20, null)

Insert

insert into local.db.t values (9, 'm')

Insert

insert into local.db.t.branch_b values (2)

Insert

insert into local.db.t.branch_keep values (2)

Insert

insert into local.db.t.branch_keep values (4)

Insert

insert into local.db.t.branch_few values (6)

Insert

insert into local.db.t values (4)

Insert

insert into local.db.t.branch_b values (3, 'b')

Insert

insert into local.db.t values (1, 'a'), (2, 'b')

Insert

insert into local.db.t values (5, 'b')

Insert

insert into local.db.t.branch_a values (2)

Insert

insert into local.db.t values (3, 'c', 30)

Insert

insert into local.db.t values (3, 3)

Insert

insert into local.db.t values (5, 5)

Insert

insert overwrite local.db.t values (10, 1)

Insert

insert into local.db.t.branch_audit values (3)

Insert

insert into local.db.t values (2, 'b', timestamp'1969-12-31 23:30:00')

Insert

insert into local.db.t values (2, 'x')

Insert

alter table local.db.t drop column a

DropColumns

alter table local.db.t drop columns b, c

DropColumns

alter table local.db.t drop column (d)

DropColumns

alter table local.db.t drop column s.y

DropColumns

alter table local.db.t drop column if exists nope

DropColumns

alter table local.db.t drop columns if exists nope, s.x

DropColumns

alter table local.db.t drop column E

DropColumns

alter table local.db.t drop column nope

DropColumns

alter table local.db.t drop column s.nope

DropColumns

alter table local.db.t drop column a.element

DropColumns

alter table local.db.t drop column m.key

DropColumns

alter table local.db.t drop column m.value

DropColumns

alter table local.db.t drop columns id, nope

DropColumns

alter table local.db.t drop columns id, s

DropColumns

alter table local.db.t drop column s.x

DropColumns

alter table local.db.t drop column a.element.n

DropColumns

alter table local.db.t drop column m.value.v

DropColumns

alter table local.db.t drop column p

DropColumns

alter table local.db.t drop column q

DropColumns

alter table local.db.t drop column a.b, a

DropColumns

alter table local.db.t drop partition field p

DropPartitionField

alter table local.db.t drop partition field s

DropPartitionField

alter table local.db.t write ordered by p

WriteOrder

alter table local.db.t write unordered

WriteOrder

alter table local.db.t write ordered by s

WriteOrder

alter table local.db.t write ordered by s desc, id

WriteOrder

alter table local.db.t rename column id to row_id

RenameColumn

alter table local.db.t rename column s.a to a2

RenameColumn

alter table local.db.t rename column s.b.c to `c c`

RenameColumn

alter table local.db.t rename column arr.element.n to num

RenameColumn

alter table local.db.t rename column m.value.v to val

RenameColumn

alter table local.db.t rename column S to top

RenameColumn

alter table local.db.t rename column row_id to ROW_ID

RenameColumn

alter table local.db.t rename column id to data

RenameColumn

alter table local.db.t rename column s.a to b

RenameColumn

alter table local.db.t rename column nope to x

RenameColumn

alter table local.db.t rename column s.nope to x

RenameColumn

alter table local.db.t rename column arr.element to x

RenameColumn

alter table local.db.t rename column m.key to x

RenameColumn

alter table local.db.t rename column a to tmp

RenameColumn

alter table local.db.t rename column b to a

RenameColumn

alter table local.db.t rename column tmp to b

RenameColumn

alter table local.db.t rename column n to big

RenameColumn

alter table local.db.t rename column data to label

RenameColumn

alter table local.db.t rename column s to str

RenameColumn

alter table local.db.t rename column c to renamed

RenameColumn

alter table local.db.t alter column i type bigint

AlterColumns

alter table local.db.t alter column d type decimal(12,2)

AlterColumns

alter table local.db.t alter column s.n type bigint

AlterColumns

alter table local.db.t alter column a.element type bigint

AlterColumns

alter table local.db.t alter column aa.element.d type decimal(38,1)

AlterColumns

alter table local.db.t alter column d type decimal(5,2)

AlterColumns

alter table local.db.t alter column ts type timestamp

AlterColumns

alter table local.db.t alter column s type varchar(5)

AlterColumns

alter table local.db.t alter column l type int

AlterColumns

alter table local.db.t alter column i type float

AlterColumns

alter table local.db.t alter column i type decimal(10,0)

AlterColumns

alter table local.db.t alter column d type float

AlterColumns

alter table local.db.t alter column dc type decimal(8,2)

AlterColumns

alter table local.db.t alter column dc type double

AlterColumns

alter table local.db.t alter column s type binary

AlterColumns

alter table local.db.t alter column bo type int

AlterColumns

alter table local.db.t alter column n type timestamp

AlterColumns

alter table local.db.t alter column l type timestamp

AlterColumns

alter table local.db.t alter column e type timestamp

AlterColumns

alter table local.db.t alter column arr type array<bigint>

AlterColumns

alter table local.db.t alter column id type struct<a: int>

AlterColumns

alter table local.db.t alter column s.nope type bigint

AlterColumns

alter table local.db.t alter column id set not null

AlterColumns

alter table local.db.t alter column s.b set not null

AlterColumns

alter table local.db.t alter column id drop not null

AlterColumns

alter table local.db.t alter column data drop not null

AlterColumns

alter table local.db.t alter column id comment 'Record id'

AlterColumns

alter table local.db.t alter column s.a comment 'inner'

AlterColumns

alter table local.db.t alter column m.value.v comment 'in map'

AlterColumns

alter table local.db.t alter column id comment ''

AlterColumns

alter table local.db.t alter column c first

AlterColumns

alter table local.db.t alter column s.z first

AlterColumns

alter table local.db.t alter column s first

AlterColumns

alter table local.db.t alter column a after nope

AlterColumns

alter table local.db.t alter column s.x after a

AlterColumns

alter table local.db.t alter column a type bigint, b comment 'note', c drop not null, d first

AlterColumns

alter table local.db.t alter column a comment 'x', a first

AlterColumns

alter table local.db.t change b b string after a

AlterColumns

alter table local.db.t change column a a string

AlterColumns

alter table local.db.t alter column n type bigint

AlterColumns

alter table local.db.t alter column id type bigint

AlterColumns

alter table local.db.t replace columns (a int, d double comment 'new', b string)

ReplaceColumns

alter table local.db.t replace columns (a int, q int)

ReplaceColumns

alter table local.db.t replace columns (a int, a string)

ReplaceColumns

alter table local.db.t add constraint c check (a > 0)

RefusedAlter

alter table local.db.t add constraint pk primary key (a)

RefusedAlter

alter table local.db.t drop constraint c

RefusedAlter

alter table local.db.t cluster by (a)

RefusedAlter

alter table local.db.t set serdeproperties ('a'='b')

RefusedAlter

alter table local.db.t set location '/elsewhere_ddl'

SetTableLocation

update local.db.t set n = n + id, s = upper(s) where id <> 2

Update

update local.db.t set s = coalesce(s, 'none') || '!'

Update

update local.db.t set s = s || 'y' where id = 2

Update

update local.db.t set s = 'empty table'

Update

update local.db.t set s = 'never' where id = 1 and s = 'b'

Update

update local.db.t set s = 'never' where cast(null as boolean)

Update

update local.db.t set st.a = -1 where id = 1

Update

update local.db.t set st.b.d = 9 where id = 2

Update

update local.db.t set st = named_struct('a', 7, 'b', named_struct('c', 'new', 'd', 0)) where id = 3

Update

update local.db.t set arr.x = 2

Update

update local.db.t set st.a = 1, st = named_struct('a', 1, 'b', null)

Update

update local.db.t set st.a = 1, st.a = 2

Update

update local.db.t set st.b = 'text'

Update

update local.db.t as x set s = 'hit' where exists (select 1 from local.db.u where u.id = x.id and u.s = 'three')

Update

update local.db.t set n = -1 where id not in (select id from local.db.u)

Update

update local.db.t set n = (select max(n) from local.db.u) where id = 1

Update

update local.db.t set p = 'c' where p = 'a'

Update

update local.db.t set p = 'd', ts = timestamp'1969-12-31 23:59:59' where p is null

Update

update local.db.t set id = id + 100, s = 'q' || s where id % 4 = 1

Update

update local.db.t set i = 5L, l = 6, f = 1.25D, d = 3.14159, s = 42

Update

update local.db.t set s = true, d = 12

Update

update local.db.t set i = 3000000000

Update

update local.db.t set dt = '2024-01-01'

Update

update local.db.t set a = array('x')

Update

update local.db.t set i = nullif(i, 1)

Update

update local.db.t set nope = 1

Update

update local.db.t set id = 1 where nope = 1

Update

update local.db.t set s = 'x' where rand() > 0.5

Update

update local.db.t set s = 'x' where count(*) > 0

Update

update local.db.t.snapshots set operation = 'x'

Update

update local.db.t set s = default, n = n + 1

Update

update local.db.t set n = default + 1

Update

update local.db.t y set s = concat(y.s, y.id) where y.id = 2

Update

with w as (select 1 as k) update local.db.t set s = 'cte' where id in (select k from w)

Update

update local.db.t set n = n + 1 where n < 4

Update

update local.db.t set n = id where n is null

Update

update local.db.t set s = s || '!' where id = 2

Update

update local.db.t set p = 3 where id = 1

Update

update local.db.t set s = 'upd' where id = 3

Update

update local.db.t set id = 3

Update

update local.db.t set p = 'w' where id = 1

Update

update local.db.t set ts = ts + interval '3' days where id % 4 = 1

Update

update local.db.t set p = 1 where id = 4

Update

update local.db.t set st.b = 'bb' where st is not null

Update

update local.db.t set id = 30 where id = 3

Update

delete from local.db.t where id = 1

Delete

delete from local.db.t where id = 2

Delete

delete from local.db.t where id in (1, 3, 5)

Delete

delete from local.db.t where s like 'm%u' or p is null

Delete

delete from local.db.t where p = 'y'

Delete

delete from local.db.t where id % 7 = 0

Delete

delete from local.db.t where ts >= timestamp'2024-02-01 00:00:00' and id > 33

Delete

delete from local.db.t where id = 3

Delete

delete from local.db.t.branch_b where p = 'a'

Delete

delete from local.db.t where p = 2

Delete

delete from local.db.t where p = 1

Delete

delete from local.db.t where id = 4

Delete

delete from local.db.t where p = 'a'

Delete

delete from local.db.t where id in (3, 7)

Delete

delete from local.db.t where id = 9

Delete

delete from local.db.t where s = 'b'

Delete

delete from local.db.t

Delete

delete from local.db.t.files where content = 0

Delete

alter table local.db.t set tblproperties ('format-version'='3')

SetTableProperties

alter table local.db.t set tblproperties ('write.format.default'='orc')

SetTableProperties

alter table local.db.t set tblproperties ('write.format.default'='parquet')

SetTableProperties

alter table local.db.t set tblproperties ('write.format.default'='crocodile')

SetTableProperties

alter table local.db.t set tblproperties ('current-snapshot-id'='1')

SetTableProperties

alter table local.db.t set tblproperties ('write.wap.enabled'='true')

SetTableProperties

alter table local.db.t set tblproperties ('a'='b')

SetTableProperties

alter table local.db.t.refs set tblproperties ('a'='b')

SetTableProperties

alter table local.db.t set tblproperties ('write.update.mode'='merge-on-read')

SetTableProperties

alter table local.db.t set tblproperties ('format-version'='2')

SetTableProperties

merge into local.db.t t using (select 3 as id, 'm' as s union all select 4, 'n') q on t.id = q.id when matched then update set s = q.s when not matched then insert (id, s) values (q.id, q.s)

Merge

merge into local.db.t t using (select 2 as id union all select 9) q on t.id = q.id when matched then update set p = 2 when not matched then insert (id, s, p) values (q.id, 'new', 1)

Merge

merge into local.db.t t using (select * from values (1, 'm1'), (3, 'm3'), (6, 'm6') as v(id, s)) q on t.id = q.id when matched then update set s = q.s when not matched then insert (id, s, p) values (q.id, q.s, 'z')

Merge

merge into local.db.t t using local.db.t q on t.id = q.id + 10 when matched then update set s = concat(t.s, '<', q.s) when not matched by source and t.id = 6 then delete

Merge

merge into local.db.t t using (select id, 'm' || id as s from range(20, 40)) q on t.id = q.id when matched and t.id % 2 = 0 then delete when matched then update set s = q.s when not matched then insert (id, s, ts) values (q.id, q.s, timestamp'2024-02-01 00:00:00')

Merge

alter table local.db.t create branch b1

CreateBranch

ALTER TABLE local.db.t CREATE BRANCH b2

CreateBranch

alter table local.db.t create branch b

CreateBranch

alter table local.db.t create branch c retain 5 days

CreateBranch

alter table local.db.t create branch if not exists d

CreateBranch

alter table local.db.t replace branch b

CreateBranch

alter table local.db.t create or replace branch b

CreateBranch

alter table local.db.t create branch v1 as of version 123

CreateBranch

alter table local.db.t create branch b retain 3 days

CreateBranch

alter table local.db.t create branch g

CreateBranch

alter table local.db.t create branch if not exists b retain 9 days

CreateBranch

alter table local.db.t create branch if not exists g

CreateBranch

alter table local.db.t create branch main

CreateBranch

alter table local.db.t create or replace branch b retain 2 days with snapshot retention 4 snapshots 6 hours

CreateBranch

alter table local.db.t create branch b retain 2 days with snapshot retention 4 snapshots

CreateBranch

alter table local.db.t replace branch nope

CreateBranch

alter table local.db.t replace branch b with snapshot retention 7 minutes

CreateBranch

alter table local.db.t create or replace branch main with snapshot retention 10 snapshots

CreateBranch

alter table local.db.t create branch c as of version 12345

CreateBranch

alter table local.db.t create branch c as of version -1

CreateBranch

alter table local.db.t create branch d retain 7 days

CreateBranch

alter table local.db.t create branch h retain 36 HOURS

CreateBranch

alter table local.db.t create branch m retain 90 minutes

CreateBranch

alter table local.db.t create branch s1 with snapshot retention 5 snapshots

CreateBranch

alter table local.db.t create branch s2 with snapshot retention 2 days

CreateBranch

alter table local.db.t create branch s3 with snapshot retention 3 snapshots 12 hours

CreateBranch

alter table local.db.t create branch s4 retain 1 days with snapshot retention 3 snapshots 30 minutes

CreateBranch

alter table local.db.t create branch b retain -5 days

CreateBranch

alter table local.db.t create branch b retain 0 days

CreateBranch

alter table local.db.t create branch b with snapshot retention 0 snapshots

CreateBranch

alter table local.db.t replace branch g

CreateBranch

alter table local.db.t create or replace branch g

CreateBranch

alter table local.db.t create branch `audit-2024`

CreateBranch

alter table local.db.t create branch `with space`

CreateBranch

alter table local.db.t create branch Mixed

CreateBranch

alter table local.db.t create branch `select`

CreateBranch

alter table local.db.t create branch branch

CreateBranch

alter table local.db.t create branch snapshot_id_5

CreateBranch

alter table local.db.missing create branch b

CreateBranch

alter table local.db.t.snapshots create branch b

CreateBranch

alter table ext_refs_v create branch b

CreateBranch

alter table local.db.t create branch keep with snapshot retention 2 snapshots

CreateBranch

alter table local.db.t create branch few

CreateBranch

alter table local.db.t create branch a

CreateBranch

alter table local.db.t create branch audit

CreateBranch

alter table local.db.t create tag v1

CreateTag

alter table local.db.t create or replace tag v1

CreateTag

alter table local.db.t replace tag v1

CreateTag

alter table local.db.t create tag if not exists v1

CreateTag

alter table local.db.t create tag v1 as of version 123

CreateTag

alter table local.db.t create tag g retain 3 days

CreateTag

alter table local.db.t create tag g

CreateTag

alter table local.db.t create tag b

CreateTag

alter table local.db.t create tag if not exists g retain 9 days

CreateTag

alter table local.db.t create tag if not exists b

CreateTag

alter table local.db.t create tag main

CreateTag

alter table local.db.t create tag c as of version 12345

CreateTag

alter table local.db.t create tag g retain 365 days

CreateTag

alter table local.db.t create tag g retain 0 days

CreateTag

alter table local.db.t replace tag b

CreateTag

alter table local.db.t create or replace tag b

CreateTag

alter table local.db.t replace tag main

CreateTag

alter table local.db.t create or replace tag g retain 10 days

CreateTag

alter table local.db.t replace tag nope

CreateTag

alter table local.db.t create tag `v1.0`

CreateTag

alter table local.db.t create tag `123`

CreateTag

alter table local.db.t create tag `feature/x`

CreateTag

alter table local.db.t create tag tag

CreateTag

alter table local.db.missing create tag b

CreateTag

alter table local.db.t create tag c

CreateTag

alter table local.db.t create tag `first-tag`

CreateTag

alter table local.db.t create tag plain

CreateTag

alter table local.db.t create tag kept retain 5 days

CreateTag

alter table local.db.t create tag one

CreateTag

alter table local.db.t create or replace branch if not exists b

SqlError

alter table local.db.t create branch c as of version 'b'

SqlError

alter table local.db.t create branch c as of timestamp '2024-01-01'

SqlError

alter table local.db.t create branch c as of version

SqlError

alter table local.db.t create branch b retain 5 seconds

SqlError

alter table local.db.t create branch b retain 5

SqlError

alter table local.db.t create branch b retain 1.5 days

SqlError

alter table local.db.t create branch b retain abc days

SqlError

alter table local.db.t create branch b with snapshot retention

SqlError

alter table local.db.t create branch b with snapshot retention 2 days 3 snapshots

SqlError

alter table local.db.t create branch b with snapshot retention 2 snapshots retain 3 days

SqlError

alter table local.db.t create branch b retain 3 days as of version 5

SqlError

alter table local.db.t create tag g with snapshot retention 3 snapshots

SqlError

alter table local.db.t drop branch

SqlError

alter table local.db.t drop tag if not exists g

SqlError

alter table local.db.t create branch 123

SqlError

alter table local.db.t create branch 'quoted'

SqlError

alter table local.db.t create tag a-b

SqlError

alter table local.db.t create branch a.b

SqlError

alter table local.db.t create branch

SqlError

alter table local.db.t create branch a, b

SqlError

alter table local.db.t drop branch b

DropBranch

alter table local.db.t drop branch if exists b

DropBranch

alter table local.db.t drop branch main

DropBranch

alter table local.db.t drop branch if exists main

DropBranch

alter table local.db.t drop branch g

DropBranch

alter table local.db.t drop branch if exists g

DropBranch

alter table local.db.t drop branch `audit-2024`

DropBranch

alter table local.db.missing drop branch if exists b

DropBranch

alter table local.db.t drop tag g

DropTag

alter table local.db.t drop tag if exists g

DropTag

alter table local.db.t drop tag b

DropTag

alter table local.db.t drop tag main

DropTag

alter table local.db.t drop tag `v1.0`

DropTag

alter table local.db.missing drop tag if exists b

DropTag

alter table local.db.t drop tag plain

DropTag

create temporary view ext_refs_v as select 1 as id

CreateView

drop view ext_refs_v

DropView

call local.system.expire_snapshots(table => 'db.t', older_than => timestamp '2100-01-01 00:00:00', retain_last => 1)

Call

call local.system.rollback_to_snapshot('db.t', 77)

Call

call local.system.rollback_to_timestamp('db.t', timestamp '2001-01-01 00:00:00')

Call

call local.system.set_current_snapshot(table => 'db.t', ref => 'b')

Call

call local.system.set_current_snapshot(table => 'db.t', ref => 'g')

Call

call local.system.set_current_snapshot(table => 'db.t', ref => 'nope')

Call

call local.system.set_current_snapshot(table => 'db.t')

Call

call local.system.set_current_snapshot('db.t', 99)

Call

call local.system.fast_forward('db.t', 'main', 'b')

Call

call local.system.fast_forward(table => 'db.t', branch => 'b', to => 'main')

Call

call local.system.fast_forward('db.t', 'main', 'nope')

Call

call local.system.fast_forward('db.t', 'g', 'main')

Call

call local.system.fast_forward('db.t', 'main', 'g')

Call

call local.system.fast_forward('db.t', 'brand_new', 'b')

Call

call local.system.fast_forward('db.t', 'main')

Call

call local.system.fast_forward('', 'main', 'b')

Call

call local.system.ancestors_of('db.t')

Call

call local.system.ancestors_of('db.t', 42)

Call

call local.system.cherrypick_snapshot('db.t', 55)

Call

call local.system.rollback_to_snapshot('local.db.t', 77)

Call

call local.system.rollback_to_snapshot('local.db.t', -1)

Call

call local.system.rollback_to_snapshot('local.db.t.branch_b', 12345)

Call

call local.system.rollback_to_timestamp('local.db.t', timestamp '2999-01-01 00:00:00')

Call

call local.system.rollback_to_timestamp('local.db.t', date '2999-01-01')

Call

call local.system.rollback_to_timestamp('local.db.t', timestamp '2001-01-01 00:00:00')

Call

call local.system.rollback_to_timestamp('local.db.t', null)

Call

call local.system.set_current_snapshot(table => 'local.db.t', ref => 'b')

Call

call local.system.set_current_snapshot(ref => 'first-tag', table => 'local.db.t')

Call

call local.system.set_current_snapshot('local.db.t', null, 'main')

Call

call local.system.set_current_snapshot('local.db.t', null, 'b')

Call

call local.system.set_current_snapshot('local.db.t')

Call

call local.system.set_current_snapshot(table => 'local.db.t', ref => 'nothere')

Call

call local.system.set_current_snapshot(table => 'local.db.t', ref => 'MAIN')

Call

call local.system.set_current_snapshot('local.db.t', 99)

Call

call local.system.set_current_snapshot(table => 'local.db.t', ref => '')

Call

call local.system.set_current_snapshot(table => 'local.db.t', ref => 'audit')

Call

call local.system.cherrypick_snapshot('local.db.t', 99)

Call

call local.system.cherrypick_snapshot('local.db.t', 1)

Call

call local.system.publish_changes('local.db.t', 'aud-2')

Call

call local.system.publish_changes(wap_id => 'aud-1', table => 'local.db.t')

Call

call local.system.publish_changes('local.db.t', 'aud-1')

Call

call local.system.publish_changes('local.db.t', 'nope')

Call

call local.system.publish_changes('local.db.t', 'twice')

Call

call local.system.publish_changes('local.db.t', '')

Call

call local.system.publish_changes('local.db.t', 42)

Call

set spark.sql.sources.partitionOverwriteMode=dynamic

SetConfiguration

set spark.sql.session.timeZone=Asia/Kolkata

SetConfiguration

set spark.wap.branch=audit

SetConfiguration

set spark.wap.id=w1

SetConfiguration

set spark.wap.id=job7

SetConfiguration

set spark.wap.id=ff

SetConfiguration

set spark.wap.id=first

SetConfiguration

set spark.wap.id=dyn

SetConfiguration

set spark.wap.id=aud-1

SetConfiguration

set spark.wap.id=aud-2

SetConfiguration

set spark.wap.id=twice

SetConfiguration

set spark.wap.id=42

SetConfiguration

set spark.wap.id=del

SetConfiguration

alter table local.db.t add partition field p

AddPartitionField

alter table local.db.t add partition field bucket(2, id) as shard

AddPartitionField

alter table local.db.t add partition field hours(ts)

AddPartitionField

alter table local.db.t add partition field s

AddPartitionField

reset spark.wap.branch

ResetConfiguration

reset spark.wap.id

ResetConfiguration

truncate table local.db.t

TruncateTable

truncate table local.db.t.history

TruncateTable

alter table local.db.t unset tblproperties ('write.metadata.metrics.column.a')

UnsetTableProperties
