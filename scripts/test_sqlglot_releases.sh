#!/bin/sh
# The parser's tests on the lowest release of sqlglot that pyproject.toml allows, on the newest, and with the compiled sqlglot, imported before
# icesql and after. The releases lie in folders of their own, in front of the one that .venv has.
set -eu
cd "$(dirname "$0")/.."

folder=.venv/sqlglot-releases
lowest=$(sed -n 's/.*"sqlglot>=\([0-9.]*\)".*/\1/p' pyproject.toml)

install() { # name, requirements
    name=$1
    shift
    [ "$folder/$name" -nt pyproject.toml ] && return
    rm -rf "${folder:?}/$name"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$folder/$name" "$@"
    touch "$folder/$name"
}

tests() { # folder, further options of pytest
    release=$1
    shift
    PYTHONPATH="$folder/$release:$PWD" .venv/bin/python -m pytest -q -p no:cacheprovider -m "not spark" \
        tests/parser/test_dialect.py tests/parser/test_entry_point.py tests/parser/test_other_engines.py tests/parser/test_statements.py tests/parser/test_filters.py tests/parser/test_types.py "$@"
}

install lowest "sqlglot==$lowest.0.0"
install split "sqlglot==29.0.1" # its parser keeps what it reads in an object of its own
install newest sqlglot
install compiled sqlglot sqlglotc
for release in lowest split newest compiled; do
    echo "sqlglot, $release: $(PYTHONPATH="$folder/$release" .venv/bin/python -c 'import sqlglot; print(sqlglot.__version__)')"
    tests "$release"
done
echo "sqlglot, compiled, imported before icesql:"
tests compiled -p sqlglot
