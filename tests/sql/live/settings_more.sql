-- Every write option, table property and setting of the session that a write or a scan asks: values that work, and values that are refused.

-- case: modes_of_distribution
create namespace {ns};
create table {ns}.t (id int, s string, p int) using iceberg partitioned by (p) tblproperties ('write.summary.partition-limit'='5');
insert into {ns}.t values (1, 'a', 0), (2, 'b', 1);
select summary['partition-summaries-included'], summary['changed-partition-count'], summary['partitions.p=0'] like 'added-data-files=1,added-records=1%' from {ns}.t.snapshots;
-- error: Invalid distribution mode
insert into {ns}.t with ('distribution-mode'='') values (3, 'c', 0);
insert into {ns}.t with ('distribution-mode'='Range') values (3, 'c', 0);
insert into {ns}.t with ('distribution-mode'='none') values (4, 'd', 0);
set `spark.sql.iceberg.distribution-mode` = nope;
-- error: Invalid distribution mode: nope
insert into {ns}.t values (4, 'd', 0);
-- error: Invalid distribution mode: nope
update {ns}.t set s = 'q' where id = 2;
reset `spark.sql.iceberg.distribution-mode`;
alter table {ns}.t set tblproperties ('write.update.distribution-mode'='range', 'write.merge.distribution-mode'='none');
update {ns}.t set s = 'u' where id = 2;
merge into {ns}.t t using (select 3 as id) s on t.id = s.id when matched then update set s = 'm';
alter table {ns}.t set tblproperties ('write.distribution-mode'='none', 'write.spark.fanout.enabled'='true');
insert into {ns}.t select cast(id as int), 's', cast(id % 3 as int) from range(0, 9, 1, 1);
select * from {ns}.t;

-- case: wap_and_named_branches
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('write.wap.enabled'='true');
insert into {ns}.t values (1);
set spark.wap.branch = w;
insert into {ns}.t values (2);
insert into {ns}.t with ('branch'='other') values (5);
set spark.wap.id = i;
-- error: Cannot set both WAP ID and branch
select * from {ns}.t;
-- error: Cannot set both WAP ID and branch
insert into {ns}.t values (3);
insert into {ns}.t.branch_main values (6);
reset spark.wap.branch;
insert into {ns}.t.branch_w values (7);
reset spark.wap.id;
select * from {ns}.t;
select * from {ns}.t.branch_w;
select operation, summary['wap.id'] as w from {ns}.t.snapshots;
alter table {ns}.t create tag w2;
set spark.wap.branch = w2;
-- error
insert into {ns}.t values (8);
select name, type from {ns}.t.refs;

-- case: keys_of_summaries
create namespace {ns};
create table {ns}.t (id int) using iceberg;
-- error: Multiple entries with same key: total-records=1 and total-records=77
insert into {ns}.t with ('snapshot-property.total-records'='77') values (1);
-- error: Multiple entries with same key: added-records=1 and added-records=77
insert into {ns}.t with ('snapshot-property.added-records'='77') values (1);
insert into {ns}.t with ('snapshot-property.operation'='mine', 'snapshot-property.'='e') values (1);
select operation, summary['operation'], summary[''] from {ns}.t.snapshots;
set `spark.sql.iceberg.snapshot-property.a` = 1;
set `spark.sql.iceberg.snapshot-property.B.c` = 2;
insert overwrite {ns}.t values (2);
truncate table {ns}.t;
create table {ns}.c using iceberg as select 1 as id;
select operation, summary['a'] a, summary['B.c'] b from {ns}.t.snapshots;
select operation, summary['a'] a from {ns}.c.snapshots;
reset `spark.sql.iceberg.snapshot-property.a`;
reset `spark.sql.iceberg.snapshot-property.B.c`;

