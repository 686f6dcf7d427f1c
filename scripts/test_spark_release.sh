#!/bin/sh
# The tests that tell whether icesql works on another release of Spark: the recorded SQL cases, the examples of the documentation, the classes of
# Spark that are called, and a cross-section of the Spark tests. Without those beside Iceberg's own runtime, which there is for one release of Spark
# only. usage: test_spark_release.sh VERSION [--short | pytest arguments]; --short: the selection of CI, some minutes.
set -eu
cd "$(dirname "$0")/.."

version=$1
shift
sh scripts/spark_environment.sh "$version"
python=.venv/spark-$version/bin/python
export PYTHONPATH="$PWD"
export SPARK_SUBMIT_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m" # the archive of classes is another release's
"$python" -c 'import sys, pandas, pyarrow, pyspark
print(f"PySpark {pyspark.__version__}, Python {sys.version.split()[0]}, pandas {pandas.__version__}, pyarrow {pyarrow.__version__}")'

short="tests/sql/test_recorded_cases.py tests/docs tests/spark/test_jvm_classes.py tests/spark/test_scan.py tests/session/test_door.py
    tests/session/test_streams.py tests/examples/test_quickstart.py"
more="tests/spark/test_write.py tests/spark/test_row_level.py tests/spark/test_batches.py tests/spark/test_workers.py tests/spark/test_stream_restarts.py
    tests/session/test_session.py tests/session/test_kept_frames.py tests/procedures/test_maintenance.py tests/examples tests/cli/test_shell.py"
case "${1:-}" in
    "") set -- $short $more ;;
    --short) shift; set -- $short "$@" ;;
esac
exec "$python" -m pytest -q -p no:cacheprovider -m "spark and not interop" "$@"
