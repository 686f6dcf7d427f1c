ALTER TABLE t CREATE BRANCH `audit-branch` AS OF VERSION 1234 RETAIN 30 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS

CreateBranch(table=t, name='audit-branch', snapshot_id=1234, max_ref_age_ms=2592000000, min_snapshots_to_keep=3, max_snapshot_age_ms=172800000)

alter table t create branch if not exists b

CreateBranch(table=t, name='b', if_not_exists=True)

alter table t create or replace branch b retain 2 hours

CreateBranch(table=t, name='b', replace=True, max_ref_age_ms=7200000)

alter table t replace branch b as of version 5 with snapshot retention 10 minutes

CreateBranch(table=t, name='b', create=False, replace=True, snapshot_id=5, max_snapshot_age_ms=600000)

alter table t create branch b with snapshot retention 7 snapshots

CreateBranch(table=t, name='b', min_snapshots_to_keep=7)

alter table t create tag g as of version 9 retain 365 days

CreateTag(table=t, name='g', snapshot_id=9, max_ref_age_ms=31536000000)

alter table t create or replace tag g

CreateTag(table=t, name='g', replace=True)

alter table t replace tag `v1.0`

CreateTag(table=t, name='v1.0', create=False, replace=True)

alter table t create tag if not exists g

CreateTag(table=t, name='g', if_not_exists=True)

alter table t drop branch if exists audit

DropBranch(table=t, name='audit', if_exists=True)

alter table t drop branch b

DropBranch(table=t, name='b')

alter table t drop tag if exists g

DropTag(table=t, name='g', if_exists=True)

alter table t create branch branch

CreateBranch(table=t, name='branch')

alter table t create branch 123

SqlError("no viable alternative at input '123' (line 1, column 29)")

alter table t create branch b retain 5 seconds

SqlError("mismatched input 'seconds' expecting {'DAYS', 'HOURS', 'MINUTES'} (line 1, column 40)")

alter table t create branch a.b

SqlError("mismatched input '.' expecting <EOF> (line 1, column 30)")

alter table t create tag g with snapshot retention 3 snapshots

SqlError("mismatched input 'with' expecting <EOF> (line 1, column 28)")

alter table t set identifier fields id, loc.lon

SetIdentifierFields(table=t, fields=(('id'), ('loc', 'lon')))

alter table t drop identifier fields id

DropIdentifierFields(table=t, fields=(('id')))

alter table t set identifier fields

SqlError("no viable alternative at input '<EOF>' (line 1, column 36)")
