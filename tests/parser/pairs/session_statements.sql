set

SetConfiguration()

set -v

SetConfiguration(verbose=True)

set spark.a.b=x y 'z'

SetConfiguration(key='spark.a.b', value="x y 'z'")

set spark.a.b

SetConfiguration(key='spark.a.b')

set `a b` = 5

SetConfiguration(key='a b', value='5')

set time zone 'UTC'

Other()

set var x = (select max(a) from local.db.t)

Other(references=[local.db.t])

reset

ResetConfiguration()

reset spark.a

ResetConfiguration(key='spark.a')

refresh table t

RefreshTable(table=t)

refresh function f

Other()

cache table t

CacheTable(table=t)

cache lazy table v options ('storageLevel'='DISK_ONLY') as select * from t

CacheTable(table=v, lazy=True, options=(('storageLevel', 'DISK_ONLY')), query='select * from t', references=[t])

uncache table if exists t

UncacheTable(table=t, if_exists=True)

analyze table t compute statistics for all columns

AnalyzeTable(table=t)

analyze tables in db compute statistics

AnalyzeTable(tables_in=db)

load data inpath '/x' into table t

RefusedTableCommand(table=t, form='LOAD DATA')

msck repair table t

RefusedTableCommand(table=t, form='MSCK REPAIR TABLE')

begin

BeginTransaction()

start transaction

BeginTransaction()

begin work

BeginTransaction()

commit

CommitTransaction()

rollback

RollbackTransaction()

begin select * from t; end

Other(references=[t])

execute immediate 'select 1' using 5

ExecuteImmediate(sql='select 1', rest='using 5')

optimize local.db.t

Other()

declare variable x int default 5

Other()

SET spark.empty =

SetConfiguration(key='spark.empty', value='')
