create table local.db.t (id bigint not null comment 'key', s struct<a: int not null comment 'x', b: array<decimal(9,2)>>, m map<string, date> default null)

CreateTable(table=local.db.t, columns=(ColumnDefinition(path=('id'), type=long, type_text='bigint', required=True, comment='key'), ColumnDefinition(path=('s'), type=struct<1: a: required int, 2: b: optional list<decimal(9, 2)>>, type_text="struct<a: int not null comment 'x', b: array<decimal(9,2)>>"), ColumnDefinition(path=('m'), type=map<string, date>, type_text='map<string, date>', default_text='null', default=void:None)))

create or replace table t (ts timestamp, n timestamp_ntz, v variant, u void, y tinyint, c char(3), w varchar(9) collate utf8_binary) using iceberg

CreateTable(table=t, replace=True, columns=(ColumnDefinition(path=('ts'), type=timestamptz, type_text='timestamp'), ColumnDefinition(path=('n'), type=timestamp, type_text='timestamp_ntz'), ColumnDefinition(path=('v'), type=variant, type_text='variant'), ColumnDefinition(path=('u'), type=unknown, type_text='void'), ColumnDefinition(path=('y'), type=int, type_text='tinyint'), ColumnDefinition(path=('c'), type=string, type_text='char(3)'), ColumnDefinition(path=('w'), type=string, type_text='varchar(9) collate utf8_binary')), provider='iceberg')

create table if not exists db.t (id int, ts timestamp, s string) partitioned by (bucket(16, id), truncate(s, 4), years(ts), month(ts), date(ts), date_hour(ts), s) location '/x' comment 'c' tblproperties ('k'='v', a.b.c = 5, flag = true)

CreateTable(table=db.t, if_not_exists=True, columns=(ColumnDefinition(path=('id'), type=int, type_text='int'), ColumnDefinition(path=('ts'), type=timestamptz, type_text='timestamp'), ColumnDefinition(path=('s'), type=string, type_text='string')), partitioning=(TransformTerm(transform=bucket[16], column=('id'), function='bucket'), TransformTerm(transform=truncate[4], column=('s'), function='truncate'), TransformTerm(transform=year, column=('ts'), function='years'), TransformTerm(transform=month, column=('ts'), function='month'), TransformTerm(transform=day, column=('ts'), function='date'), TransformTerm(transform=hour, column=('ts'), function='date_hour'), TransformTerm(transform=identity, column=('s'), plain=True)), location='/x', comment='c', properties=(('k', 'v'), ('a.b.c', '5'), ('flag', 'true')))

create table t (id int, `p q` string) using parquet clustered by (id) into 8 buckets options ('x'='y')

CreateTable(table=t, columns=(ColumnDefinition(path=('id'), type=int, type_text='int'), ColumnDefinition(path=('p q'), type=string, type_text='string')), partitioning=(TransformTerm(transform=bucket[8], column=('id'), function='bucket')), provider='parquet', options=(('x', 'y')))

create table t (id int) stored as orc

CreateTable(table=t, columns=(ColumnDefinition(path=('id'), type=int, type_text='int')), storage=(('hive.stored-as', 'orc')))

create table t (id int) using parquet stored as orc

Other(references=[t (target)], error=SqlError('[INVALID_STATEMENT_OR_CLAUSE] The statement or clause: CREATE TABLE ... USING ... STORED AS ORC is not valid. SQLSTATE: 42601 (line 1, column 52)'))

create table t (id int) partitioned by (p string comment 'hive', q int)

CreateTable(table=t, columns=(ColumnDefinition(path=('id'), type=int, type_text='int'), ColumnDefinition(path=('p'), type=string, type_text='string', comment='hive'), ColumnDefinition(path=('q'), type=int, type_text='int')), partitioning=(TransformTerm(transform=identity, column=('p'), plain=True), TransformTerm(transform=identity, column=('q'), plain=True)), partition_columns=('p', 'q'))

create table t using iceberg as select * from local.db.u version as of 3 x

CreateTable(table=t, provider='iceberg', query=('select * from local.db.u version as of 3 x'), references=[local.db.u as x at version 3])

create table t partitioned by (days(ts)) with q as (select 1 as ts) select * from q

CreateTable(table=t, partitioning=(TransformTerm(transform=day, column=('ts'), function='days')), query=('with q as (select 1 as ts) select * from q'))

replace table t (a int default 1 + 1, b string default 'x', c int generated always as (a + 1))

CreateTable(table=t, create=False, replace=True, columns=(ColumnDefinition(path=('a'), type=int, type_text='int', default_text='1 + 1'), ColumnDefinition(path=('b'), type=string, type_text='string', default_text="'x'", default=string:'x'), ColumnDefinition(path=('c'), type=int, type_text='int', generated_text='generated always as (a + 1)')))

replace table t as table u

CreateTable(table=t, create=False, replace=True, query=('table u'), references=[u (table)])

