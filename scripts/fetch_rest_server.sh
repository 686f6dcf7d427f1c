#!/bin/sh
# Puts Iceberg's own REST catalog server (tests/rest/pom.xml, one jar of 212 MB) into .oracle/rest, through Maven. The tests marked slow start it.
set -eu
cd "$(dirname "$0")/.."
target=.oracle/rest
jar=iceberg-open-api-1.10.1.jar

[ -s "$target/$jar" ] && exit 0
command -v mvn >/dev/null 2>&1 || { echo "The REST catalog tests need Maven to fetch Iceberg's server. Install it (Debian: apt-get install maven) and run this again." >&2; exit 1; }
mkdir -p "$target.part"
mvn -q -B -f tests/rest/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/$target.part" -DincludeScope=runtime
mkdir -p "$target"
mv "$target.part/$jar" "$target/$jar" # whole, or not there
rmdir "$target.part"
