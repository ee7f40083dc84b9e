#!/bin/sh
[ "$(sh total.sh example.txt)" = 60 ] && echo ok
