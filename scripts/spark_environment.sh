#!/bin/sh
# An environment with another release of PySpark, in .venv/spark-VERSION: it has that release of its own and takes everything else from .venv.
set -eu
cd "$(dirname "$0")/.."

version=$1
environment=.venv/spark-$version
[ "$environment/.installed" -nt pyproject.toml ] && [ "$environment/.installed" -nt scripts/spark_environment.sh ] && exit
rm -rf "${environment:?}"
echo "Installing PySpark $version into $environment ..." >&2
.venv/bin/python -m venv --without-pip "$environment"
packages=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
case "$version" in *.*.*) release="==$version" ;; *) release="==$version.*" ;; esac
.venv/bin/python -m pip install --quiet --disable-pip-version-check --target "$packages" "pyspark$release" # and py4j, as this release wants it
.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' | sed "s/.*/import site; site.addsitedir('&')/" >"$packages/shared.pth"
touch "$environment/.installed"
