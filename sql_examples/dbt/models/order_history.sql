{{ config(materialized='incremental', incremental_strategy='merge', unique_key='order_id',
          partition_by=['days(ordered_at)'], tblproperties={'write.merge.mode': 'merge-on-read'}) }}
select order_id, customer_id, ordered_at, status, amount
from {{ ref('orders') }}
{% if is_incremental() %}
where ordered_at >= (select max(ordered_at) - interval 60 days from {{ this }})
{% endif %}
