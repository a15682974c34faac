/** Shell scripts that act as agents: one is out of quota, one hangs, one answers. */
export const pipes = {
  amber: `cat >/dev/null; echo "Error: usage limit reached, try again in 3 hours" >&2; exit 1`,
  birch: `cat >/dev/null; exec sleep 3600`,
  cedar: [
    `if [ -f PLAN.md ]; then cat >/dev/null; echo 'Yes: PLAN.md was written in the last turn.'; exit; fi`,
    `tried=$(grep -o '<attempt by="[a-z]*"' | cut -d'"' -f2 | paste -sd, - | sed 's/,/ and /')`,
    `printf '# Plan\\n\\n1. Say hello.\\n' > PLAN.md`,
    `echo "Done: PLAN.md holds the plan.\${tried:+ I continued what $tried had tried.}"`,
  ].join('; '),
}

/** A script that answers in a terminal. It reads until the line that names the marks of the answer. */
const inTerminal = (answer: string) =>
  [
    `stty -echo; printf '> '; while IFS= read -r line; do case "$line" in *termaite-response-*)`,
    `mark=$(printf '%s' "$line" | grep -o 'termaite-response-[0-9a-f]*' | head -n 1);`,
    `printf '\\n[%s]\\n%s\\n[/%s]\\n> ' "$mark" ${answer} "$mark"; told=;;`,
    `*) told="$told $line";; esac; done`,
  ].join(' ')

/** Two scripts for terminals. The answer of the second one quotes its prompt. */
export const terminals = {
  fir: inTerminal(`'README.md greets nobody in French.'`),
  gum: inTerminal(`"In short: $(printf '%s' "$told" | grep -o 'greets nobody in [A-Z][a-z]*')"`),
}

const written = { name: 'a short plan', how: 'write PLAN.md in a few lines', needs: [] }
const drawn = { name: 'a drawn plan', how: 'draw it', needs: ['a-plotter'] }

/** The advisors' answers, by the role that the prompt names. */
const advice: Record<string, unknown> = {
  'You are the enumerator': { approaches: [written, drawn] },
  'You are the pattern matcher': { approach: written, rationale: 'it is read, and kept with the code' },
  'You are the dependency scanner': { approaches: [{ ...drawn, viable: false, reason: 'there is no plotter here' }] },
  'You are the fallback chain': { approaches: [written] },
  'You are the code generator': { script: null, why: 'it is prose' },
  'You chair five advisors': {
    approaches: [{ ...written, why: 'it needs nothing', check: { kind: 'file', path: 'PLAN.md', holds: 'Say hello' } }],
    dropped: [{ name: drawn.name, why: 'there is no plotter here' }],
    dissent: '',
  },
}

const advisor = `case "$(cat)" in ${Object.entries(advice)
  .map(([told, answer]) => `*'${told}'*) echo '${JSON.stringify(answer)}';;`)
  .join(' ')} esac`

/** Three scripts that only read and give advice. */
export const readers = { hazel: advisor, ivy: advisor, juniper: advisor }

/** The agent for each advisor role. */
export const roles = {
  enumerator: 'hazel',
  'pattern matcher': 'ivy',
  'dependency scanner': 'juniper',
  'fallback chain': 'hazel',
  'code generator': 'ivy',
  chair: 'juniper',
}
