#!/bin/sh
# Every shell script that ships or tests passes shellcheck.
#   test_shellcheck.sh SOURCE_FOLDER
set -eu
cd "$1"
if ! command -v shellcheck >/dev/null 2>&1; then
  echo "skipped: shellcheck is not installed"
  exit 77
fi
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find packaging tests bench .ci quickstart -path tests/fuzz/corpus -prune -o -type f -print 2>/dev/null | sort | while IFS= read -r file; do
  case $(head -n 1 "$file" | tr -d '\000') in
    '#!/bin/sh'* | '#!/bin/bash'* | '#!/usr/bin/env bash'*) printf '%s\n' "$file" ;;
  esac
done >"$list"
grep -q '^packaging/stub.sh$' "$list" || {
  echo "the list of scripts is wrong: packaging/stub.sh is not in it"
  exit 1
}
status=0
while IFS= read -r file; do
  shellcheck -x -P SCRIPTDIR -P tests/support/shell "$file" || status=1
done <"$list"
echo "checked $(wc -l <"$list") scripts"
exit "$status"
