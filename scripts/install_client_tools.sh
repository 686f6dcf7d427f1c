#!/bin/sh
# Makes sure of the programs that the tests of the REST catalog server run: Maven (Iceberg's compatibility kit), and curl, jq, Node and Go
# (the light clients).
set -eu
missing=
for pair in mvn:maven curl:curl jq:jq node:nodejs npm:npm go:golang-go; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    # shellcheck disable=SC2086 - a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    exit 0
fi
echo "The tests of the REST catalog server need more programs. Install them (Debian: apt-get install$missing) and run this again." >&2
exit 1
