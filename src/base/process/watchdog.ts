import type { Env } from '../env.ts'
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { childProcesses } from './node-processes.ts'
import { withoutProject } from './program-path.ts'

/**
 * The watchdog that ends runs when termaite is killed. It reads `+ mark [group]` and `- mark` lines; when its input ends while
 * runs are under way, termaite died, and it kills their groups and every process that carries their marks. It is a shell and
 * not Node, because a shell starts in a millisecond. Its argument is the folder of process files; without one it asks ps.
 * It makes several passes, because a process between fork and exec does not carry its mark yet.
 */
export const script = `
trap '' INT TERM HUP QUIT TSTP
proc=$1
live=
while read -r sign mark group; do
  next=
  for run in $live; do [ "\${run%%:*}" = "$mark" ] || next="$next $run"; done
  [ "$sign" = + ] && next="$next $mark:$group"
  live=$next
done
[ "$live" ] || exit 0
marks= groups= strays=
for run in $live; do
  marks="$marks -e \${run%%:*}"
  [ "\${run#*:}" ] && groups="$groups \${run#*:}"
done
[ -e "$proc/self/environ" ] || strays=$(ps -axo pid=,ppid=,pgid= | awk -v groups="$groups" '
  BEGIN { n = split(groups, g, " "); for (i = 1; i <= n; i++) ours[g[i]] = 1 }
  { parent[$1] = $2; if ($3 in ours) kin[$1] = 1 }
  END { do { grown = 0; for (p in parent) if (!(p in kin) && (parent[p] in kin)) { kin[p] = 1; grown = 1 } } while (grown)
        for (p in kin) print p }')
for group in $groups; do kill -9 "-$group"; done
for pid in $strays; do kill -9 "$pid"; done
pass=0
while [ $pass -lt 5 ]; do
  pass=$((pass + 1))
  for file in $(grep -lsF $marks "$proc"/[0-9]*/environ); do
    pid=\${file#"$proc"/}
    kill -9 "\${pid%/environ}" && pass=0
  done
done
`

const runs = new Map<string, number | undefined>()
let child: ChildProcess | undefined

/** Starts the watchdog ahead of time, in a process that is about to start runs. */
export function readyWatchdog(env: Env): void {
  child ??= begin(withoutProject(env).PATH)
}

/** Reports a run before its process starts, so that it is covered from the first moment. */
export function watch(mark: string, path: string | undefined): void {
  runs.set(mark, undefined)
  const fresh = child === undefined
  child ??= begin(path)
  if (!fresh) tell(mark)
}

export function watchGroup(mark: string, group: number): void {
  runs.set(mark, group)
  tell(mark)
}

export function unwatch(mark: string): void {
  if (runs.delete(mark)) child?.stdin?.write(`- ${mark}\n`)
}

function tell(mark: string): void {
  child?.stdin?.write(`+ ${mark} ${runs.get(mark) ?? ''}\n`)
}

function begin(path = '/usr/bin:/bin'): ChildProcess | undefined {
  const started = childProcesses().spawn('/bin/sh', ['-c', script, 'termaite-watchdog', '/proc'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: { PATH: path },
  })
  // If no file can be opened any more, Node gives the process no pipes, and its error comes later.
  if ((started.stdin as unknown) === undefined) {
    started.on('error', () => {})
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  }
  // If the watchdog fails or is killed, the next run starts another one, which gets all runs.
  const lost = () => (child = child === started ? undefined : child)
  started.on('error', lost).on('exit', lost)
  started.stdin.on('error', lost)
  started.unref()
  ;(started.stdin as unknown as Socket).unref()
  for (const [mark, group] of runs) started.stdin.write(`+ ${mark} ${group ?? ''}\n`)
  return started
}
