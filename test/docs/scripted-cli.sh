#!/usr/bin/env bash
# A coding agent as a script, under any name: it answers over a pipe, and in a terminal where it has one.
case "$1" in
--version)
  echo "$(basename "$0") 1.2.3"
  exit
  ;;
esac

answered() {
  case "$1" in
  *'You are the enumerator'*) echo '{"approaches":[{"name":"an index","how":"add an index","needs":[]}]}' ;;
  *'You are the pattern matcher'*) echo '{"approach":{"name":"an index","how":"add an index","needs":[]},"rationale":"it is usual"}' ;;
  *'You are the dependency scanner'*) echo '{"approaches":[{"name":"an index","how":"add an index","needs":[],"viable":true,"reason":"nothing is missing"}]}' ;;
  *'You are the fallback chain'*) echo '{"approaches":[{"name":"an index","how":"add an index","needs":[]}]}' ;;
  *'You are the code generator'*) echo '{"script":null,"why":"it is prose"}' ;;
  *'You chair five advisors'*) echo '{"approaches":[{"name":"an index","how":"add an index","needs":[],"why":"it needs nothing","check":{"kind":"file","path":"README.md"}}],"dropped":[],"dissent":""}' ;;
  *'"findings"'*) echo '{"findings":[{"file":"sum.js","line":2,"severity":"medium","problem":"add has no test.","why":"A wrong sum would not be noticed.","fix":"Add a test."}]}' ;;
  *'"risk"'*) echo '{"risk":"low","reason":"Only words change."}' ;;
  *'fix the test'* | *'fix the failing test'*)
    printf 'export function add(a, b) {\n  return a + b\n}\n' >sum.js
    echo 'sum.js adds again.'
    ;;
  *'write a plan'*)
    printf '# Plan\n\n1. Say hello.\n' >PLAN.md
    echo 'PLAN.md holds the plan.'
    ;;
  *) echo "Here is the answer." ;;
  esac
}

if [ -t 0 ]; then
  stty -echo
  printf '> '
  told=
  while IFS= read -r line; do
    case "$line" in
    *termaite-response-*)
      mark=$(printf '%s' "$line" | grep -o 'termaite-response-[0-9a-f]*' | head -n 1)
      printf '\n[%s]\n%s\n[/%s]\n> ' "$mark" "$(answered "$told")" "$mark"
      told=
      ;;
    *) told="$told $line" ;;
    esac
  done
else
  answered "$(cat)"
fi
