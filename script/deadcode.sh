#!/bin/sh
# Finds the functions that cmd/conclave does not reach. Those that are kept
# stand in deadcode.txt, each below its reason; a function that is missing
# there, or reached again, fails. $1 is the command that finds them.
set -eu

dir=$(dirname "$0")
found=$(mktemp)
kept=$(mktemp)
trap 'rm -f "$found" "$kept"' EXIT

$1 ./cmd/conclave | sed -E 's|^(.*)/[^/]*:[0-9]+:[0-9]+: unreachable func: (.*)$|\1 \2|' | LC_ALL=C sort -u >"$found"
grep -v '^#' "$dir/deadcode.txt" | LC_ALL=C sort -u >"$kept"

if ! cmp -s "$found" "$kept"; then
	LC_ALL=C comm -23 "$found" "$kept" | sed 's/^/deadcode: nothing reaches /; s/$/: delete it, or use it/'
	LC_ALL=C comm -13 "$found" "$kept" | sed 's/^/deadcode: take out of deadcode.txt: /'
	exit 1
fi
