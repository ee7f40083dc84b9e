#!/bin/sh
# slug.sh TITLE: the title as the name of a page.
# Dashes at both ends are taken off.
printf '%s' "$1" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-' | sed 's/^-//'
printf '\n'
