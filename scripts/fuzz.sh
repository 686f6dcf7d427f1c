#!/bin/sh
# Fuzz what reads the files of others: scripts/fuzz.sh [seconds in all] [target ...]. Run by ./dev fuzz, which installs what this needs.
#
# The native module is built with clang's address and undefined-behaviour sanitizers and libFuzzer's coverage; Python code is covered by
# atheris. New inputs are kept in .fuzz/, inputs that failed in .fuzz/failed/; those worth keeping go to tests/fuzz/corpus by hand.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-300}
[ $# -gt 0 ] && shift
python=${PYTHON:-.venv/bin/python}
[ $# -gt 0 ] || set -- $("$python" -c "from tests.fuzz.targets import TARGETS; print(*TARGETS)")

module=$PWD/.fuzz/_avro_columns.so
mkdir -p .fuzz/failed
if [ ! "$module" -nt icesql/io/_avro_columns.pyx ]; then
    "$python" -m cython -3 icesql/io/_avro_columns.pyx -o .fuzz/_avro_columns.c
    clang -shared -fPIC -O1 -g -fno-omit-frame-pointer -fwrapv \
        -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=function -fno-sanitize-recover=undefined \
        -I"$("$python" -c "import sysconfig; print(sysconfig.get_path('include'))")" .fuzz/_avro_columns.c -o "$module"
fi

libraries=$("$python" -c "import atheris; print(atheris.path())")
each=$((seconds / $#))
[ "$each" -gt 0 ] || each=1
failed=
for target; do
    mkdir -p ".fuzz/$target"
    LD_PRELOAD=$libraries/asan_with_fuzzer.so \
        ASAN_OPTIONS=detect_leaks=0,allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1,halt_on_error=1 PYTHONMALLOC=malloc \
        ICESQL_FUZZ_MODULE=$module "$python" -m tests.fuzz.run "$target" ".fuzz/$target" "tests/fuzz/corpus/$target" \
        -max_total_time="$each" -timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=600 -max_len=6000 \
        -artifact_prefix=".fuzz/failed/$target-" -print_final_stats=1 -verbosity="${FUZZ_VERBOSITY:-1}" || failed="$failed $target"
done
[ -z "$failed" ] || { echo "Failed:$failed; the inputs are in .fuzz/failed" >&2; exit 1; }
