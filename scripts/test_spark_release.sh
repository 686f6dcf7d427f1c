#!/bin/sh
# The tests that tell whether icesql works on another release of Spark, in an environment of its own: the recorded SQL cases, the examples of the
# documentation, the classes of Spark that are called, and a cross-section of the Spark tests. Without the tests that need Iceberg's own runtime,
# which there is for one release of Spark only.
set -eu
cd "$(dirname "$0")/.."

version=$1
shift
environment=.venv/spark-$version
if [ ! "$environment/.installed" -nt pyproject.toml ]; then
    rm -rf "${environment:?}"
    echo "Installing PySpark $version into $environment ..." >&2
    "$(.venv/bin/python -c 'import sys; print(sys._base_executable)')" -m venv "$environment"
    case "$version" in *.*.*) release="==$version" ;; *) release="==$version.*" ;; esac
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check ".[test-any-spark]" "pyspark$release"
    "$environment/bin/python" -m pip uninstall --quiet --yes icesql # the checkout is tested; it brings the native module
    touch "$environment/.installed"
fi

export PYTHONPATH="$PWD"
"$environment/bin/python" -c 'import sys, pandas, pyarrow, pyspark
print(f"PySpark {pyspark.__version__}, Python {sys.version.split()[0]}, pandas {pandas.__version__}, pyarrow {pyarrow.__version__}")'
[ $# -gt 0 ] || set -- tests/sql/test_recorded_cases.py tests/docs tests/spark/test_jvm_classes.py tests/spark/test_scan.py tests/spark/test_write.py \
    tests/spark/test_row_level.py tests/spark/test_batches.py tests/session/test_session.py tests/session/test_door.py tests/session/test_kept_frames.py \
    tests/session/test_streams.py tests/spark/test_stream_restarts.py \
    tests/procedures/test_maintenance.py tests/examples
exec "$environment/bin/python" -m pytest -q -p no:cacheprovider -m "spark and not interop" "$@"