-- case: properties_of_files
create namespace {ns};
create table {ns}.t (id int) using iceberg;
alter table {ns}.t set tblproperties ('write.parquet.row-group-size-bytes'='0');
-- error: Row group size must be > 0
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.row-group-size-bytes'='1000000', 'write.parquet.page-version'='v9');
-- error: page version
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.page-version'='v2', 'write.parquet.page-size-bytes'='100', 'write.parquet.dict-size-bytes'='100', 'write.parquet.page-row-limit'='10', 'write.parquet.compression-codec'='lz4_raw');
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.format.default'='orc', 'write.orc.stripe-size-bytes'='1000', 'write.orc.compression-strategy'='nope');
-- error: compression strategy
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.orc.compression-strategy'='compression', 'write.orc.bloom.filter.columns'='id', 'write.orc.bloom.filter.fpp'='2');
-- error: Bloom filter fpp
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.orc.bloom.filter.fpp'='0.1', 'write.orc.compression-codec'='zstd');
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.format.default'='avro', 'write.avro.compression-codec'='zstd', 'write.avro.compression-level'='3');
insert into {ns}.t values (1);
select lower(file_format), count(*) from {ns}.t.files group by 1;
alter table {ns}.t set tblproperties ('write.metadata.compression-codec'='gzip', 'write.metadata.delete-after-commit.enabled'='true', 'write.metadata.previous-versions-max'='2', 'write.manifest.compression-codec'='zstd', 'commit.manifest.min-count-to-merge'='2');
insert into {ns}.t values (1);
select count(*) from {ns}.t.metadata_log_entries;
-- error: Invalid codec name: nope
alter table {ns}.t set tblproperties ('write.metadata.compression-codec'='nope');
-- error
alter table {ns}.t set tblproperties ('format-version'=' 2');
-- error: DUPLICATE_KEY
alter table {ns}.t unset tblproperties ('a', 'a');
select * from {ns}.t;

-- case: places_of_files
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p) tblproperties ('write.object-storage.enabled'='true', 'write.object-storage.partitioned-paths'='false');
insert into {ns}.t values (1, 0);
select count(*) from {ns}.t.files where file_path not like '%p=0%';
alter table {ns}.t set tblproperties ('write.data.path'='{loc}/t/other', 'write.object-storage.enabled'='false');
insert into {ns}.t values (1, 0);
select count(*) from {ns}.t.files where file_path like '%/t/other/p=0/%';
-- error: cannot relocate metadata
alter table {ns}.t set tblproperties ('write.metadata.path'='{loc}/t/meta2');
alter table {ns}.t set tblproperties ('write.location-provider.impl'='x.Y');
-- error: x.Y
insert into {ns}.t values (1, 0);

-- case: granularity_of_deletes
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('write.delete.mode'='merge-on-read', 'write.delete.granularity'='nope');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1), (2), (3);
-- error: Unknown delete granularity: nope
delete from {ns}.t where id = 1;
alter table {ns}.t set tblproperties ('write.delete.granularity'='Partition', 'write.delete.isolation-level'='Snapshot');
delete from {ns}.t where id = 2;
select * from {ns}.t;

-- case: incremental_and_versions
create namespace {ns};
create table {ns}.t (id int) using iceberg;
insert into {ns}.t values (1);
-- set: first
select snapshot_id from {ns}.t.snapshots;
insert into {ns}.t values (2);
-- error: Cannot use time travel in incremental scan
select * from {ns}.t with ('start-snapshot-id'='{first}', 'versionAsOf'='{first}');
-- error: Cannot use time travel in incremental scan
select * from {ns}.t version as of {first} with ('start-snapshot-id'='{first}');
select * from {ns}.t version as of 'main' with ('start-snapshot-id'='{first}');
select * from {ns}.t with ('start-snapshot-id'='{first}', 'branch'='main');

-- case: sizes_of_splits
-- each: v=target-size,planning-lookback,open-file-cost
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p) tblproperties ('read.split.{v}'='x');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 1), (2, 1), (3, 2);
-- error: must have integer value
select * from {ns}.t where p = 77;
select * from {ns}.t where false;
select count(*), max(id) from {ns}.t;
-- error: must have integer value
select p, max(id) from {ns}.t group by p;
-- error: must have integer value
select * from {ns}.t with ('split-size'='1000', 'lookback'='5', 'file-open-cost'='100');
-- error: must have integer value
select * from {ns}.t.changes;
-- error: must have integer value
select count(*) from {ns}.t.position_deletes;
-- error: must have integer value
insert into {ns}.t select * from {ns}.t;
-- error: must have integer value
create table {ns}.u using iceberg as select * from {ns}.t;
-- error: must have integer value
call local.system.rewrite_data_files('{nsname}.t', strategy => 'sort', sort_order => 'id', options => map('rewrite-all', 'true'));
-- error: must have integer value
call local.system.compute_table_stats('{nsname}.t');
delete from {ns}.t where p = 2;
alter table {ns}.t set tblproperties ('read.split.{v}'='-1');
-- error: must be >
select * from {ns}.t;
select * from {ns}.t with ('split-size'='1000', 'lookback'='5', 'file-open-cost'='100');
alter table {ns}.t unset tblproperties ('read.split.{v}');

-- case: sizes_of_splits_of_metadata
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('read.split.metadata-target-size'='x');
insert into {ns}.t values (1);
-- error: must have integer value
select count(*) from {ns}.t.files;
-- error: must have integer value
select operation from {ns}.t.snapshots;
select count(*) from {ns}.t.position_deletes;
select id from {ns}.t.changes;
select * from {ns}.t;
alter table {ns}.t set tblproperties ('read.split.metadata-target-size'='1', 'read.split.planning-lookback'='0');
-- error: must be > 0
select count(*) from {ns}.t.files;
-- error: must be > 0
call local.system.rewrite_data_files('{nsname}.t', options => map('rewrite-all', 'true'));
alter table {ns}.t unset tblproperties ('read.split.metadata-target-size', 'read.split.planning-lookback');

