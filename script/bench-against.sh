#!/bin/sh
# Compares the program as it stands here with that of another commit: builds both
# and lets them do the same work in turns. Which work that is stands in
# bench/against. What is behind the commit's name goes to that command.
#
#   script/bench-against.sh REV [-runs N] [-megabytes N] [-only NAME,…]
set -eu

[ $# -ge 1 ] && [ -n "$1" ] || { echo 'say against what: make bench-against REV=main' >&2; exit 2; }
rev=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "$1 is no commit here" >&2; exit 2; }
shift

temp=$(mktemp -d)
trap 'git worktree remove --force "$temp/tree" 2>/dev/null || true; rm -rf "$temp"' EXIT INT TERM
git worktree add --quiet --detach "$temp/tree" "$rev"
echo "building $(git rev-parse --short "$rev") and what stands here" >&2
(cd "$temp/tree" && CGO_ENABLED=0 go build -trimpath -o "$temp/old" ./cmd/conclave)
CGO_ENABLED=0 go build -trimpath -o "$temp/new" ./cmd/conclave
go build -o "$temp/against" ./bench/against
"$temp/against" "$@" "$temp/old" "$temp/new"
