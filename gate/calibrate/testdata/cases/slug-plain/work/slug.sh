#!/bin/sh
# slug.sh TITLE: the title as the name of a page
printf '%s' "$1" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-' | sed 's/^-//; s/-$//'
printf '\n'
