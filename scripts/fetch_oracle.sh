#!/bin/sh
# Puts the test oracle's jars (tests/oracle/pom.xml) into .oracle/jars: through Maven, or through Spark's own --packages where mvn is missing.
set -eu
cd "$(dirname "$0")/.."
target=.oracle/jars
wanted="iceberg-spark-runtime-4.1_2.13-1.12.0.jar sqlite-jdbc-3.50.3.0.jar postgresql-42.7.7.jar"

have_all() {
    [ "$(ls "$target" | grep -c iceberg-spark-runtime)" = 1 ] || return 1  # two of them would be loaded side by side
    for jar in $wanted; do [ -s "$target/$jar" ] || return 1; done
}

have_all && exit 0
mkdir -p "$target"
rm -f "$target"/iceberg-spark-runtime-*.jar
if command -v mvn >/dev/null 2>&1; then
    mvn -q -B -f tests/oracle/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/$target" -DincludeScope=runtime
else
    ivy=.oracle/ivy
    packages=org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0,org.xerial:sqlite-jdbc:3.50.3.0,org.postgresql:postgresql:42.7.7
    echo 'pass' > .oracle/nothing.py
    .venv/bin/spark-submit --master 'local[1]' --conf spark.ui.enabled=false --conf "spark.jars.ivy=$PWD/$ivy" --packages "$packages" .oracle/nothing.py
    for jar in $wanted; do cp "$ivy"/jars/*"${jar}" "$target/$jar"; done
fi
have_all || { echo "Cannot fetch the test oracle's jars into $target: see the output above" >&2; exit 1; }
