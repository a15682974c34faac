/** Real processes with nothing behind them: one out of quota, one that hangs, one that answers. */
export const pipes = {
  amber: `cat >/dev/null; echo "Error: usage limit reached, try again in 3 hours" >&2; exit 1`,
  birch: `cat >/dev/null; exec sleep 3600`,
  cedar: [
    `if [ -f PLAN.md ]; then cat >/dev/null; echo 'Yes: PLAN.md is there since the last turn.'; exit; fi`,
    `tried=$(grep -o '<attempt by="[a-z]*"' | cut -d'"' -f2 | paste -sd, - | sed 's/,/ and /')`,
    `printf '# Plan\\n\\n1. Say hello.\\n' > PLAN.md`,
    `echo "Done: PLAN.md holds the plan.\${tried:+ I went on from what $tried had tried.}"`,
  ].join('; '),
}

/** A program that answers in a terminal: it waits for the line that says how an answer is to be marked. */
const inTerminal = (answer: string) =>
  [
    `stty -echo; printf '> '; while IFS= read -r line; do case "$line" in *termaite-response-*)`,
    `mark=$(printf '%s' "$line" | grep -o 'termaite-response-[0-9a-f]*' | head -n 1);`,
    `printf '\\n[%s]\\n%s\\n[/%s]\\n> ' "$mark" ${answer} "$mark"; told=;;`,
    `*) told="$told $line";; esac; done`,
  ].join(' ')

/** Two that sit side by side in terminals: what the second one says shows what it was given. */
export const terminals = {
  fir: inTerminal(`'README.md greets nobody in French.'`),
  gum: inTerminal(`"In short: $(printf '%s' "$told" | grep -o 'greets nobody in [A-Z][a-z]*')"`),
}
