create or replace view db.v (a comment 'x', b) comment 'c' tblproperties ('k'='v') as select a, b from t where x = ';'

CreateView(view=db.v, replace=True, columns=(ViewColumn(name='a', comment='x'), ViewColumn(name='b')), comment='c', properties=(('k', 'v')), query="select a, b from t where x = ';'", references=[t])

create view if not exists v as with q as (select * from u) select * from q

CreateView(view=v, if_not_exists=True, query='with q as (select * from u) select * from q', references=[u])

create temporary view v as select * from local.db.t

CreateView(view=v, temporary=True, query='select * from local.db.t', references=[local.db.t])

create global temp view v as table t

CreateView(view=v, temporary=True, global_temporary=True, query='table t', references=[t (table)])

create temporary view v using parquet options (path '/x')

CreateView(view=v, temporary=True, provider='parquet', options=(('path', '/x')), query='')

drop view if exists db.v

DropView(view=db.v, if_exists=True)

alter view v set tblproperties ('a'='b')

AlterViewProperties(view=v, set=(('a', 'b')))

alter view v unset tblproperties if exists ('a')

AlterViewProperties(view=v, unset=('a'), if_exists=True)

alter view v rename to w

RenameView(view=v, new_name=w)

alter view v as select 1 from t

AlterViewAs(view=v, query='select 1 from t', references=[t])

create namespace if not exists local.a.b comment 'c' location '/x' with dbproperties ('k'='v')

CreateNamespace(namespace=local.a.b, if_not_exists=True, comment='c', location='/x', properties=(('k', 'v')))

create database d

CreateNamespace(namespace=d)

drop schema if exists d cascade

DropNamespace(namespace=d, if_exists=True, cascade=True)

drop namespace a.b restrict

DropNamespace(namespace=a.b)

alter namespace n set properties ('a'='b')

AlterNamespace(namespace=n, set=(('a', 'b')))

alter database n unset dbproperties ('a')

AlterNamespace(namespace=n, unset=('a'))

alter schema n set location '/y'

AlterNamespace(namespace=n, location='/y')

comment on table local.db.t is 'it''s'

CommentOn(kind='table', name=local.db.t, comment="it's")

comment on namespace n is null

CommentOn(kind='namespace', name=n)

use local.db

Use(name=local.db)

use namespace db

Use(name=db, namespace_only=True)

use namespace

Use(name=namespace)

set catalog local

UseCatalog(name='local')
