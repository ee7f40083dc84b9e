#!/bin/sh
# add.sh A B
echo $(($1 + $2))