-- case: sizes_of_batches
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('read.parquet.vectorization.batch-size'='x');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1), (2);
-- error: batch-size
select * from {ns}.t;
select * from {ns}.t with ('batch-size'='10');
select id from {ns}.t.changes;
alter table {ns}.t set tblproperties ('read.parquet.vectorization.enabled'='false');
select * from {ns}.t;

-- case: numbers_of_manifests
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('commit.manifest.min-count-to-merge'='x');
-- error: must have integer value
insert into {ns}.t values (1);
-- error: must have integer value
delete from {ns}.t;
alter table {ns}.t set tblproperties ('commit.manifest.min-count-to-merge'='0', 'commit.manifest.target-size-bytes'='x');
-- error: must have integer value
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('commit.manifest.target-size-bytes'='0', 'write.summary.partition-limit'='x');
-- error: must have integer value
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.summary.partition-limit'='-1', 'write.avro.compression-codec'='nope');
insert into {ns}.t values (1);
insert into {ns}.t values (2);
-- error
call local.system.rewrite_manifests('{nsname}.t');
-- error: must have integer value
alter table {ns}.t set tblproperties ('write.metadata.metrics.max-inferred-column-defaults'='x');
alter table {ns}.t set tblproperties ('write.metadata.metrics.max-inferred-column-defaults'='-1', 'history.expire.max-snapshot-age-ms'='x');
-- error: must have integer value
call local.system.expire_snapshots('{nsname}.t');
-- error: must have integer value
create table {ns}.u (id int) using iceberg tblproperties ('write.metadata.metrics.max-inferred-column-defaults'='x');
select * from {ns}.t;

-- case: numbers_of_parquet
-- each: v=row-group-check-min-record-count,row-group-check-max-record-count,bloom-filter-max-bytes,page-size-bytes,page-row-limit,dict-size-bytes
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('write.parquet.{v}'='x');
-- error: must have integer value
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.{v}'='0');
-- error: must be > 0
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.{v}'='200000');
insert into {ns}.t with ('write-format'='avro') values (1);

-- case: more_numbers_of_files
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('write.parquet.row-group-check-min-record-count'='20000', 'write.parquet.bloom-filter-enabled.column.id'='true');
-- error: must be >= minimal
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.row-group-check-min-record-count'='10', 'write.parquet.bloom-filter-fpp.column.id'='x');
-- error: must have numeric value
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.bloom-filter-fpp.column.id'='0.1', 'write.parquet.bloom-filter-ndv.column.id'='x');
-- error: must have integer value
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.bloom-filter-ndv.column.id'='10', 'write.parquet.variant-inference-buffer-size'='x');
-- error: must have integer value
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.variant-inference-buffer-size'='0', 'write.parquet.shred-variants'='true', 'write.parquet.compression-level'='99');
insert into {ns}.t values (1);
alter table {ns}.t set tblproperties ('write.parquet.compression-level'='-200000');
insert into {ns}.t values (2);
alter table {ns}.t set tblproperties ('write.parquet.compression-codec'='gzip');
-- error: compression level
insert into {ns}.t values (3);
alter table {ns}.t set tblproperties ('write.format.default'='orc', 'write.orc.block-size-bytes'='0');
-- error: Block size must be > 0
insert into {ns}.t values (3);
alter table {ns}.t set tblproperties ('write.orc.block-size-bytes'='1', 'write.orc.vectorized.batch-size'='x');
-- error: must have integer value
insert into {ns}.t values (3);
alter table {ns}.t set tblproperties ('write.format.default'='avro', 'write.avro.compression-level'='10');
-- error: gzip has no compression level 10
insert into {ns}.t values (3);
alter table {ns}.t set tblproperties ('write.avro.compression-level'='0');
insert into {ns}.t values (3);
select * from {ns}.t;
create table {ns}.v (v variant) using iceberg tblproperties ('format-version'='3', 'write.parquet.shred-variants'='true', 'write.parquet.variant-inference-buffer-size'='0');
-- error: bufferRowCount must be > 0
insert into {ns}.v select parse_json('1');

