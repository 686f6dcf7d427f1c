-- What each change commits: empty changes, operations, WAP, branches, summary properties.

-- case: empty_changes
-- each: v=1,2,3
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p) tblproperties ('format-version'='{v}');
truncate table {ns}.t;
delete from {ns}.t;
delete from {ns}.t where id = 1;
delete from {ns}.t where false;
update {ns}.t set id = 2;
update {ns}.t set id = 2 where false;
insert into {ns}.t select * from {ns}.t;
insert overwrite {ns}.t select * from {ns}.t;
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when matched then delete;
insert into {ns}.t values (1, 'a'), (2, 'b');
insert into {ns}.t select * from {ns}.t where false;
insert overwrite {ns}.t partition (p = 'zz') select id from {ns}.t where false;
delete from {ns}.t where p = 'nope';
delete from {ns}.t where id = 77;
delete from {ns}.t where id % 7 = 6;
delete from {ns}.t where 1 = 0 and id = 1;
update {ns}.t set p = 'x' where id = 77;
update {ns}.t set p = 'x' where false;
merge into {ns}.t t using (select 77 as id) s on t.id = s.id when matched then delete;
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when matched and s.id > 5 then update set id = 9;
merge into {ns}.t t using (select 5 as id where false) s on t.id = s.id when not matched then insert (id) values (s.id);
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: empty_dynamic_and_replace_where
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a'), (2, 'b');
set spark.sql.sources.partitionOverwriteMode = dynamic;
insert overwrite {ns}.t select * from {ns}.t where false;
insert overwrite {ns}.t partition (p = 'a') select id from {ns}.t where false;
select * from {ns}.t;
set spark.sql.sources.partitionOverwriteMode = static;
insert into {ns}.t replace where p = 'a' select * from {ns}.t where false;
select * from {ns}.t;
insert into {ns}.t replace where p = 'zz' select 5, 'zz';
insert into {ns}.t replace where true select 6, 'y';
select * from {ns}.t;
select operation from {ns}.t.snapshots;

-- case: operations_of_merge
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.merge.mode'='{m}');
insert into {ns}.t values (1, 'a');
insert into {ns}.t values (2, 'b');
merge into {ns}.t t using (select 3 as id, 'c' as s) s on t.id = s.id when not matched then insert *;
merge into {ns}.t t using (select 4 as id, 'd' as s) s on t.id = s.id when matched then update set * when not matched then insert *;
merge into {ns}.t t using (select 1 as id, 'x' as s) s on t.id = s.id when matched then update set * when not matched then insert *;
merge into {ns}.t t using (select 2 as id, 'x' as s) s on t.id = s.id when matched then delete;
merge into {ns}.t t using (select 4 as id, 'x' as s) s on t.id = s.id when not matched by source then delete;
select * from {ns}.t;
select operation, summary['spark.merge-into.num-target-rows-copied'] as c, summary['spark.merge-into.num-target-rows-deleted'] as d, summary['spark.merge-into.num-target-rows-updated'] as u, summary['spark.merge-into.num-target-rows-inserted'] as i, summary['spark.merge-into.num-target-rows-matched-updated'] as mu, summary['spark.merge-into.num-target-rows-matched-deleted'] as md, summary['spark.merge-into.num-target-rows-not-matched-by-source-updated'] as nu, summary['spark.merge-into.num-target-rows-not-matched-by-source-deleted'] as nd from {ns}.t.snapshots;

-- case: merge_that_can_take_no_row
create namespace {ns};
create table {ns}.t (id int, p string, n int) using iceberg partitioned by (p);
insert into {ns}.t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
merge into {ns}.t using (select 2 as id) s on false when not matched by source and false then delete;
merge into {ns}.t using (select 2 as id) s on s.id = t.id when not matched by source and 1 = 0 then update set n = 7;
merge into {ns}.t using (select 2 as id) s on s.id = t.id and t.p = 'x' when matched then delete when not matched by source and false then delete;
merge into {ns}.t using (select 2 as id) s on s.id = t.id when matched and false then delete;
select operation, summary['spark.merge-into.num-target-rows-copied'] as c, summary['added-data-files'] as a, summary['deleted-data-files'] as d from {ns}.t.snapshots;

-- case: wap_id
create namespace {ns};
create table {ns}.t (id int, p string) using iceberg partitioned by (p) tblproperties ('write.wap.enabled'='true', 'write.delete.mode'='merge-on-read');
insert into {ns}.t values (1, 'a'), (2, 'b'), (3, 'b');
set spark.wap.id = w1;
insert into {ns}.t values (4, 'c');
select * from {ns}.t;
delete from {ns}.t where p = 'a';
select * from {ns}.t;
delete from {ns}.t where id = 2;
select * from {ns}.t;
truncate table {ns}.t;
select * from {ns}.t;
update {ns}.t set id = 5;
merge into {ns}.t t using (select 9 as id, 'q' as p) s on t.id = s.id when not matched then insert *;
insert overwrite {ns}.t values (8, 'o');
select * from {ns}.t;
reset spark.wap.id;
insert into {ns}.t values (100, 'z');
select operation, summary['wap.id'] as w from {ns}.t.snapshots;
-- error
call local.system.publish_changes('{nsname}.t', 'w1');
-- error
call local.system.publish_changes('{nsname}.t', 'nope');

