#!/bin/sh
# Fetches the projects that internal/corpus judges the embedded advisors by,
# each at a pinned version and hash, into a directory of its own below the
# cache, and leaves alone what is already there.
#
#	script/corpus.sh            all of them
#	script/corpus.sh fzf gson   those
#	script/corpus.sh --list     what is pinned, and whether it is there
#
# The pins are internal/corpus/testdata/projects.txt. Go modules come from
# where go gets its modules, npm packages from where npm gets them, and Debian's
# source packages from where apt-get gets its own; CONCLAVE_DEBIAN names the
# mirror on a machine without apt-get. CONCLAVE_CORPUS names the directory; the
# default is ${XDG_CACHE_HOME:-$HOME/.cache}/conclave/corpus.
set -eu

pins=$(dirname "$0")/../internal/corpus/testdata/projects.txt
root=${CONCLAVE_CORPUS:-${XDG_CACHE_HOME:-${HOME:?set HOME or CONCLAVE_CORPUS}/.cache}/conclave/corpus}

say() { printf '%s\n' "$*"; }
die() { say "corpus: $*" >&2; exit 3; }

# place NAME HASH: a directory is complete once it has its final name, and
# another hash is another directory.
place() { printf '%s/%s-%.12s' "$root" "$1" "$2"; }

# mirror is where this machine gets Debian's packages from.
mirror() {
	if [ -n "${CONCLAVE_DEBIAN:-}" ]; then
		say "$CONCLAVE_DEBIAN"
		return
	fi
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
		sed -nE -e 's/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p' -e 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\2/p' |
		grep -E '/debian/?$' | head -n 1
}

# download URL FILE: by apt's own means where there are any, for its proxies.
download() {
	if [ -x /usr/lib/apt/apt-helper ]; then
		/usr/lib/apt/apt-helper -oAPT::Sandbox::User=root download-file "$1" "$2"
	else
		curl -fsSL -o "$2" "$1"
	fi
}

same() { # FILE HASH
	found=$(sha256sum "$1" | cut -d ' ' -f 1)
	[ "$found" = "$2" ] || die "$1 has the hash $found, and $2 is pinned"
}

from_go() { # MODULE@VERSION HASH TREE
	told=$(cd "$new" && go mod download -json "$1")
	member() { printf '%s\n' "$told" | sed -nE "s/^[[:space:]]*\"$1\": \"(.*)\",?\$/\1/p"; }
	same "$(member Zip)" "$2"
	cp -R "$(member Dir)/." "$3"
}

from_npm() { # PACKAGE@VERSION HASH TREE
	(cd "$new" && npm pack --silent --pack-destination . "$1") >/dev/null
	same "$new"/*.tgz "$2"
	tar -xf "$new"/*.tgz -C "$3" --strip-components=1
}

from_deb() { # PATH-IN-POOL HASH TREE
	at=$(mirror)
	[ -n "$at" ] || die "no Debian mirror is known: set CONCLAVE_DEBIAN to one"
	download "${at%/}/$1" "$new/${1##*/}"
	same "$new/${1##*/}" "$2"
	tar -xf "$new/${1##*/}" -C "$3" --strip-components=1
}

fetch_one() { # NAME KIND SOURCE HASH
	new="$root/.new.$$.$1"
	mkdir -p "$new/tree"
	say "corpus: fetching $1 ($3)"
	set +e # in a condition, set -e would not hold within the function either
	(
		set -e
		"from_$2" "$3" "$4" "$new/tree"
	) >"$new/log" 2>&1
	failed=$?
	set -e
	if [ "$failed" != 0 ]; then
		sed 's/^/    /' "$new/log" >&2
		die "$1 could not be fetched; see above"
	fi
	chmod -R u+rwX "$new/tree"
	to=$(place "$1" "$4")
	# Whoever was quicker had the same bytes.
	[ -d "$to" ] || mv "$new/tree" "$to" 2>/dev/null || [ -d "$to" ]
	rm -rf "$new"
}

wanted() { # NAME
	[ -n "$only" ] || return 0
	case " $only " in *" $1 "*) return 0 ;; esac
	return 1
}

only=$*
list=
if [ "$only" = --list ]; then
	only= list=yes
fi
mkdir -p "$root"
trap 'rm -rf "$root"/.new.$$.*' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$pins" | while read -r name kind source hash; do
	wanted "$name" || continue
	dir=$(place "$name" "$hash")
	if [ -n "$list" ]; then
		if [ -d "$dir" ]; then say "$name $dir"; else say "$name missing"; fi
	elif [ ! -d "$dir" ]; then
		fetch_one "$name" "$kind" "$source" "$hash" </dev/null
	fi
done
