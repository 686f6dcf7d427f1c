#!/bin/sh
# Puts a Google Cloud Storage server for the tests into .oracle/bin: fake-gcs-server, built by Go from its pinned release (Go's checksum
# database vouches for it).
set -eu
cd "$(dirname "$0")/.."
version=v1.56.1
target=.oracle/bin
[ -x "$target/fake-gcs-server-$version" ] && exit 0
go=$(command -v go || ls /usr/local/go/bin/go 2>/dev/null || true)
[ -n "$go" ] || {
    echo "The tests of object stores need a Google Cloud Storage server, which Go builds. Install Go 1.26 or newer and run this again (Debian: apt-get install golang-go)." >&2
    exit 1
}
mkdir -p "$target"
echo "Building fake-gcs-server $version, the Google Cloud Storage server of the tests ..." >&2
GOBIN="$PWD/$target" GOFLAGS=-mod=mod "$go" install "github.com/fsouza/fake-gcs-server@$version"
mv "$target/fake-gcs-server" "$target/fake-gcs-server-$version"
