#!/bin/sh
# Puts an S3 server for the tests into .oracle/bin: versitygw, built by Go from its pinned release (Go's checksum database vouches for it).
set -eu
cd "$(dirname "$0")/.."
version=v1.8.0
target=.oracle/bin
[ -x "$target/versitygw-$version" ] && exit 0
go=$(command -v go || ls /usr/local/go/bin/go 2>/dev/null || true)
[ -n "$go" ] || {
    echo "The tests of object stores need an S3 server, which Go builds. Install Go 1.24 or newer and run this again (Debian: apt-get install golang-go)." >&2
    exit 1
}
mkdir -p "$target"
echo "Building versitygw $version, the S3 server of the tests ..." >&2
GOBIN="$PWD/$target" GOFLAGS=-mod=mod "$go" install "github.com/versity/versitygw/cmd/versitygw@$version"
mv "$target/versitygw" "$target/versitygw-$version"
