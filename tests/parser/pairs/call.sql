CALL local.system.rewrite_manifests('db.events')

Call(procedure=local.system.rewrite_manifests, arguments=(CallArgument(name=None, expression="'db.events'", value=string:'db.events')))

call c.system.p(table => 'db.t', snapshot_ids => array(1, 5000000000), options => map('a', 'b', 'c', '1'), older_than => timestamp '2024-01-01 00:00:00', flag => true, n => null)

Call(procedure=c.system.p, arguments=(CallArgument(name='table', expression="'db.t'", value=string:'db.t'), CallArgument(name='snapshot_ids', expression='array(1, 5000000000)', value=array<bigint>:[1, 5000000000]), CallArgument(name='options', expression="map('a', 'b', 'c', '1')", value=map<string,string>:[['a', 'b'], ['c', '1']]), CallArgument(name='older_than', expression="timestamp '2024-01-01 00:00:00'", value=timestamp:'2024-01-01 00:00:00'), CallArgument(name='flag', expression='true', value=boolean:True), CallArgument(name='n', expression='null', value=void:None)))

call system.p(-1, 1.5, 2e3, 5L, X'0aff', date'2020-01-01', cast('2020-01-01' as timestamp), 7::bigint, 'a' 'b', "q")

Call(procedure=system.p, arguments=(CallArgument(name=None, expression='-1', value=int:-1), CallArgument(name=None, expression='1.5', value=decimal(2,1):1.5), CallArgument(name=None, expression='2e3', value=double:2000.0), CallArgument(name=None, expression='5L', value=bigint:5), CallArgument(name=None, expression="X'0aff'", value=binary:b'\n\xff'), CallArgument(name=None, expression="date'2020-01-01'", value=date:'2020-01-01'), CallArgument(name=None, expression="cast('2020-01-01' as timestamp)", value=timestamp:'2020-01-01'), CallArgument(name=None, expression='7::bigint', value=bigint:7), CallArgument(name=None, expression="'a' 'b'", value=string:'ab'), CallArgument(name=None, expression='"q"', value=string:'q')))

call p(now() - interval 1 day, x => (select max(a) from local.db.t), y => 1 + 1)

Call(procedure=p, arguments=(CallArgument(name=None, expression='now() - interval 1 day'), CallArgument(name='x', expression='(select max(a) from local.db.t)'), CallArgument(name='y', expression='1 + 1')), references=[local.db.t])

call p()

Call(procedure=p)

call `my cat`.system.`p`(array(), map())

Call(procedure=my cat.system.p, arguments=(CallArgument(name=None, expression='array()', value=array<void>:[]), CallArgument(name=None, expression='map()', value=map<void,void>:[])))

call p(:name, ?)

Call(procedure=p, arguments=(CallArgument(name=None, expression=':name'), CallArgument(name=None, expression='?')))

call p(a =>)

SqlError("no viable alternative at input ')' (line 1, column 12)")

call p(a

SqlError("mismatched input '<EOF>' expecting {',', ')'} (line 1, column 9)")

call p a

SqlError("mismatched input 'a' expecting '(' (line 1, column 8)")

call local.system.p('a',)

SqlError("no viable alternative at input ')' (line 1, column 25)")
