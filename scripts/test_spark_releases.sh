#!/bin/sh
# CI's selection on each release of Spark that .venv has not, two at a time; what each printed comes at its end. Fails if one fails.
set -u
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work
printf '%s\n' 4.0 4.2 4.3 | xargs -P 2 -I VERSION sh -c '
    sh scripts/test_spark_release.sh VERSION --short >"$work/VERSION" 2>&1
    code=$?
    cat "$work/VERSION"
    exit $code'
