#!/bin/sh
# Installs the Debian packages that the tests need and that are missing, when
# this is root on a Debian; otherwise says what is missing. A browser does not have
# to be Debian's: for others one comes from npm, into the cache directory.
set -eu

missing=''
need() { # COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

need git git
need dbus-daemon dbus-daemon
need unshare util-linux
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null 2>&1 || missing="$missing postgresql"
need node nodejs
need npm npm

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
if ! command -v chromium >/dev/null 2>&1 && ! command -v google-chrome >/dev/null 2>&1; then
	if may_install; then
		missing="$missing chromium fonts-dejavu-core fonts-noto-color-emoji"
	elif command -v npm >/dev/null 2>&1; then
		"$(dirname "$0")/clients.sh" chromium
	fi
fi

[ -n "$missing" ] || exit 0
if ! may_install; then
	echo "prepare: the tests need:$missing (Debian's names); install them and try again" >&2
	exit 3
fi
echo "prepare: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
