#!/bin/sh
# Puts AWS's SDK as Iceberg's runtime takes it, iceberg-aws-bundle of the test oracle's release, into .oracle/aws. The product never uses it.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/.*iceberg-spark-runtime[^<]*<\/artifactId><version>\([^<]*\)<.*/\1/p' tests/oracle/pom.xml)
target=.oracle/aws jar=iceberg-aws-bundle-$version.jar
[ -s "$target/$jar" ] && exit 0
mkdir -p "$target"
echo "Fetching $jar, with which the test oracle reads and writes S3 ..." >&2
if command -v mvn >/dev/null 2>&1; then
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
        -Dartifact="org.apache.iceberg:iceberg-aws-bundle:$version" -DoutputDirectory="$PWD/$target"
else
    ivy=.oracle/ivy
    echo 'pass' >.oracle/nothing.py
    .venv/bin/spark-submit --master 'local[1]' --conf spark.ui.enabled=false --conf "spark.jars.ivy=$PWD/$ivy" \
        --packages "org.apache.iceberg:iceberg-aws-bundle:$version" .oracle/nothing.py
    cp "$ivy"/jars/*"$jar" "$target/$jar"
fi
[ -s "$target/$jar" ] || { echo "Cannot fetch $jar into $target: see the output above" >&2; exit 1; }
