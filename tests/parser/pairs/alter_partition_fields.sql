ALTER TABLE c.db.t ADD PARTITION FIELD bucket(16, id) AS shard

AddPartitionField(table=c.db.t, field=TransformTerm(transform=bucket[16], column=('id'), function='bucket', name='shard'))

alter table t add partition field truncate(data, 4)

AddPartitionField(table=t, field=TransformTerm(transform=truncate[4], column=('data'), function='truncate'))

alter table t add partition field bucket(id, 16)

AddPartitionField(table=t, field=TransformTerm(transform=bucket[16], column=('id'), function='bucket'))

alter table t add partition field s.ts

AddPartitionField(table=t, field=TransformTerm(transform=identity, column=('s', 'ts'), plain=True))

alter table t /* which /* one */ */ add partition field years(ts) -- yes

AddPartitionField(table=t, field=TransformTerm(transform=year, column=('ts'), function='years'))

alter table t drop partition field days(ts)

DropPartitionField(table=t, field=TransformTerm(transform=day, column=('ts'), function='days'))

alter table t drop partition field shard

DropPartitionField(table=t, field=TransformTerm(transform=identity, column=('shard'), plain=True))

alter table t replace partition field ts_day with hours(ts) as h

ReplacePartitionField(table=t, old=TransformTerm(transform=identity, column=('ts_day'), plain=True), new=TransformTerm(transform=hour, column=('ts'), function='hours', name='h'))

alter table t add partition field

SqlError("no viable alternative at input '<EOF>' (line 1, column 34)")

alter table t add partition field foo(x)

SqlError('Transform is not supported: foo(x) (line 1, column 35)')

alter table t add partition field bucket(-1, x)

SqlError('Unsupported width for transform: bucket(-1, x) (line 1, column 35)')

alter table t replace partition field a

SqlError("mismatched input '<EOF>' expecting 'WITH' (line 1, column 40)")
