import type { TestContext } from 'node:test'
import type { Proc } from '../../src/base/process/process-table.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { carries, processFile, processTable } from '../../src/base/process/process-table.ts'
import { Machine } from '../cli/program.ts'
import { ProgramWindow } from '../screen/program-window.ts'
import { until } from '../until.ts'
import { below } from './chatting.ts'
import { modelServer } from './model-server.ts'
import { installed, rigAll } from './rig.ts'

const clis = { claude: 'pipe', codex: 'pipe', gemini: 'acp', qwen: 'acp', pi: 'pipe' } as const
const names = Object.keys(clis)
const missing = names.filter((cli) => !installed(cli))
const skip =
  (process.platform !== 'linux' && 'reads /proc') || (missing.length > 0 && `not installed: ${missing.join(', ')}`)

const question = (turn: number) => `This is question ${turn}.`

/** The number of a question for which Gemini runs a command, in a session of its own, that is not over before the chat is killed. */
const unanswered = 28

/** Answers the last of the questions that it got; other requests of a CLI hold none. */
const answering: Script = ({ text }) => {
  const last = [...text.matchAll(/This is question (\d+)\./g)].at(-1)?.[1]
  if (Number(last) === unanswered)
    return { call: { tool: 'run_shell_command', input: { command: 'setsid -w sleep 71' } } }
  return { text: last === undefined ? 'Aside.' : `Answer ${last} is given.` }
}

/** A process with its start, because another process may get its number. */
const named = ({ pid, start }: Proc) => `${pid}@${start}`

/** The program under test with five real CLIs, which take the turns one after another. */
async function chatOfFive(t: TestContext) {
  const server = await modelServer(answering)
  const { root, env, [Symbol.asyncDispose]: dispose } = await rigAll(server.url)
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const agents = Object.entries(clis).map(([name, kind]) => ({
    ...{ name, profile: name, kind, contextWindowTokens: 100_000 },
    silenceSeconds: 120,
  }))
  const set = (more: object) =>
    machine.settings({ rotationStrategy: 'round-robin', metaInstruction: false, thinking: 'off', agents, ...more })
  set({})
  const given = Object.fromEntries(Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined))
  const window = new ProgramWindow(machine, { size: { cols: 100, rows: 40 }, env: { ...given, EDITOR: 'true' } })
  t.after(async () => {
    window.end()
    await server.close()
    await dispose()
  })
  await window.shows('next claude')
  const { pid } = window.pty
  let turns = 0

  /** Waits up to a few minutes: the CLIs of a busy machine may take that long to start. */
  const shown = async (turn: number, name: string) => {
    const isOver = (screen: string) => {
      if (!screen.includes(`❯ ${question(turn)}`)) return false
      const rows = below(screen, question(turn)).join('\n')
      return rows.includes(`Answer ${turn} is given.`) && rows.includes(`─ ${name} ·`)
    }
    for (let tries = 1; ; tries++) {
      try {
        return await window.shows(isOver)
      } catch (error) {
        if (tries === 4) throw error
      }
    }
  }

  return {
    window,
    /** Takes the next turn, and waits until the chat says that it is over. */
    async take(): Promise<void> {
      const turn = ++turns
      window.type(`${question(turn)}\r`)
      await shown(turn, names[(turn - 1) % names.length]!)
    },
    /** The settings from now on. */
    async change(more: object): Promise<void> {
      set(more)
      window.type('/config\r')
      // The line below the last turn is above the words of this command; those of an earlier one are above that line.
      const last = `─ ${names[(turns - 1) % names.length]!} ·`
      await window.shows((screen) => screen.slice(screen.lastIndexOf(last)).includes('are valid'))
    },
    /** Every process of the chat's agents, and those that the chat itself has started, one for each agent; the oldest first. */
    async agents(): Promise<{ all: string[]; first: string[] }> {
      const table = (await processTable()).sort((a, b) => Number(a.start) - Number(b.start))
      const ours = await Promise.all(table.map(({ pid }) => carries(pid, root)))
      // Each process of a run carries its mark; the chat's own short commands, such as git, have none.
      const isRun = (pid: number) => processFile(pid, 'environ')?.includes('TERMAITE_RUN=') === true
      const all = table.filter((proc, at) => ours[at] && isRun(proc.pid))
      return { all: all.map(named), first: all.filter(({ ppid }) => ppid === pid).map(named) }
    },
    /** Every process that the chat has started, and what those have started. */
    async started(): Promise<string[]> {
      const table = await processTable()
      const found = new Set([pid])
      for (let before = -1; before < found.size;) {
        before = found.size
        for (const proc of table) if (found.has(proc.ppid)) found.add(proc.pid)
      }
      return table.filter((proc) => found.has(proc.pid) && proc.pid !== pid).map(named)
    },
    memory: () => residentMB(pid),
  }
}

const residentMB = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** How much more memory the chat may use after its twentieth turn than after its fifth: a leaked process costs more. */
const mostGrowth = 1.3

test(
  'twenty turns of five agents run in five processes, which end after the idle time and with a killed chat',
  { skip },
  async (t) => {
    const { window, take, change, agents, started, memory } = await chatOfFive(t)

    await t.test('each agent has one process from its first turn to its last', async () => {
      const kept: string[][] = []
      let early = { processes: 0, memory: 0 }
      for (let turn = 1; turn <= 20; turn++) {
        await take()
        // A CLI's short commands beside its turn end by themselves; an agent that was not needed would stay.
        const isSteady = ({ first }: { first: string[] }) => first.length === Math.min(turn, names.length)
        const { first, all } = await until(async () => [await agents()].find(isSteady))
        kept.push(first)
        if (turn === 5) early = { processes: all.length, memory: memory() }
      }
      const five = kept[4]!
      assert.equal(five.length, names.length)
      assert.deepEqual(
        kept,
        kept.map((_first, at) => five.slice(0, at + 1)),
      )
      await until(async () => (await agents()).all.length <= early.processes)
      const late = memory()
      assert.ok(late / early.memory < mostGrowth, `${late} MB after 20 turns, ${early.memory} MB after 5`)
      t.diagnostic(`memory of the chat: ${early.memory.toFixed(1)} MB after 5 turns, ${late.toFixed(1)} MB after 20`)
    })

    await t.test('after the idle time no agent is left', async () => {
      // The shortest time that the setting allows is as long as one wait of `until`.
      await change({ idleAgentMinutes: 1 })
      await until(async () => (await agents()).all.length === 0)
      await take()
      await take()
      assert.ok((await agents()).first.length > 0)
      const gone = () => until(async () => (await agents()).all.length === 0)
      await gone().catch(gone)
    })

    await t.test('a chat that is killed leaves none of the processes that it started', async () => {
      await change({ leash: 'all' })
      for (let turn = 0; turn < 5; turn++) await take()
      window.type(`${question(unanswered)}\r`)
      const isCommand = (one: string) => processFile(Number.parseInt(one), 'cmdline')?.toString() === 'sleep\x0071\0'
      await until(async () => (await started()).some(isCommand))
      const [before, { first }] = [await started(), await agents()]
      assert.deepEqual([first.length, first.filter((one) => !before.includes(one))], [5, []])
      window.pty.kill('SIGKILL')
      await window.exited
      await until(async () => {
        const running = (await processTable()).map(named)
        return before.every((one) => !running.includes(one)) && (await agents()).all.length === 0
      })
    })
  },
)
