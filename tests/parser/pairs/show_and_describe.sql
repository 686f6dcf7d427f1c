show tables

ShowTables()

show tables in local.db like 'a*'

ShowTables(namespace=local.db, pattern='a*')

show table extended in db like 't' partition (p = 1)

ShowTables(namespace=db, pattern='t', extended=True, partition='(p = 1)')

show views from db 'v*'

ShowViews(namespace=db, pattern='v*')

show namespaces in local

ShowNamespaces(parent=local)

show databases like 'd'

ShowNamespaces(pattern='d')

show catalogs

ShowCatalogs()

show current namespace

ShowCurrentNamespace()

show tblproperties t

ShowTableProperties(table=t)

show tblproperties t ('a.b')

ShowTableProperties(table=t, key='a.b')

show columns in t in db

ShowColumns(table=t, namespace=db)

show create table t

ShowCreateTable(table=t)

show create table t as serde

ShowCreateTable(table=t, as_serde=True)

show partitions t partition (p = 1)

ShowPartitions(table=t, partition='(p = 1)')

show functions in local.system

ShowFunctions(namespace=local.system)

show system functions like 'a*'

ShowFunctions(kind='SYSTEM', pattern='a*')

show procedures in local.system

ShowProcedures(namespace=local.system)

show cached things

Other()

describe t

DescribeTable(table=t)

desc extended local.db.t

DescribeTable(table=local.db.t, extended=True)

describe table formatted t partition (p=1)

DescribeTable(table=t, extended=True, partition='(p=1)')

describe t s.a

DescribeTable(table=t, column=('s', 'a'))

describe table extended t as json

DescribeTable(table=t, extended=True, as_json=True)

describe history t

DescribeTable(table=history, column=('t'))

describe namespace extended db

DescribeNamespace(namespace=db, extended=True)

describe function local.system.bucket

DescribeFunction(function=local.system.bucket)

describe procedure c.system.x

DescribeProcedure(procedure=c.system.x)

describe query select * from t

DescribeQuery(query='select * from t', references=[t])

desc with q as (select 1) select * from q

DescribeQuery(query='with q as (select 1) select * from q')

describe function

DescribeTable(table=function)

explain select * from local.db.t

Explain(mode=None, body='select * from local.db.t', statement=Query(references=[local.db.t]))

explain pruning select * from t where a = 1

Explain(mode='PRUNING', body='select * from t where a = 1', statement=Query(references=[t]))

explain formatted insert into t select * from u

Explain(mode='FORMATTED', body='insert into t select * from u', statement=Insert(target=t, query=('select * from u'), references=[u]))

explain call p(1)

Explain(mode=None, body='call p(1)', statement=Call(procedure=p, arguments=(CallArgument(name=None, expression='1', value=int:1))))
