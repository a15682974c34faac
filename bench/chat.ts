import type { BenchMachine, Row } from './measure.ts'
import type { IPty } from '@lydell/node-pty'
import { execFileSync } from 'node:child_process'
import pty from '@lydell/node-pty'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { newId } from '../src/base/id.ts'
import { slugOf } from '../src/home/project.ts'
import { start, withMachine } from './measure.ts'

/** An agent that talks for as long as anybody listens. */
const streaming = 'cat >/dev/null; for i in $(seq 1 100000); do echo "line $i of a long answer"; sleep 0.02; done'
/** An agent that says in a minute or so as many words as others in 20 minutes. */
const talkative = `${process.execPath} -e '
  let word = 0
  const speak = () => {
    if (++word > 24000) return process.stdout.write("\\nThese were all words.\\n", () => process.exit())
    process.stdout.write(word % 15 === 0 ? "**words** of a long answer.\\n" : word % 300 === 1 ? "\\n\\nMore " : "words ")
    setTimeout(speak, 2)
  }
  process.stdin.resume()
  speak()'`
const paints = 9
const strokes = 240

/** The chat beside the least that can be built on the same library. */
export async function chat(): Promise<Row[]> {
  return withMachine({ streaming }, async (machine) => {
    const minimal = join(machine.folder, 'minimal.mjs')
    await bundleMinimal(minimal)
    const rows = await idle(machine)
    fill(machine, { size: 1e9, turns: 3400 })
    return [...rows, ...(await typing(machine, minimal)), ...longLife()]
  })
}

/** How long the chat takes to appear, over no history and over a long one, beside the least that can be built on the same library. */
export async function firstPaint(): Promise<Row[]> {
  return withMachine({ streaming }, async (machine) => {
    const minimal = join(machine.folder, 'minimal.mjs')
    await bundleMinimal(minimal)
    const empty = await paint(machine, minimal, 'empty history', 'Welcome to')
    fill(machine, { size: 1e9, turns: 3400 })
    const long = 'with its last answer, a history of 1 GB and 10,000 entries'
    return [empty, await paint(machine, minimal, long, 'answer 3399')]
  })
}

/** Measures the memory of the built chat after a long answer, beside its memory at first and the part of it that is live. */
export async function chatMemory(): Promise<Row[]> {
  return withMachine({ talkative }, async (machine) => {
    const told = join(machine.folder, 'live')
    const tellLive = `import { writeFileSync } from 'node:fs'
      process.on('SIGUSR2', () => { gc(); writeFileSync(${JSON.stringify(told)}, String(process.memoryUsage().heapUsed)) })`
    const seat = sit(machine, [
      '--expose-gc',
      '--import',
      `data:text/javascript,${encodeURIComponent(tellLive)}`,
      start.at(-1)!,
    ])
    try {
      await seat.wrote('Welcome to')
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      const first = memoryMB(seat.pty.pid)
      const over = seat.wrote('These were all words.')
      seat.pty.write('go on\r')
      await over
      const cpu = cpuMs(seat.pty.pid)
      const last = memoryMB(seat.pty.pid)
      seat.pty.kill('SIGUSR2')
      while (!existsSync(told)) await new Promise((resolve) => setTimeout(resolve, 50))
      const live = Number(readFileSync(told, 'utf8')) / 1e6
      return [
        {
          what: 'memory of the chat after an answer of 24,000 words',
          value: last,
          unit: 'MB',
          detail: `resident; ${first.toFixed(0)} MB at first, ${live.toFixed(0)} MB of JavaScript are live; ${(cpu / 1000).toFixed(1)} s of processor time`,
        },
      ]
    } finally {
      await seat.end()
    }
  })
}

async function bundleMinimal(file: string): Promise<void> {
  await build({
    input: join(import.meta.dirname, 'minimal-tui.ts'),
    platform: 'node',
    output: { file, format: 'esm', minify: true, codeSplitting: false },
    logLevel: 'silent',
  })
}

/** The chat's first paint, in turn with that of the minimal program. */
async function paint(machine: BenchMachine, minimal: string, what: string, words: string): Promise<Row> {
  await warm(machine, words)
  const ours: number[] = []
  const theirs: number[] = []
  for (let i = 0; i <= paints; i++) {
    const mine = await painted(machine, start.slice(1), words)
    const other = await painted(machine, [minimal], 'Welcome to')
    // The first of each warms the caches.
    if (i > 0) (ours.push(mine), theirs.push(other))
  }
  const least = (all: readonly number[]) => Math.min(...all).toFixed(0)
  return {
    what: `first paint of the chat, ${what}, against the minimal program on the same library`,
    value: median(ours) / median(theirs),
    unit: 'ratio',
    bar: 1.5,
    detail: `${median(ours).toFixed(0)} ms against ${median(theirs).toFixed(0)} ms; at best ${least(ours)} ms against ${least(theirs)} ms`,
  }
}

/** A chat that a person leaves, and not one that is killed, has kept its compiled code. */
async function warm(machine: BenchMachine, words: string): Promise<void> {
  const seat = sit(machine, start.slice(1))
  await seat.wrote(words)
  const left = new Promise<void>((resolve) => seat.pty.onExit(() => resolve()))
  seat.pty.write('\u0004')
  await left
}

/** From the start of the process to the moment the words are written to its terminal. */
async function painted(machine: BenchMachine, argv: readonly string[], words: string): Promise<number> {
  const began = performance.now()
  const seat = sit(machine, argv)
  try {
    await seat.wrote(words)
    return performance.now() - began
  } finally {
    await seat.end()
  }
}

