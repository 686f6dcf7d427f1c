#!/bin/sh
# Makes sure that a PostgreSQL server's programs are on the machine, for the catalog tests. Starts nothing: tests/postgres.py does.
set -eu
if command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    # The package would start a cluster of its own on the default port; the tests want none.
    mkdir -p /etc/postgresql-common
    [ -f /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null
    exit 0
fi
echo "The catalog tests need PostgreSQL's server programs. Install them (Debian: apt-get install postgresql) and run this again." >&2
exit 1
