select 1

Query()

values (1), (2)

Query()

table local.db.t

Query(references=[local.db.t (table)])

from t select a

Query(references=[t])

(select * from a) union all (select * from b) intersect table c

Query(references=[a, b, c (table)])

with a as (select * from a), b as (select * from a, c) select * from b, a, d

Query(references=[a, c, d])

with recursive r as (select 1 as n union all select n + 1 from r, t where n < 5) select * from r

Query(references=[t])

select * from t for version as of 'x' a, u for system_time as of '2020-01-01' tablesample (5 percent) b, lateral (select * from v where v.a = a.a) l

Query(references=[t as a at version 'x', u as b at timestamp '2020-01-01', v])

select * from t timestamp as of current_timestamp() - interval '1' day where x

Query(references=[t at timestamp current_timestamp() - interval '1' day])

select * from t timestamp as of date_sub(current_date(), 1) as q (c1, c2)

Query(references=[t as q at timestamp date_sub(current_date(), 1)])

select extract(year from ts), trim(both 'x' from y), a is not distinct from b, (select 1 from u) from t

Query(references=[u, t])

select * from range(5), explode(array(1)) e, my.func(table x.y), f(table(select * from z))

Query(references=[x.y (table), z])

select * from t lateral view outer explode(x) y as a, b where c in (select d from e) and exists (from f select 1)

Query(references=[t, e, f])

select * from t pivot (sum(a) for b in ('x', 'y')) p join u using (id) left anti join v on p.a = v.a

Query(references=[t, u, v])

from t |> where a = 1 |> join u on t.id = u.id |> aggregate sum(a), max(b) group by c, d |> select c, d

Query(references=[t, u])

select * from parquet.`/data/x`, `local`.`d.b`.`t``x`

Query(references=[parquet./data/x, local.d.b.t`x])

select * from t with ('split-size'='5', k = 'v') x natural join (u cross join w)

Query(references=[t as x with {'split-size': '5', 'k': 'v'}, u, w])

select count(*) from a left semi join b on a.x = b.x, c group by a, b having max(d) > (select avg(e) from g) order by h, i limit 5

Query(references=[a, b, c, g])

select /*+ broadcast(db.t), merge(u) */ db.t.id from db.t, u

Query(references=[db.t, u])

select t.from, u.table, v.join from t, u, v

Query(references=[t, u, v])

select * from identifier('a.' || 'b') x, identifier(:name) y

Query(references=[a.b as x,  as y])

select transform(a, b) using 'cat' as (c, d) from t

Query(references=[t])

select if(a, b, c), case when d then (select e from f) end from (select * from g) as h

Query(references=[f, g])

select * from t version as of 5 version

Query(references=[t as version at version 5])

select * from t qualify row_number() over (partition by a, b order by c) = 1

Query(references=[t])

select * from (values (1, 2)) as x (a, b), t

Query(references=[t])

select * from a tablesample (10 rows) repeatable (5) join b

Query(references=[a, b])

select 'unclosed

SqlError('Cannot parse statement: the string that begins here never ends (line 1, column 8)')

select 1 /* unclosed

SqlError('Found an unclosed bracketed comment. Please, append */ at the end of the comment. (line 1, column 10)')

frobnicate the table t

Other(references=[t (table)])

select * from t with ('a' = 1 + 1) x

Query(references=[t])

select * from t with ('a') x

Query(references=[t])

--- aliases that are keywords
select * from db.order order where order.id = 1

Query(references=[db.order as order])

select * from db.order order order by id

Query(references=[db.order as order])

select * from db.t order by id

Query(references=[db.t])

select * from db.t where

Query(references=[db.t as where])

select * from db.t where where left(a, 1) = 'x'

Query(references=[db.t as where])

select * from db.t where left(a, 1) = 'x'

Query(references=[db.t])

select * from a limit join b window on limit.id = window.id limit 5

Query(references=[a as limit, b as window])

select * from (select * from a group) x, c values union select * from d set

Query(references=[a as group, c as values, d as set])

select * from a limit limit 1

Query(references=[a as limit])

select * from a where limit = 1

Query(references=[a])
