#!/bin/sh
# Makes sure that Chromium is on the machine, for the tests that look at what a notebook shows. tests/magic/browser.py starts it.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
    exit 0
fi
echo "The notebook tests need Chromium. Install it (Debian: apt-get install chromium; Fedora: dnf install chromium) and run this again." >&2
exit 1
