insert into local.db.t values (1, 'a'), (2, default)

Insert(target=local.db.t, query=("values (1, 'a'), (2, default)"))

insert into table t (a, `b c`) select x, y from s

Insert(target=t, columns=(('a'), ('b c')), query=('select x, y from s'), references=[s])

insert into t by name select * from s version as of 'tag'

Insert(target=t, by_name=True, query=("select * from s version as of 'tag'"), references=[s at version 'tag'])

insert overwrite t partition (p = 'x', q) select 1, 2

Insert(target=t, mode=overwrite, partition=(PartitionValue(column='p', value="'x'"), PartitionValue(column='q')), query=('select 1, 2'))

insert overwrite table t partition (p = 1) if not exists table s

Insert(target=t, mode=overwrite, partition=(PartitionValue(column='p', value='1')), if_not_exists=True, query=('table s'), references=[s (table)])

insert into t with ('branch'='b', 'mergeSchema'='true') select * from s

Insert(target=t, options=(('branch', 'b'), ('mergeSchema', 'true')), query=('select * from s'), references=[s])

insert into t replace where a = 1 and b is distinct from 2 select * from s

Insert(target=t, mode=replace where, where='a = 1 and b is distinct from 2', query=('select * from s'), references=[s])

with q as (select * from s) insert into t select * from q join r on q.a = r.a

Insert(target=t, query=('with q as (select * from s)', 'select * from q join r on q.a = r.a'), references=[s, r])

insert into t with q as (select * from s) select * from q

Insert(target=t, query=('with q as (select * from s) select * from q'), references=[s])

insert into t (select a from s)

Insert(target=t, query=('(select a from s)'), references=[s])

insert into t (from s)

Insert(target=t, query=('(from s)'), references=[s])

from s insert into t select a

Insert(target=t, query=('from s', 'select a'), references=[s])

from s join u on s.a = u.a insert into t select a where b > 1 insert overwrite v partition (p) select b

MultiInsert(inserts=(Insert(target=t, query=('from s join u on s.a = u.a', 'select a where b > 1'), references=[s, u]), Insert(target=v, mode=overwrite, partition=(PartitionValue(column='p')), query=('from s join u on s.a = u.a', 'select b'), references=[s, u])))

insert overwrite directory '/x' using parquet select * from s

Other(references=[s])

insert into identifier('local.db.t') select 1

Insert(target=local.db.t, query=('select 1'))

insert into t.branch_x values (1)

Insert(target=t.branch_x, query=('values (1)'))

insert into t

Other(references=[t (target)], error=SqlError("no viable alternative at input '<EOF>' (line 1, column 14)"))

insert into t partition p select 1

Other(references=[t (target)], error=SqlError("no viable alternative at input 'partition' (line 1, column 15)"))

insert into t with ('a' 'b' 'c', d = true, e = 1.50) values (1)

Insert(target=t, options=(('a', 'bc'), ('d', 'true'), ('e', '1.50')), query=('values (1)'))

insert into t with ('a' = -1) values (1)

Other(references=[t (target)], error=SqlError("no viable alternative at input '-' (line 1, column 27)"))

insert into t with ('a' = 1 + 1) values (1)

Other(references=[t (target)], error=SqlError("mismatched input '+' expecting ',' (line 1, column 29)"))
