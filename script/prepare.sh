#!/bin/sh
# Installs the Debian packages that the tests need and that are missing, when
# this is root on a Debian; otherwise says what is missing.
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

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "prepare: the tests need:$missing (Debian's names); install them and try again" >&2
	exit 3
fi
echo "prepare: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
