#!/bin/sh
# convert.sh FEET: feet as centimetres
if [ $# -ne 1 ]; then
	echo "usage: convert.sh FEET" >&2
	exit 2
fi
echo $(($1 * 3048 / 100))
