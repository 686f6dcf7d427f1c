select *
from (select sum(amount) as amount from {{ ref('customer_totals') }}) as t
join (select sum(amount) as amount from {{ ref('recent_orders') }}) as r on t.amount <> r.amount
