#!/bin/sh
# rotate.sh DIR: keeps the seven latest backups of a directory
set -eu
cd "$1"
ls | grep '^backup-.*\.tar$' | sort -r | tail -n +8 | while read -r name; do
	rm -- "$name"
done
