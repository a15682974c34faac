import type { Row } from './measure.ts'
import type { Rig } from '../test/real/rig.ts'
import type { Asked } from '../test/real/model-server.ts'
import type { ScreenFacts } from '../src/core/profile/profile.ts'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { read } from '../src/core/screen/reading.ts'
import { randomName } from '../src/base/id.ts'
import { profileNamed } from '../src/profiles/all.ts'
import { modelServer } from '../test/real/model-server.ts'
import { installed } from '../test/real/rig.ts'
import { screenRig } from '../test/real/screen-rig.ts'
import { at, start } from './measure.ts'
import { TmuxClient } from './tmux-client.ts'

const clis = ['claude', 'codex', 'gemini', 'qwen', 'pi']

const files = 5_000
const laterTurns = 6

/** How fast a person types: a prompt of this length takes five seconds. */
const keyMs = 80
const prompt = (turn: number) => `Please read the module of the parts and then tell me ${askedFor(turn)}`

/** How much longer the first word may take than on the CLI's own screen. */
const bars = { first: 400, later: 100 }

/** A word that no screen shows by itself: the prompt holds the one, and the answer the other. */
const askedFor = (turn: number) => `word${turn}x`
const answered = (turn: number) => `Zq${turn}vk`

const scripted = ({ text }: Asked) => {
  const turn = [...text.matchAll(/word(\d+)x/g)].at(-1)?.[1]
  return { text: turn === undefined ? 'nothing' : `${answered(Number(turn))} is the word.` }
}

/** A program in a window, how the end of a turn is seen, and the times from Enter to the first word. */
type Seat = { pane: string; isOver(rows: string[], turn: number): boolean; times: number[] }

/** Measures the time from Enter to the first word of the answer, in the chat and on the CLI's own screen, side by side. */
export async function warm(): Promise<Row[]> {
  const wanted = process.env.WARM_CLIS?.split(',') ?? clis
  const rows: Row[] = []
  const table = [['', 'first', 'itself', 'difference', 'later', 'itself', 'difference']]
  const words = (ms: number) => `${ms.toFixed(0)} ms`
  for (const cli of wanted) {
    if (!installed(cli)) {
      console.log(`${cli} is not installed among the pinned CLIs, and is left out`)
      continue
    }
    const [load] = loadavg()
    const { chat, itself, startMs } = await sideBySide(cli)
    const [first, later] = [chat[0]!, at(chat.slice(1), 0.5)]
    const [own, ownLater] = [itself[0]!, at(itself.slice(1), 0.5)]
    table.push([cli, ...[first, own, first - own, later, ownLater, later - ownLater].map(words)])
    const detail = (all: readonly number[]) => all.map((ms) => ms.toFixed(0)).join(', ')
    const told = `chat ${detail(chat)} ms; itself ${detail(itself)} ms; it starts in ${startMs.toFixed(0)} ms; load ${load!.toFixed(1)}`
    rows.push(
      row(
        `${cli}: Enter to the first word of a first turn, beyond the CLI's own screen`,
        first - own,
        bars.first,
        told,
      ),
      row(`${cli}: the same of later turns (median)`, later - ownLater, bars.later, told),
    )
  }
  const widths = table[0]!.map((_, column) => Math.max(...table.map((cells) => cells[column]!.length)))
  for (const cells of table) console.log(cells.map((cell, column) => cell.padStart(widths[column]!)).join('  '))
  return rows
}

const row = (what: string, value: number, bar: number, detail: string): Row => ({
  what,
  value,
  unit: 'ms',
  bar,
  detail,
})

/** The times of each turn, and how long the CLI itself takes until it can be typed to. */
type Measured = { chat: number[]; itself: number[]; startMs: number }

async function sideBySide(cli: string): Promise<Measured> {
  const model = await modelServer(scripted)
  const place = await screenRig(cli, model.url)
  const tmux = new TmuxClient(`termaite-warm-${randomName()}`, place)
  try {
    fillProject(place)
    const own = ownScreen(cli)
    const asking = await tmux.open(own.command, place)
    await ready(tmux, asking, own)
    await tmux.command(`kill-pane -t ${asking}`)
    // Now that it has nothing left to ask, its start can be measured.
    const began = performance.now()
    const itself: Seat = { pane: await tmux.open(own.command, place), isOver: () => true, times: [] }
    await tmux.shows(itself.pane, 'the start', (rows) => own.state(rows) === 'idle')
    const startMs = performance.now() - began
    await ready(tmux, itself.pane, own)
    setUp(cli, place)
    const marks = process.env.TERMAITE_MARKS === undefined ? {} : { TERMAITE_MARKS: process.env.TERMAITE_MARKS }
    const pane = await tmux.open(start.map((word) => `'${word}'`).join(' '), {
      ...place,
      env: { ...place.env, ...marks },
    })
    const chat: Seat = { pane, isOver: (rows, turn) => isClosed(rows, turn, cli), times: [] }
    await tmux.shows(pane, 'the chat', (rows) => rows.some((row) => row.includes(`next ${cli}`)))
    for (let turn = 1; turn <= laterTurns + 1; turn++) {
      await takeTurn(tmux, itself, turn * 2)
      // A first prompt is typed for as long as the person would have waited for the start of the CLI itself.
      await takeTurn(tmux, chat, turn * 2 + 1, turn === 1 ? startMs : 0)
    }
    return { chat: chat.times, itself: itself.times, startMs }
  } finally {
    tmux.end()
    await model.close()
    await place[Symbol.asyncDispose]()
  }
}

