-- The main job, end to end: an events table with hidden partitioning, queried, evolved, maintained and read back in time.
-- Run it with: icesql -f sql_examples/quickstart.sql      (the table ends up in ./warehouse)

CREATE NAMESPACE IF NOT EXISTS local.db;
DROP TABLE IF EXISTS local.db.events PURGE;

CREATE TABLE local.db.events (
  event_time TIMESTAMP NOT NULL COMMENT 'when the device sent it',
  device_id  BIGINT    NOT NULL,
  event_type STRING,
  reading    DOUBLE
) USING iceberg
PARTITIONED BY (days(event_time), bucket(16, device_id));

-- 240,000 events of 1,000 devices over 30 days, the first 20 days in one commit and the rest in a second.
INSERT INTO local.db.events
SELECT timestamp'2021-09-20 00:00:00Z' + make_dt_interval(0, 0, 0, id * 10.8),
       pmod(id * 7919, 1000),
       element_at(array('open', 'click', 'heartbeat', 'close'), cast(pmod(id, 4) + 1 AS INT)),
       pmod(id * 31, 10000) / 100.0D
FROM range(0, 160000, 1, 2);

ALTER TABLE local.db.events CREATE TAG launch RETAIN 365 DAYS;

INSERT INTO local.db.events
SELECT timestamp'2021-09-20 00:00:00Z' + make_dt_interval(0, 0, 0, id * 10.8),
       pmod(id * 7919, 1000),
       element_at(array('open', 'click', 'heartbeat', 'close'), cast(pmod(id, 4) + 1 AS INT)),
       pmod(id * 31, 10000) / 100.0D
FROM range(160000, 240000, 1, 2);

-- One device over a few days: the day and the bucket prune, then the bounds of device_id.
SELECT count(*) AS events, min(event_time) AS first_event, max(event_time) AS last_event, round(sum(reading), 2) AS total
FROM local.db.events
WHERE device_id = 74 AND event_time > timestamp'2021-10-01 10:00:00Z' AND event_time < timestamp'2021-10-04 20:00:00Z';

-- The schema evolves by id: nothing is rewritten.
ALTER TABLE local.db.events ADD COLUMN country STRING COMMENT 'where the device is';
ALTER TABLE local.db.events RENAME COLUMN reading TO measurement;

-- The partitioning evolves too: old files keep their spec, new ones get the new field.
ALTER TABLE local.db.events ADD PARTITION FIELD country;

INSERT INTO local.db.events
SELECT timestamp'2021-10-20 00:00:00Z' + make_dt_interval(0, 0, 0, id * 43.2),
       pmod(id, 1000), 'open', 1.0D, element_at(array('CH', 'DE', 'JP'), cast(pmod(id, 3) + 1 AS INT))
FROM range(0, 4000, 1, 2);

INSERT INTO local.db.events VALUES
  (timestamp'2021-10-02 12:00:00Z', 74, 'late', 42.0D, 'CH'),
  (timestamp'2021-10-03 12:00:00Z', 74, 'late', NULL, NULL);

SELECT country, count(*) AS events, round(avg(measurement), 3) AS average
FROM local.db.events GROUP BY country ORDER BY country NULLS FIRST;

-- Late events sit in manifests of their own; clustering by partition brings them back beside their day.
CALL local.system.rewrite_manifests('db.events');

SELECT operation, summary['added-records'] AS added_records, summary['total-records'] AS total_records
FROM local.db.events.snapshots ORDER BY committed_at;

SELECT spec_id, count(*) AS files, sum(record_count) AS records FROM local.db.events.files GROUP BY spec_id ORDER BY spec_id;

SELECT partition_spec_id, sum(added_data_files_count + existing_data_files_count) AS files
FROM local.db.events.manifests GROUP BY partition_spec_id ORDER BY partition_spec_id;

-- Back in time: the table as the first commit left it, under the schema of that time (country was not there, measurement was reading).
SELECT count(*) AS events, count(DISTINCT device_id) AS devices, round(max(reading), 2) AS highest FROM local.db.events VERSION AS OF 'launch';

-- The same device and days again, over both partition specs: what was pruned, and why, is in the line below the result.
SELECT count(*) AS events, round(sum(measurement), 2) AS total
FROM local.db.events
WHERE device_id = 74 AND event_time > timestamp'2021-10-01 10:00:00Z' AND event_time < timestamp'2021-10-04 20:00:00Z';
EXPLAIN PRUNING SELECT * FROM local.db.events
WHERE device_id = 74 AND event_time > timestamp'2021-10-01 10:00:00Z' AND event_time < timestamp'2021-10-04 20:00:00Z';