async function idle(machine: BenchMachine): Promise<Row[]> {
  const seat = sit(machine, start.slice(1))
  try {
    await seat.wrote('Welcome to')
    // V8 collects once, about eight seconds after the work of the start is done; a chat at rest does nothing afterwards.
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    const before = cpuMs(seat.pty.pid)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    return [
      {
        what: 'processor time of the idle chat in 5 s, from the twelfth second on',
        value: cpuMs(seat.pty.pid) - before,
        unit: 'ms',
        bar: 10,
        detail: 'user and system',
      },
      { what: 'memory of the idle chat', value: memoryMB(seat.pty.pid), unit: 'MB', bar: 120, detail: 'resident' },
    ]
  } finally {
    await seat.end()
  }
}

/** Each key is timed from its write to the write that shows it, while an agent streams. */
async function typing(machine: BenchMachine, minimal: string): Promise<Row[]> {
  const ours = await strokesOf(machine, [...start.slice(1), 'go on'], 'of a long answer')
  const theirs = await strokesOf(machine, [minimal, '10000'], 'streamed')
  return [
    {
      what: 'keystroke to paint, 10,000 entries, an agent streaming, p99',
      value: percentile(ours.all, 0.99),
      unit: 'ms',
      bar: 16,
      detail: `median ${median(ours.all).toFixed(1)} ms; the minimal program: p99 ${percentile(theirs.all, 0.99).toFixed(1)} ms, median ${median(theirs.all).toFixed(1)} ms`,
    },
    {
      what: 'memory of the chat then',
      value: ours.memory,
      unit: 'MB',
      detail: `the minimal program: ${theirs.memory.toFixed(0)} MB`,
    },
  ]
}

async function strokesOf(machine: BenchMachine, argv: readonly string[], ready: string) {
  const seat = sit(machine, argv)
  const all: number[] = []
  try {
    await seat.wrote(ready)
    let typed = ''
    for (let i = 0; i < strokes; i++) {
      if (typed.length >= 40) {
        seat.pty.write('\u0015')
        typed = ''
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      typed += 'qzjxkvw'[i % 7]
      const began = performance.now()
      const shown = seat.wrote(typed)
      seat.pty.write(typed.at(-1)!)
      await shown
      all.push(performance.now() - began)
    }
    return { all, memory: memoryMB(seat.pty.pid) }
  } finally {
    await seat.end()
  }
}

/** Measures the memory of the chat after ten thousand turns, against a thousand: the screen forgets everything that is far above. */
function longLife(): Row[] {
  const script = join(import.meta.dirname, 'chat-memory.ts')
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning']
  const out = execFileSync(process.execPath, [...flags, script], { encoding: 'utf8' })
  const [few, many] = out.trim().split('\n').map(Number)
  return [
    {
      what: 'heap of the chat after 10,000 turns against 1,000',
      value: many! / few!,
      unit: 'ratio',
      detail: `${many!.toFixed(0)} MB against ${few!.toFixed(0)} MB`,
    },
  ]
}

export type Seat = { pty: IPty; wrote(words: string): Promise<void>; end(): Promise<void> }

export function sit(machine: BenchMachine, argv: readonly string[]): Seat {
  const child = pty.spawn(process.execPath, [...argv], {
    name: 'xterm-256color',
    cols: 120,
    rows: 40,
    cwd: machine.project,
    env: { ...machine.env, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  })
  let waits: { words: string; tail: string; done(): void } | undefined
  child.onData((data) => {
    if (!waits) return
    waits.tail = (waits.tail + plain(data)).slice(-20_000)
    if (!waits.tail.includes(waits.words)) return
    waits.done()
    waits = undefined
  })
  const gone = new Promise<void>((resolve) => child.onExit(() => resolve()))
  return {
    pty: child,
    wrote: (words) => new Promise((resolve) => (waits = { words, tail: '', done: resolve })),
    async end() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

export const plain = (data: string) =>
  data.replaceAll(
    /\u001b(?:\[[0-9;?<>=]*[A-Za-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|_[^\u001b\u0007]*(?:\u0007|\u001b\\))/g,
    '',
  )

/** A long past in another session, and a present of many turns. */
function fill({ home, project }: BenchMachine, { size, turns }: { size: number; turns: number }): void {
  const folder = join(home, 'projects', slugOf(project))
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'history.jsonl')
  writeFileSync(file, '')
  const line = `${JSON.stringify({ id: 'old', at: 1, by: 'a', session: 'old', turn: 't', type: 'reply', text: 'z'.repeat(400) })}\n`
  const chunk = line.repeat(Math.ceil(1e7 / line.length))
  let from = 0
  for (; from < size; from += chunk.length) appendFileSync(file, chunk)
  const at = Date.now()
  const facts = (turn: number) => [
    { type: 'prompt', by: 'user', text: `question ${turn}` },
    { type: 'reply', by: 'streaming', text: `answer ${turn}` },
    { type: 'end', by: 'streaming', outcome: { ok: true, text: '' } },
  ]
  const entries = Array.from({ length: turns }, (_, turn) =>
    facts(turn).map((fact) => JSON.stringify({ id: newId(at), at, session: 'now', turn: `turn${turn}`, ...fact })),
  )
  appendFileSync(file, `${entries.flat().join('\n')}\n`)
  const sessions = { now: { startedAt: at, from } }
  writeFileSync(join(folder, 'project.json'), JSON.stringify({ path: project, lastUsed: at, current: 'now', sessions }))
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export function memoryMB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

export const percentile = (all: readonly number[], part: number) =>
  [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))]!
export const median = (all: readonly number[]) => percentile(all, 0.5)