/** The line below the answer says that the turn is over. */
const isClosed = (rows: readonly string[], turn: number, cli: string) => {
  const from = rows.findIndex((row) => row.includes(answered(turn)))
  return from >= 0 && rows.slice(from).some((row) => row.includes(`─ ${cli} ·`))
}

async function takeTurn(tmux: TmuxClient, { pane, isOver, times }: Seat, turn: number, leastMs = 0): Promise<void> {
  const keys = prompt(turn)
  for (const key of keys) {
    await tmux.type(pane, key)
    await pause(Math.max(keyMs, leastMs / keys.length))
  }
  await tmux.shows(pane, 'the prompt', (rows) => rows.some((row) => row.includes(askedFor(turn))))
  // Gemini takes an Enter right after a key for a part of the text.
  await pause(300)
  const began = performance.now()
  void tmux.press(pane, 'Enter')
  await tmux.shows(pane, 'the answer', (rows) => rows.some((row) => row.includes(answered(turn))))
  times.push(performance.now() - began)
  await tmux.shows(pane, 'the end of the turn', (rows) => isOver(rows, turn))
  // The CLI's own screen does not say that a turn is over; what it still saves takes less than this.
  await pause(1_500)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const screenOf = (rows: string[]) => ({ rows, cols: 120, cursor: { row: 0, col: 0 } })

/** How a CLI is started in its own screen, and what the rows of the screen show. */
type OwnScreen = Pick<ScreenFacts, 'dialog'> & { command: string; state(rows: string[]): string | undefined }

function ownScreen(cli: string): OwnScreen {
  const facts = profileNamed(cli)!.screen
  // pi has no facts: it asks nothing, and its last row names the window as soon as it can be typed to.
  if (!facts)
    return { command: cli, state: (rows) => (rows.some((row) => /k \(auto\)/.test(row)) ? 'idle' : undefined) }
  return {
    command: facts.command({ leash: 'ask' }),
    state(rows) {
      const { state, by } = read({ screen: screenOf(rows), children: 1, quietMs: 0 }, facts.reader)
      return by === 'pattern' ? state : undefined
    },
    ...(facts.dialog && { dialog: facts.dialog }),
  }
}

/** Waits for a CLI in its own screen, and says yes to what it asks at its first start. */
async function ready(tmux: TmuxClient, pane: string, own: OwnScreen): Promise<void> {
  for (let calm = 0; calm < 4;) {
    const seen = await tmux.shows(pane, 'the start', (rows) => ['idle', 'asking'].includes(own.state(rows) ?? ''))
    await pause(1_000)
    const rows = await tmux.screen(pane)
    // A screen that is still being drawn is looked at again.
    if (rows.join('\n') !== seen.join('\n')) continue
    const asked = own.state(rows) === 'asking' ? own.dialog?.(screenOf(rows)) : undefined
    calm = asked ? 0 : calm + 1
    if (!asked) continue
    const option = asked.question.options.find(({ label }) => /^(?:Yes|Trust|Allow)/.test(label))
    for (const key of asked.keys(option && [option.id])) {
      await tmux.press(pane, key)
      await pause(200)
    }
    await tmux.shows(pane, 'what comes after the answer', (after) => after.join('\n') !== rows.join('\n'))
  }
}

/** A repository with that many files, all of them committed. */
function fillProject({ cwd, env }: Rig): void {
  for (let file = 0; file < files; file++) {
    const folder = join(cwd, 'src', `part-${file % 100}`)
    if (file < 100) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `module-${file}.ts`), `export const value${file} = ${file}\n`.repeat(20))
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@b', ...args], { cwd, env })
  git('add', '-A')
  git('commit', '-qm', 'all')
}

/** The settings that the setup writes, with this CLI as the only agent. */
function setUp(cli: string, { cwd, env }: Rig): void {
  execFileSync(start[0], [...start.slice(1), 'setup', '--yes'], { cwd, env, stdio: 'pipe' })
  const path = join(env.HOME!, '.termaite', 'settings.json')
  const settings = JSON.parse(readFileSync(path, 'utf8'))
  settings.agents = settings.agents.filter(({ name }: { name: string }) => name === cli)
  writeFileSync(path, JSON.stringify(settings))
}
