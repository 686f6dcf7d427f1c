#!/bin/sh
# An environment for dbt in .venv/dbt: what it asks of its dependencies is its own. dbt-core 1.12 fetches a part of itself from GitHub when it is installed.
set -eu
cd "$(dirname "$0")/.."
environment=.venv/dbt
[ ! "$environment/.installed" -nt scripts/install_dbt.sh ] || exit 0
rm -rf "${environment:?}"
echo "Installing dbt into $environment ..." >&2
"$(.venv/bin/python -c 'import sys; print(sys._base_executable)')" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "dbt-core>=1.11,<1.12" "dbt-spark[PyHive]>=1.11,<1.12"
touch "$environment/.installed"