create table t (u uuid, f fixed(16), t time, n timestamp_ns, z timestamptz_ns, g geometry(4326), h geography('EPSG:1', spherical))

CreateTable(table=t, columns=(ColumnDefinition(path=('u'), type=uuid, type_text='uuid'), ColumnDefinition(path=('f'), type=fixed[16], type_text='fixed(16)'), ColumnDefinition(path=('t'), type=time, type_text='time'), ColumnDefinition(path=('n'), type=timestamp_ns, type_text='timestamp_ns'), ColumnDefinition(path=('z'), type=timestamptz_ns, type_text='timestamptz_ns'), ColumnDefinition(path=('g'), type=geometry, type_text='geometry(4326)'), ColumnDefinition(path=('h'), type=geography(EPSG:1, spherical), type_text="geography('EPSG:1', spherical)")))

create external table t (a int) default collation utf8_lcase

CreateTable(table=t, external=True, columns=(ColumnDefinition(path=('a'), type=int, type_text='int')), collation='utf8_lcase')

create table t (id int) partitioned by (bucket(id, 16))

Other(references=[t (target)], error=SqlError('Invalid number of buckets: id. (line 1, column 41)'))

create table t (id int) partitioned by (id, p string)

Other(references=[t (target)], error=SqlError('PARTITION BY: Cannot mix partition expressions and partition columns: Expressions: id Columns: p string (line 1, column 40)'))

create table t (id int) partitioned by (foo(id))

Other(references=[t (target)], error=SqlError('Transform is not supported: foo(id) (line 1, column 41)'))

create table t (id int, b int) partitioned by (bucket(4, id, b))

Other(references=[t (target)], error=SqlError('Cannot convert transform with more than one column reference: bucket(4, id, b) (line 1, column 48)'))

create table t (id int) partitioned by (bucket(0, id))

Other(references=[t (target)], error=SqlError('Unsupported width for transform: bucket(0, id) (line 1, column 41)'))

create table t (id int) partitioned by (truncate(id))

Other(references=[t (target)], error=SqlError('Cannot find width for transform: truncate(id) (line 1, column 41)'))

create table t (id int) as select 1

Other(references=[t (target)], error=SqlError('Operation not allowed: Schema may not be specified in a Create Table As Select (CTAS) statement. (line 1, column 36)'))

create table t partitioned by (p int) as select 1

Other(references=[t (target)], error=SqlError('Operation not allowed: Partition column types may not be specified in Create Table As Select (CTAS). (line 1, column 50)'))

create table t (d interval day to second)

Other(references=[t (target)], error=SqlError('Not a supported type: interval day to second (line 1, column 19)'))

create table t (d decimal(40,2))

Other(references=[t (target)], error=SqlError('Cannot parse type: decimal precision must be between 1 and 38: 40 (line 1, column 19)'))

create table t (c char)

Other(references=[t (target)], error=SqlError('DataType "CHAR" requires a length parameter, for example "CHAR"(10). (line 1, column 19)'))

create table t (id int) comment 'a' comment 'b'

Other(references=[t (target)], error=SqlError('Found duplicate clauses: COMMENT. Please, remove one of them. (line 1, column 45)'))

create table t (id int) tblproperties ('a', 'b'='c')

Other(references=[t (target)], error=SqlError('Operation not allowed: Values must be specified for key(s): [a]. (line 1, column 53)'))

create table t (id int) tblproperties ('a'='1', 'a'='2')

Other(references=[t (target)], error=SqlError('[DUPLICATE_KEY] Found duplicate keys `a`. SQLSTATE: 23505 (line 1, column 52)'))

create table t like db.u tblproperties ('k'='v')

CreateTableLike(table=t, source=db.u, properties=(('k', 'v')))

create table if not exists t like u using iceberg location '/x'

CreateTableLike(table=t, source=u, if_not_exists=True, provider='iceberg', location='/x')

drop table local.db.t

DropTable(table=local.db.t)

drop table if exists t purge

DropTable(table=t, if_exists=True, purge=True)

create table t (id int) options ('a' = 1 + 1, b -1.5, 'c' = concat('x', 'y'), 'd' 'x' 'y', e = true, f = 007, 'e' = false)

CreateTable(table=t, columns=(ColumnDefinition(path=('id'), type=int, type_text='int')), options=(('a', '1 + 1'), ('b', '-1.5'), ('c', "concat('x', 'y')"), ('d', 'xy'), ('e', 'false'), ('f', '007')))

create table t (id int) options ('a', 'b' = 1)

Other(references=[t (target)], error=SqlError('Operation not allowed: A value must be specified for the key: a. (line 1, column 37)'))

create table t (id int) options ('a' =)

Other(references=[t (target)], error=SqlError('Operation not allowed: A value must be specified for the key: a. (line 1, column 39)'))

create table t (id int) tblproperties ('a' = -1)

Other(references=[t (target)], error=SqlError("no viable alternative at input '-' (line 1, column 46)"))
