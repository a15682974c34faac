#!/usr/bin/env bash
# `termaite` as the reader of a page has it. A program that lasts is left running until the page ends, a screen is opened in
# a terminal and closed again, and the hub of the examples is the one of the page.
# A lasting program gets a process group of its own, by which the test ends it.
set -m
words=("$@")
hub=$(cat "$PAGE_FOLDER/hub" 2>/dev/null || echo https://hub.example)
[ "${1-}" = serve ] || for at in "${!words[@]}"; do words[at]=${words[at]//https:\/\/hub.example/$hub}; done

# Leaves a program running, and goes on when it has printed the line by which a reader knows that it runs.
lasting() {
  local line=$1 log pid
  shift
  log=$(mktemp "$PAGE_FOLDER/log.XXXXXX")
  "$PROGRAM" "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  echo "$pid" >>"$PAGE_FOLDER/lasting"
  until grep -qE "$line" "$log"; do
    if ! kill -0 "$pid" 2>/dev/null; then
      wait "$pid"
      local code=$?
      cat "$log"
      return $((code == 0 ? 1 : code))
    fi
    sleep 0.05
  done
  cat "$log"
  last=$log
}

case "${1-}" in
serve)
  case " $* " in *' --stdio-proxy '*) exec "$PROGRAM" "${words[@]}" ;; esac
  "$PROGRAM" stop hub >/dev/null 2>&1
  case " $* " in *' --port '*) ;; *) words+=(--port 0) ;; esac
  lasting '^https?://' "${words[@]}" && grep -m1 -oE '^https?://[^ ]+' "$last" | sed 's,/$,,' >"$PAGE_FOLDER/hub"
  ;;
agent)
  case " $* " in *' --dry-run '*) exec "$PROGRAM" "${words[@]}" ;; esac
  lasting 'waits? for|Waiting|waiting' "${words[@]}"
  ;;
link) lasting 'inked' "${words[@]}" ;;
mcp)
  case " $* " in *' --http '*) lasting '^http://' "${words[@]}" ;; *) exec "$PROGRAM" "${words[@]}" </dev/null ;; esac
  ;;
acp) exec "$PROGRAM" acp </dev/null ;;
setup)
  case " $* " in *' --use '*) exec "$PROGRAM" "${words[@]}" ;; esac
  # What setup finds are scripts under the names of the CLIs; the scripted agents take their turns.
  cp "$TERMAITE_HOME/settings.json" "$PAGE_FOLDER/settings.json" 2>/dev/null
  rm -f "$TERMAITE_HOME/settings.json"
  "$PROGRAM" "${words[@]}"
  code=$?
  cp "$PAGE_FOLDER/settings.json" "$TERMAITE_HOME/settings.json" 2>/dev/null
  exit "$code"
  ;;
*)
  for word in "${words[@]}"; do
    case "$word" in -p | --prompt | -v | --version | -h | --help | --prompt=*) exec "$PROGRAM" "${words[@]}" ;; esac
  done
  if [ -z "${1-}" ] || [ "${1#-}" != "$1" ] || [ "${1// /}" != "$1" ]; then
    exec "$NODE" "$VISIT" "${words[@]}"
  fi
  exec "$PROGRAM" "${words[@]}"
  ;;
esac
