#!/bin/sh
# Tries the slug with titles from the archive.
set -e
[ "$(sh slug.sh 'Spring tide')" = spring-tide ]
[ "$(sh slug.sh 'Low Water')" = low-water ]
echo "all slugs are right"
