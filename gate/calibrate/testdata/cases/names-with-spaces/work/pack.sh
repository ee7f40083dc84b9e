#!/bin/sh
# pack.sh DIR ARCHIVE: packs the files of a directory
set -eu
out=$PWD/$2
cd "$1"
files=$(find . -type f)
tar -cf "$out" $files
