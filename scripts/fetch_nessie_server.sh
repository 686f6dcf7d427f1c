#!/bin/sh
# Puts Nessie (tests/nessie/pom.xml, one jar of 245 MB) into .oracle/rest, through Maven. ./dev test-stores starts it on Java 21.
set -eu
cd "$(dirname "$0")/.."
target=.oracle/rest
jar=nessie-quarkus-0.99.0-runner.jar

[ -s "$target/$jar" ] && exit 0
command -v mvn >/dev/null 2>&1 || { echo "The tests beside Nessie need Maven to fetch it. Install it (Debian: apt-get install maven) and run this again." >&2; exit 1; }
mkdir -p "$target.nessie.part"
mvn -q -B -f tests/nessie/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/$target.nessie.part" -DincludeScope=runtime
mkdir -p "$target"
mv "$target.nessie.part/$jar" "$target/$jar" # whole, or not there
rmdir "$target.nessie.part"
