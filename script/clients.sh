#!/bin/sh
# Installs the pinned programs that the tests drive, the agents, a peer that
# counts their tokens, a reader of what we export, a client that inspects MCP
# servers and a judge of pages, each into a directory of its own below the cache,
# and leaves alone what is already there.
#
#	script/clients.sh            all of them
#	script/clients.sh codex      those whose directory begins so
#	script/clients.sh chromium   a browser, for where the system has none
#	script/clients.sh --list     what is pinned, and whether it is there
#
# CONCLAVE_CLIENTS names the directory; the default is
# ${XDG_CACHE_HOME:-$HOME/.cache}/conclave/clients. The pins are repeated in
# internal/clients, whose test compares the two lists.
set -eu

pins='
claude-2.1.325 @anthropic-ai/claude-code@2.1.325 claude
claude-2.1.197 @anthropic-ai/claude-code@2.1.197 claude
codex-0.166.0 @openai/codex@0.166.0 codex
ccusage-20.0.24 ccusage@20.0.24 ccusage
gemini-0.61.0 @google/gemini-cli@0.61.0 gemini
qwen-0.24.4 @qwen-code/qwen-code@0.24.4 qwen
copilot-1.0.102 @github/copilot@1.0.102 copilot
opencode-1.18.33 opencode-ai@1.18.33 opencode
node-26.10.0 node@26.10.0 node
hyparquet-1.31.5 hyparquet@1.31.5 -
inspector-2.12.0 @modelcontextprotocol/inspector@2.12.0 -
axe-4.14.0 axe-core@4.14.0 -
'

# Installed only when it is asked for by name.
spare='
chromium-153.0.0 @sparticuz/chromium@153.0.0 -
'

root=${CONCLAVE_CLIENTS:-${XDG_CACHE_HOME:-${HOME:?set HOME or CONCLAVE_CLIENTS}/.cache}/conclave/clients}
want=${1:-}

say() { printf '%s\n' "$*"; }
die() { say "clients: $*" >&2; exit 3; }

# installed DIR PROGRAM: a directory is complete once it has its final name,
# because it gets that name by a rename after the program has run. The program -
# is a library, which has none, or a script that wants the Node that is pinned.
installed() { [ -x "$(place "$1" "$2")" ]; }
place() {
	case $2 in
	-) echo "$root/$1/node_modules" ;;
	*) echo "$root/$1/node_modules/.bin/$2" ;;
	esac
}

# lock holds a directory that names its holder's process; one whose holder is
# gone is taken over.
lock() {
	tries=0
	until mkdir "$root/.lock" 2>/dev/null; do
		holder=$(cat "$root/.lock/pid" 2>/dev/null || true)
		if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
			rm -rf "$root/.lock"
			continue
		fi
		tries=$((tries + 1))
		[ "$tries" -le 900 ] || die "another installation (process $holder) holds $root/.lock; remove it if that is not so"
		sleep 1
	done
	echo $$ >"$root/.lock/pid"
	trap 'rm -rf "$root/.lock" "$root"/.new.$$.*' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

install_one() { # DIR PACKAGE PROGRAM
	new="$root/.new.$$.$1"
	rm -rf "$new"
	mkdir -p "$new"
	printf 'clients: installing %s … ' "$2"
	# engine-strict stays off: the programs are native and run on older Nodes
	# than their package asks for.
	if ! (cd "$new" && printf '{"private":true}\n' >package.json &&
		npm install --no-audit --no-fund --no-progress --loglevel=error --engine-strict=false "$2" >npm.log 2>&1); then
		say failed
		sed 's/^/    /' "$new/npm.log" >&2
		die "npm install $2 did not work; see above"
	fi
	if [ "$3" = - ]; then
		say "$2" >"$new/version.txt"
	else
		(cd "$new" && HOME="$new" "./node_modules/.bin/$3" --version >version.txt 2>&1)
	fi ||
		die "$2 was installed but does not start: $(cat "$new/version.txt")"
	case $1 in chromium-*) unpack_chromium "$new/node_modules/@sparticuz/chromium/bin" ;; esac
	rm -rf "${root:?}/$1"
	mv "$new" "$root/$1"
	say "$(head -n 1 "$root/$1/version.txt")"
}

# unpack_chromium DIR: the package holds the browser and what it draws with packed.
unpack_chromium() {
	node -e '
		const fs = require("fs"), zlib = require("zlib"), dir = process.argv[1];
		const unpack = (from, to) => fs.writeFileSync(to, zlib.brotliDecompressSync(fs.readFileSync(dir + "/" + from)), { mode: 0o755 });
		unpack("chromium.br", dir + "/chromium");
		unpack("swiftshader.tar.br", dir + "/swiftshader.tar");
	' "$1" && tar -xf "$1/swiftshader.tar" -C "$1" || die "the browser could not be unpacked in $1"
}

each() { # FUNCTION: calls it with every pin that was asked for
	{ echo "$pins"; [ -z "$want" ] || echo "$spare"; } | while read -r dir package program; do
		[ -n "$dir" ] || continue
		case $dir in "$want"*) "$1" "$dir" "$package" "$program" ;; esac
	done
}

show() { if installed "$1" "$3"; then say "$1 $(place "$1" "$3")"; else say "$1 missing"; fi; }
need() { installed "$1" "$3" || say "$1"; }
fill() { installed "$1" "$3" || install_one "$1" "$2" "$3"; }

if [ "$want" = --list ]; then
	want=
	each show
	exit 0
fi
missing=$(each need)
[ -n "$missing" ] || exit 0
command -v npm >/dev/null 2>&1 || die "npm is not installed; the tests of the agents need it to fetch: $missing"
mkdir -p "$root"
lock
each fill
