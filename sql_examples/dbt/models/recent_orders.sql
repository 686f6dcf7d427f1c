-- a view: what is placed or shipped
select order_id, customer_id, ordered_at, status, amount
from {{ ref('orders') }}
where status in ('placed', 'shipped')
