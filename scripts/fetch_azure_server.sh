#!/bin/sh
# Puts an Azure Blob server for the tests into .oracle/azurite: Azurite, from npm, at a pinned version.
set -eu
cd "$(dirname "$0")/.."
version=3.35.0
target=.oracle/azurite-$version
[ -x "$target/node_modules/.bin/azurite-blob" ] && exit 0
command -v npm >/dev/null 2>&1 || {
    echo "The tests of object stores need an Azure server, which npm installs. Install Node.js and run this again (Debian: apt-get install npm)." >&2
    exit 1
}
mkdir -p "$target"
echo "Installing Azurite $version, the Azure server of the tests ..." >&2
npm install --silent --no-audit --no-fund --prefix "$target" "azurite@$version"
