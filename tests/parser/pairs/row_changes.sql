delete from local.db.t

Delete(target=local.db.t)

delete from t as x where x.id in (select id from u where u.a = x.a) or a = ';'

Delete(target=t, alias='x', condition="x.id in (select id from u where u.a = x.a) or a = ';'", references=[u])

with q as (select 1 as a) delete from t where id in (select a from q)

Delete(target=t, condition='id in (select a from q)', ctes='with q as (select 1 as a)')

delete from t where case when a then b else c end

Delete(target=t, condition='case when a then b else c end')

delete from t x (a, b) where a = 1

Other(references=[t (target)], error=SqlError('Columns aliases are not allowed here: x (line 1, column 17)'))

delete from t where a = 1 limit 5

Other(references=[t (target)], error=SqlError("mismatched input 'limit' expecting <EOF> (line 1, column 27)"))

update t set a = 1, s.b = default, c = case when x then 1 else 2 end where a in (1, 2)

Update(target=t, assignments=(Assignment(column=('a'), key='a', value='1'), Assignment(column=('s', 'b'), key='s.b', value='default', is_default=True), Assignment(column=('c'), key='c', value='case when x then 1 else 2 end')), condition='a in (1, 2)')

update local.db.t as x set x.a = (select max(a) from u)

Update(target=local.db.t, alias='x', assignments=(Assignment(column=('x', 'a'), key='x.a', value='(select max(a) from u)')), references=[u])

update t a = 1

Other(references=[t (target)], error=SqlError("mismatched input '=' expecting 'SET' (line 1, column 12)"))

update t set a = 1 from u

Other(references=[t (target), u], error=SqlError("mismatched input 'from' expecting <EOF> (line 1, column 20)"))

update t set from = limit, b = c is distinct from d where order = 1 and limit > 2

Update(target=t, assignments=(Assignment(column=('from'), key='from', value='limit'), Assignment(column=('b'), key='b', value='c is distinct from d')), condition='order = 1 and limit > 2')

delete from t where a = 1 order by a

Other(references=[t (target)], error=SqlError("mismatched input 'order' expecting <EOF> (line 1, column 27)"))

delete from t using u where a = 1

Other(references=[t (target)], error=SqlError("mismatched input 'using' expecting <EOF> (line 1, column 15)"))

update t set a = 1 where b = 2 group by c

Other(references=[t (target)], error=SqlError("mismatched input 'group' expecting <EOF> (line 1, column 32)"))

truncate table t

TruncateTable(target=t)

truncate table t partition (p = 1)

TruncateTable(target=t, partition='(p = 1)')

merge into t using u on t.id = u.id when matched then update set * when not matched then insert *

Merge(target=t, source='u', condition='t.id = u.id', clauses=(MergeClause(kind=matched, action=update *), MergeClause(kind=not matched, action=insert *)), references=[u])

merge with schema evolution into local.db.t as a using (select * from s where x) as b on a.id = b.id and case when 1 = 1 then true end when matched and b.d = 'then' then delete when matched then update set a.x = b.x, y = default when not matched by target and b.id > 1 then insert (id, s.x) values (b.id, f(1, 2)) when not matched by source and a.q then update set x = 1 when not matched by source then delete

Merge(target=local.db.t, alias='a', schema_evolution=True, source='(select * from s where x) as b', source_alias='b', condition='a.id = b.id and case when 1 = 1 then true end', clauses=(MergeClause(kind=matched, action=delete, condition="b.d = 'then'"), MergeClause(kind=matched, action=update, assignments=(Assignment(column=('a', 'x'), key='a.x', value='b.x'), Assignment(column=('y'), key='y', value='default', is_default=True))), MergeClause(kind=not matched, action=insert, condition='b.id > 1', assignments=(Assignment(column=('id'), key='id', value='b.id'), Assignment(column=('s', 'x'), key='s.x', value='f(1, 2)'))), MergeClause(kind=not matched by source, action=update, condition='a.q', assignments=(Assignment(column=('x'), key='x', value='1'))), MergeClause(kind=not matched by source, action=delete)), references=[s])

merge into t using db.u version as of 5 v on t.id = v.id when not matched then insert (id) values (v.id)

Other(references=[t (target), db.u as v at version 5], error=SqlError('mismatched input: the source of a MERGE is a table or a query in brackets (line 1, column 43)'))

with q as (select * from z) merge into t using q on t.id = q.id when matched then delete

Merge(target=t, source='q', condition='t.id = q.id', clauses=(MergeClause(kind=matched, action=delete)), ctes='with q as (select * from z)', references=[z])

merge into t using u on true

Other(references=[t (target), u], error=SqlError('[MERGE_WITHOUT_WHEN] There must be at least one WHEN clause in a MERGE statement. SQLSTATE: 42601 (line 1, column 29)'))

merge into t using u on a when matched then delete when matched then update set *

Other(references=[t (target), u], error=SqlError('[NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION] When there are more than one MATCHED clauses in a MERGE statement, only the last MATCHED clause can omit the condition. SQLSTATE: 42613 (line 1, column 27)'))

merge into t using u on a when not matched then insert (x, y) values (1)

Other(references=[t (target), u], error=SqlError('The number of inserted values cannot match the fields. (line 1, column 70)'))

merge into t using u on a when not matched then insert values (1)

Other(references=[t (target), u], error=SqlError("mismatched input 'values' expecting '(' (line 1, column 56)"))

merge into t using u on a when not matched then insert * when matched then delete

Other(references=[t (target), u], error=SqlError("mismatched input 'WHEN': a MATCHED clause may not follow NOT MATCHED (line 1, column 58)"))

delete from t with ('a' = 'b') where id = 1

Other(references=[t (target)], error=SqlError('Columns aliases are not allowed here: with (line 1, column 20)'))

update t with ('a' = 'b') set id = 1

Other(references=[t (target)], error=SqlError('Columns aliases are not allowed here: with (line 1, column 15)'))

merge into t with ('a' = 'b') using s on t.id = s.id when matched then delete

Other(references=[t (target), s], error=SqlError('Columns aliases are not allowed here: with (line 1, column 19)'))

merge into t using s with ('a' = 'b') on t.id = s.id when matched then delete

Other(references=[t (target), s with {'a': 'b'}], error=SqlError('mismatched input: the source of a MERGE is a table or a query in brackets (line 1, column 39)'))
