alter table t add column c int

AddColumns(table=t, columns=(ColumnDefinition(path=('c'), type=int, type_text='int')))

alter table t add columns (p.x int comment 'c' after y, q string first, r int default 5)

AddColumns(table=t, columns=(ColumnDefinition(path=('p', 'x'), type=int, type_text='int', comment='c', position=Position(after='y')), ColumnDefinition(path=('q'), type=string, type_text='string', position=Position()), ColumnDefinition(path=('r'), type=int, type_text='int', default_text='5', default=int:5)))

alter table t drop columns if exists (a, s.b)

DropColumns(table=t, columns=(('a'), ('s', 'b')), if_exists=True)

alter table t drop column a.element.x

DropColumns(table=t, columns=(('a', 'element', 'x')))

alter table t rename column s.a to `b c`

RenameColumn(table=t, column=('s', 'a'), new_name='b c')

alter table t rename to db.u

RenameTable(table=t, new_name=db.u)

alter table t alter column c type bigint

AlterColumns(table=t, changes=(ColumnChange(column=('c'), type=long, type_text='bigint')))

alter table t alter column a type bigint, b comment 'x', c first, d after e, f drop not null, g set default 'a', h drop default, i set not null

AlterColumns(table=t, changes=(ColumnChange(column=('a'), type=long, type_text='bigint'), ColumnChange(column=('b'), comment='x'), ColumnChange(column=('c'), position=Position()), ColumnChange(column=('d'), position=Position(after='e')), ColumnChange(column=('f'), drop_not_null=True), ColumnChange(column=('g'), default_text="'a'", default=string:'a'), ColumnChange(column=('h'), drop_default=True), ColumnChange(column=('i'), set_not_null=True)))

alter table t change column a a bigint comment 'x' after b

AlterColumns(table=t, changes=(ColumnChange(column=('a'), type=long, type_text='bigint', comment='x', position=Position(after='b'))))

alter table t change column a z bigint

Other(references=[t (target)], error=SqlError('Operation not allowed: Renaming column is not supported in Hive-style ALTER COLUMN, please run RENAME COLUMN instead. (line 1, column 31)'))

alter table t replace columns (a int, b string comment 'x')

ReplaceColumns(table=t, columns=(ColumnDefinition(path=('a'), type=int, type_text='int'), ColumnDefinition(path=('b'), type=string, type_text='string', comment='x')))

alter table t set tblproperties ('a'='b', c.d = 5)

SetTableProperties(table=t, properties=(('a', 'b'), ('c.d', '5')))

alter table t unset tblproperties if exists ('a', b.c)

UnsetTableProperties(table=t, keys=('a', 'b.c'), if_exists=True)

alter table t set location 's3://b/x'

SetTableLocation(table=t, location='s3://b/x')

alter table t partition (p = 1) set location '/x'

SetTableLocation(table=t, location='/x', partition='partition (p = 1)')

alter table t add partition (p = 1)

RefusedAlter(table=t, form='ADD PARTITION')

alter table t drop if exists partition (p = 1)

RefusedAlter(table=t, form='DROP PARTITION')

alter table t partition (p = 1) rename to partition (p = 2)

RefusedAlter(table=t, form='RENAME PARTITION')

alter table t recover partitions

RefusedAlter(table=t, form='RECOVER PARTITIONS')

alter table t cluster by (a)

RefusedAlter(table=t, form='CLUSTER BY')

alter table t add constraint x check (a > 1)

RefusedAlter(table=t, form='ADD CONSTRAINT')

alter table t alter column a

Other(references=[t (target)], error=SqlError('Operation not allowed: ALTER TABLE table ALTER COLUMN requires a TYPE, a SET/DROP, a COMMENT, or a FIRST/AFTER. (line 1, column 29)'))

alter table t replace columns (a int not null)

Other(references=[t (target)], error=SqlError('NOT NULL is not supported in Hive-style REPLACE COLUMNS. (line 1, column 47)'))

alter table t rename column a to b.c

Other(references=[t (target)], error=SqlError("mismatched input '.' expecting <EOF> (line 1, column 35)"))

alter table t add column if not exists c int

Other(references=[t (target)], error=SqlError('Unsupported data type "NOT". (line 1, column 29)'))

alter table t default collation utf8_lcase

SetDefaultCollation(table=t, collation='utf8_lcase')