-- case: wap_publish_twice
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('write.wap.enabled'='true');
insert into {ns}.t values (1);
set spark.wap.id = w7;
insert into {ns}.t values (2);
reset spark.wap.id;
insert into {ns}.t values (3);
call local.system.publish_changes('{nsname}.t', 'w7');
select * from {ns}.t;
-- error
call local.system.publish_changes('{nsname}.t', 'w7');
select operation, summary['wap.id'] as w, summary['published-wap-id'] as p from {ns}.t.snapshots;

-- case: wap_branch
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.wap.enabled'='true');
insert into {ns}.t values (1, 'a');
set spark.wap.branch = audit;
select * from {ns}.t;
insert into {ns}.t values (2, 'b');
select * from {ns}.t;
select * from {ns}.t version as of 'main';
update {ns}.t set s = 'u' where id = 1;
delete from {ns}.t where id = 2;
merge into {ns}.t t using (select 3 as id, 'm' as s) s on t.id = s.id when not matched then insert *;
select * from {ns}.t;
alter table {ns}.t create branch other;
insert into {ns}.t.branch_other values (5, 'e');
select * from {ns}.t.branch_other;
set spark.wap.id = both;
-- error
insert into {ns}.t values (9, 'x');
reset spark.wap.id;
reset spark.wap.branch;
select * from {ns}.t;
-- mask: previous_ref, updated_ref
call local.system.fast_forward('{nsname}.t', 'main', 'audit');
select * from {ns}.t;
set spark.wap.branch=first;
create table {ns}.n using iceberg tblproperties ('write.wap.enabled'='true') as select 1 as id;
select * from {ns}.n;
reset spark.wap.branch;
select * from {ns}.n;

-- case: branch_changes
-- each: m=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.update.mode'='{m}', 'write.delete.mode'='{m}', 'write.merge.mode'='{m}');
insert into {ns}.t select id, 's' || id from range(6);
alter table {ns}.t create branch b;
alter table {ns}.t create tag v1;
update {ns}.t.branch_b set s = 'u' where id < 2;
delete from {ns}.t.branch_b where id = 3;
merge into {ns}.t.branch_b t using (select 4 as id, 'm' as s union all select 10, 'n') s on t.id = s.id when matched then update set s = s.s when not matched then insert *;
select * from {ns}.t.branch_b;
select * from {ns}.t;
insert overwrite {ns}.t.branch_b select 1, 'only';
select * from {ns}.t.branch_b;
delete from {ns}.t.branch_b;
select * from {ns}.t.branch_b;
alter table {ns}.t add column n int;
insert into {ns}.t.branch_b values (7, 'new', 70);
select * from {ns}.t.branch_b;
select * from {ns}.t.tag_v1;
-- error
update {ns}.t.tag_v1 set s = 'x';
-- error
delete from {ns}.t.tag_v1 where id = 1;
-- error
delete from {ns}.t.branch_nope where id = 1;
-- error
merge into {ns}.t.branch_nope t using (select 1 as id) s on t.id = s.id when matched then delete;
-- error
insert into {ns}.t.branch_b with ('branch'='other') values (1, 'a', 1);
insert into {ns}.t with ('branch'='fresh') values (1, 'a', 1);
select * from {ns}.t.branch_fresh;
-- error
insert into {ns}.t with ('branch'='v1') values (1, 'a', 1);
-- error
delete from {ns}.t version as of 1 where id = 1;
-- error
insert into {ns}.t.files values (1);
-- error
delete from {ns}.t.snapshots where snapshot_id = 1;
select operation from {ns}.t.snapshots;

-- case: summary_properties
create namespace {ns};
create table {ns}.t (id int) using iceberg;
set `spark.sql.iceberg.snapshot-property.team` = data;
insert into {ns}.t values (1);
update {ns}.t set id = 2;
delete from {ns}.t where id = 2;
insert into {ns}.t with ('snapshot-property.team'='own', 'snapshot-property.x'='1') values (3);
merge into {ns}.t t using (select 4 as id) s on t.id = s.id when not matched then insert *;
reset `spark.sql.iceberg.snapshot-property.team`;
insert into {ns}.t values (5);
select operation, summary['team'] as team, summary['x'] as x from {ns}.t.snapshots;

-- case: bad_modes_and_levels
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('format-version'='1');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b');
alter table {ns}.t set tblproperties ('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read');
-- error
delete from {ns}.t where id = 1;
-- error
update {ns}.t set s = 'x' where id = 1;
-- error
merge into {ns}.t t using (select 1 as id) s on t.id = s.id when matched then delete;
alter table {ns}.t set tblproperties ('write.delete.mode'='sideways', 'write.update.isolation-level'='loose', 'write.update.mode'='copy-on-write');
-- error
delete from {ns}.t where id = 1;
-- error
update {ns}.t set s = 'x' where id = 1;
alter table {ns}.t set tblproperties ('write.distribution-mode'='circle');
-- error
insert into {ns}.t values (3, 'c');
-- error
insert into {ns}.t with ('write-format'='csv') values (3, 'c');
select * from {ns}.t;

-- case: isolation_snapshot
create namespace {ns};
create table {ns}.t (id int, s string) using iceberg tblproperties ('write.delete.isolation-level'='snapshot', 'write.update.isolation-level'='snapshot', 'write.merge.isolation-level'='snapshot');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c');
delete from {ns}.t where id = 1 or s = 'zzz' || id;
update {ns}.t set s = 'u' where id = 2;
merge into {ns}.t t using (select 3 as id) s on t.id = s.id when matched then update set s = 'm';
-- error: conflicting files
insert overwrite {ns}.t with ('isolation-level'='serializable') values (9, 'z');
-- error
insert overwrite {ns}.t with ('isolation-level'='odd') values (10, 'z');
select * from {ns}.t;
