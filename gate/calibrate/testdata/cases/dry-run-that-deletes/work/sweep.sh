#!/bin/sh
# sweep.sh [--dry-run] DIR: removes temporary files
#
#   --dry-run   show what would be removed, and remove nothing
set -eu
dry=no
if [ "$1" = --dry-run ]; then
	dry=yes
	shift
fi
find "$1" -type f -name '*.tmp' | while IFS= read -r file; do
	echo "removing $file"
	rm -- "$file"
done
