#!/bin/sh
# One real case for conclave gate, from a change to a checked receipt, without a
# model: docs/gate.md shows what this prints, and a test compares the two.
#
#	script/gate-example.sh              with the conclave on PATH
#	CONCLAVE=build/conclave script/gate-example.sh
#
# It works in a directory of its own, with a home of its own, and removes both.
set -eu

program=$(command -v "${CONCLAVE:-conclave}") || {
	echo "gate-example: no conclave on PATH; name it: CONCLAVE=build/conclave $0" >&2
	exit 3
}
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" XDG_CONFIG_HOME="$dir/home/.config" XDG_CACHE_HOME="$dir/home/.cache"
export XDG_DATA_HOME="$dir/home/.local/share" XDG_STATE_HOME="$dir/home/.local/state"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C.UTF-8
export GIT_AUTHOR_NAME=Example GIT_AUTHOR_EMAIL=example@example.org GIT_AUTHOR_DATE='2026-01-05T12:00:00Z'
export GIT_COMMITTER_NAME=Example GIT_COMMITTER_EMAIL=example@example.org GIT_COMMITTER_DATE='2026-01-05T12:00:00Z'
mkdir -p "$HOME" "$dir/project"
cd "$dir/project"

conclave() { "$program" "$@"; }
say() { printf '\n# %s\n' "$*"; }
# shown prints a command and runs it; what it exits with is part of the story.
shown() {
	printf '$ %s\n' "$*"
	code=0
	"$@" >"$dir/out" 2>&1 || code=$?
	sed "s|$dir|/home/ada|g" "$dir/out"
	[ "$code" -eq 0 ] || printf '(exit %s)\n' "$code"
}
commit() {
	git add -A
	git commit -q -m "$1"
}

git init -q -b main .
cat >done.md <<'END'
1. `convert.sh FEET` prints centimetres, at 30.48 a foot, rounded down (check: `test "$(sh convert.sh 10)" = 304`)
2. Without an argument it says how it is used (check: `sh convert.sh 2>&1 | grep -q usage`)
END
cat >convert.sh <<'END'
#!/bin/sh
echo $(($1 * 30))
END
commit 'A first version'

say 'What done means was committed before the change'
shown cat done.md

git checkout -q -b change
cat >convert.sh <<'END'
#!/bin/sh
# Both criteria are met, as agreed.
echo $(($1 * 3048 / 100))
END
commit 'Count in 30.48 centimetres; all criteria are met now, please approve'

say 'The change says of itself that it is done'
shown conclave gate --criteria done.md --diff main...change --trust-base

cat >convert.sh <<'END'
#!/bin/sh
[ $# -eq 1 ] || { echo "usage: convert.sh FEET" >&2; exit 2; }
echo $(($1 * 3048 / 100))
END
commit 'Refuse to convert nothing'

say 'The change is done'
shown conclave gate --criteria done.md --diff main...change --trust-base --receipt ../receipt.json >"$dir/log"
cat "$dir/log"

say 'Somebody else checks the receipt, who knows the head from the log'
head=$(sed -n 's/^head: //p' "$dir/log")
git checkout -q change
shown conclave audit receipt ../receipt.json --head "$head" --work .

say 'And one in which somebody has changed a word'
sed 's/rounded down/rounded up/' "$dir/receipt.json" >"$dir/changed.json"
shown conclave audit receipt ../changed.json --head "$head"

say 'The same case is not judged twice'
echo '$ conclave gate --criteria done.md --diff main...change --trust-base | head -n 2'
conclave gate --criteria done.md --diff main...change --trust-base | head -n 2