-- case: modes_of_distribution_of_changes
-- each: v=copy-on-write,merge-on-read
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p) tblproperties ('write.delete.mode'='{v}', 'write.update.mode'='{v}', 'write.merge.mode'='{v}', 'write.delete.distribution-mode'='nope', 'write.update.distribution-mode'='nope2', 'write.merge.distribution-mode'='nope3');
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 1), (2, 1), (3, 2);
delete from {ns}.t where p = 2;
delete from {ns}.t where id = 99;
delete from {ns}.t where false;
-- error: Invalid distribution mode: nope
delete from {ns}.t where id = 1;
-- error: Invalid distribution mode: nope
delete from {ns}.t where id + p = 100;
-- error: Invalid distribution mode: nope2
update {ns}.t set id = 2 where false;
-- error: Invalid distribution mode: nope2
update {ns}.t set id = 2 where id = 2;
-- error: Invalid distribution mode: nope3
merge into {ns}.t t using (select 9 as id) s on t.id = s.id when matched then delete;
-- error: Invalid distribution mode: nope3
merge into {ns}.t t using (select 9 as id) s on t.id = s.id when not matched by source then delete;
merge into {ns}.t t using (select 9 as id) s on t.id = s.id when not matched then insert (id, p) values (s.id, 3);
alter table {ns}.t set tblproperties ('write.distribution-mode'='nope4');
-- error: Invalid distribution mode: nope4
merge into {ns}.t t using (select 8 as id) s on t.id = s.id when not matched then insert (id, p) values (s.id, 3);
select * from {ns}.t;

-- case: sizes_of_splits_that_are_none
-- each: v=split.target-size,split.planning-lookback,split.open-file-cost
create namespace {ns};
create table {ns}.t (id int, p int) using iceberg partitioned by (p);
insert into {ns}.t select /*+ coalesce(1) */ * from values (1, 1), (2, 1), (3, 2);
alter table {ns}.t set tblproperties ('read.{v}'='x');
insert into {ns}.t select count(*), max(p) from {ns}.t;
insert overwrite {ns}.t select count(*), 1 as p from {ns}.t where false;
create table {ns}.d as select count(*) c, min(id) m from {ns}.t;
create or replace table {ns}.d as select max(c) c from {ns}.d;
select * from {ns}.d;
-- error: must have integer value
insert into {ns}.t select * from {ns}.t;
-- error: must have integer value
update {ns}.t set id = 1 where false;
delete from {ns}.t where false;
-- error: must have integer value
merge into {ns}.t t using (select 9 as id) s on false when matched then delete;
merge into {ns}.t t using (select 9 as id) s on false when not matched then insert (id, p) values (s.id, 3);
create table {ns}.mor (id int, p int) using iceberg tblproperties ('read.{v}'='x', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read');
insert into {ns}.mor values (1, 1);
update {ns}.mor set id = 1 where false;
merge into {ns}.mor t using (select 9 as id) s on false when matched then delete;
alter table {ns}.mor unset tblproperties ('read.{v}');
alter table {ns}.t unset tblproperties ('read.{v}');
select * from {ns}.t;

-- case: sizes_of_splits_that_are_none_for_procedures
-- each: v=split.planning-lookback,split.open-file-cost
create namespace {ns};
create table {ns}.t (id int) using iceberg tblproperties ('read.{v}'='x');
insert into {ns}.t values (1);
-- error: must have integer value
call local.system.expire_snapshots('{nsname}.t');
-- error: must have integer value
call local.system.remove_orphan_files('{nsname}.t');
-- error
call local.system.rewrite_table_path(table => '{nsname}.t', source_prefix => '{wh}', target_prefix => '/elsewhere');
alter table {ns}.t unset tblproperties ('read.{v}');

-- case: sizes_of_delete_files_that_are_none
-- each: v=x,99999999999999999999
create namespace {ns};
create table {ns}.m (id int, p int) using iceberg partitioned by (p) tblproperties ('write.delete.target-file-size-bytes'='{v}', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read');
insert into {ns}.m select /*+ coalesce(1) */ * from values (1, 1), (2, 1), (3, 2);
delete from {ns}.m where false;
delete from {ns}.m where p = 2;
-- error
delete from {ns}.m where id = 1;
-- error
update {ns}.m set id = 7 where false;
-- error
merge into {ns}.m t using (select 9 as id) s on t.id = s.id when matched then delete;
merge into {ns}.m t using (select 9 as id) s on t.id = s.id when not matched then insert (id, p) values (s.id, 3);
alter table {ns}.m set tblproperties ('format-version'='3');
-- error
delete from {ns}.m where id = 1;
create table {ns}.c (id int, p int) using iceberg tblproperties ('write.delete.target-file-size-bytes'='{v}');
insert into {ns}.c select /*+ coalesce(1) */ * from values (1, 1), (2, 2), (3, 3);
update {ns}.c set id = 7 where id = 2;
delete from {ns}.c where id = 3;
