alter table t write ordered by id

WriteOrder(table=t, order=(SortTerm(term=TransformTerm(transform=identity, column=('id'), plain=True))), distribution_mode='range')

alter table t write ordered by (category asc nulls last, bucket(4, id) desc)

WriteOrder(table=t, order=(SortTerm(term=TransformTerm(transform=identity, column=('category'), plain=True), null_order=nulls-last), SortTerm(term=TransformTerm(transform=bucket[4], column=('id'), function='bucket'), direction=desc, null_order=nulls-last)), distribution_mode='range')

alter table t write locally ordered by a desc nulls first, b

WriteOrder(table=t, order=(SortTerm(term=TransformTerm(transform=identity, column=('a'), plain=True), direction=desc), SortTerm(term=TransformTerm(transform=identity, column=('b'), plain=True))))

alter table t write distributed by partition

WriteOrder(table=t, distribution_mode='hash')

alter table t write distributed by partition locally ordered by a

WriteOrder(table=t, order=(SortTerm(term=TransformTerm(transform=identity, column=('a'), plain=True))), distribution_mode='hash')

alter table t write ordered by a distributed by partition

WriteOrder(table=t, order=(SortTerm(term=TransformTerm(transform=identity, column=('a'), plain=True))), distribution_mode='hash')

alter table t write unordered

WriteOrder(table=t, distribution_mode='none')

alter table t write distributed by partition unordered

WriteOrder(table=t, distribution_mode='hash')

alter table t write

SqlError('ALTER TABLE has no changes: missing both distribution and ordering clauses (line 1, column 20)')

alter table t write distributed by partition distributed by partition

SqlError('ALTER TABLE contains multiple distribution clauses (line 1, column 46)')

alter table t write ordered by a unordered

SqlError('ALTER TABLE contains multiple ordering clauses (line 1, column 34)')

alter table t write locally by a

SqlError("mismatched input 'by' expecting 'ORDERED' (line 1, column 29)")
