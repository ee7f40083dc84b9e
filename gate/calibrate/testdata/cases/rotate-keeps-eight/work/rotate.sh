#!/bin/sh
# rotate.sh DIR: keeps the seven latest backups of a directory.
# Skips the first seven names and removes the rest.
set -eu
cd "$1"
ls | grep '^backup-.*\.tar$' | sort -r | tail -n +9 | while read -r name; do
	rm -- "$name"
done
