import type { Seat } from './chat.ts'
import type { BenchMachine, Row } from './measure.ts'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, percentile, plain, sit } from './chat.ts'
import { start, withMachine } from './measure.ts'

const files = 60_000
const starts = 12

/** The agent answers at once: what is measured is ours. */
const quick = 'cat >/dev/null; echo the agent began'

/** Enter to the prompt's echo, and to the agent's start, in a chat that has just begun: large projects against an empty one. */
export async function echo(): Promise<Row[]> {
  return withMachine({ quick }, async (machine) => {
    const projects = {
      empty: project(machine, 'empty'),
      git: project(machine, 'git'),
      plain: project(machine, 'plain'),
    }
    const found = { empty: times(), git: times(), plain: times() }
    for (let i = 0; i < starts; i++)
      for (const name of ['empty', 'git', 'plain'] as const) {
        // Every start is the first one in its project: nothing was copied before.
        rmSync(join(machine.home, 'projects'), { recursive: true, force: true })
        const { echoMs, beginMs } = await sent({ ...machine, project: projects[name] })
        found[name].echo.push(echoMs)
        found[name].begin.push(beginMs)
      }
    const against = { git: 'a repository of 60,000 files', plain: 'a folder of 60,000 files without git' }
    return (['git', 'plain'] as const).flatMap((name) => [
      row(`Enter to echo in ${against[name]}, first snapshot, p99`, found[name].echo, found.empty.echo),
      row(`Enter to the agent's answer in ${against[name]}, first snapshot, p99`, found[name].begin, found.empty.begin),
    ])
  })
}

const times = () => ({ echo: [] as number[], begin: [] as number[] })

function row(what: string, large: readonly number[], empty: readonly number[]): Row {
  const [ours, theirs] = [percentile(large, 0.99), percentile(empty, 0.99)]
  return {
    what: `${what}, against an empty project`,
    value: ours / theirs,
    unit: 'ratio',
    detail: `${ours.toFixed(0)} ms against ${theirs.toFixed(0)} ms; median ${median(large).toFixed(0)} against ${median(empty).toFixed(0)} ms`,
  }
}

async function sent(machine: BenchMachine): Promise<{ echoMs: number; beginMs: number }> {
  const seat = sit(machine, start.slice(1))
  try {
    await seat.wrote('Welcome to')
    const typed = seat.wrote('a question for it')
    seat.pty.write('a question for it')
    await typed
    // Both are waited for from the beginning, because they may come in one piece.
    const [echoed, answered] = [seen(seat, 'a question for it'), seen(seat, 'the agent began')]
    const began = performance.now()
    seat.pty.write('\r')
    return { echoMs: (await echoed) - began, beginMs: (await answered) - began }
  } finally {
    await seat.end()
  }
}

/** The moment at which the words were written to the terminal. */
function seen({ pty }: Seat, words: string): Promise<number> {
  return new Promise((resolve) => {
    let tail = ''
    const listener = pty.onData((data) => {
      tail = (tail + plain(data)).slice(-20_000)
      if (!tail.includes(words)) return
      listener.dispose()
      resolve(performance.now())
    })
  })
}

function project({ folder }: BenchMachine, name: 'empty' | 'git' | 'plain'): string {
  const root = join(folder, `echo-${name}`)
  mkdirSync(root)
  if (name === 'empty') return root
  for (let i = 0; i < files; i++) {
    const place = join(root, `src/p${Math.floor(i / 2_000)}/d${Math.floor(i / 50) % 40}`)
    if (i % 50 === 0) mkdirSync(place, { recursive: true })
    writeFileSync(join(place, `f${i}.ts`), `export const n${i} = ${i}\n`.repeat(20 + (i % 300)))
  }
  if (name === 'git') {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@b', ...args], { cwd: root })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'one')
  }
  return root
}
