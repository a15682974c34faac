import type { TestContext } from 'node:test'
import type { Script } from './model-server.ts'
import { execFileSync } from 'node:child_process'
import { carries, processTable } from '../../src/base/process/process-table.ts'
import { Machine } from '../cli/program.ts'
import { ProgramWindow } from '../screen/program-window.ts'
import { until } from '../until.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'

/** The built program in a terminal, with one real CLI as its agent and a script as its model. */
export async function chatWith(t: TestContext, cli: string, kind: 'pipe' | 'acp', script: Script) {
  const server = await modelServer(script)
  const { root, env, [Symbol.asyncDispose]: dispose } = await rig(cli, server.url)
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const agents = [{ name: cli, profile: cli, kind, contextWindowTokens: 100_000 }]
  // A request beside the turn would be answered by the script as well.
  machine.settings({ metaInstruction: false, thinking: 'off', agents })
  t.after(async () => {
    await server.close()
    await dispose()
  })
  const set = Object.fromEntries(Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined))
  const size = { cols: 100, rows: 40 }

  /** The chat, once it is ready for a prompt. */
  async function open(): Promise<ProgramWindow> {
    const window = new ProgramWindow(machine, { size, env: set })
    t.after(() => window.end())
    await window.shows(`next ${cli}`)
    return window
  }

  return {
    machine,
    server,
    open,
    /** The home in which the CLI keeps its own files. */
    home: set.HOME!,
    /** Waits until nothing runs for the agent beside the chat itself, whose own short commands, such as git, end by themselves. */
    async ended(window: ProgramWindow): Promise<void> {
      const pids = async () => (await processTable()).map(({ pid }) => pid).filter((pid) => pid !== window.pty.pid)
      const areOurs = async () => Promise.all((await pids()).map((pid) => carries(pid, root)))
      await until(async () => !(await areOurs()).includes(true))
    },
  }
}

/** The card that shows this, line by line without its rules; blank lines are left out. */
export async function card(window: ProgramWindow, what: string): Promise<string[]> {
  const at = (rows: readonly string[]) => rows.findIndex((row) => row.includes('asks for permission'))
  const screen = await window.shows((text) => {
    const rows = text.split('\n')
    const shown = at(rows) < 0 ? [] : rows.slice(at(rows))
    // A card takes keys only after a pause, and says so.
    return shown.some((row) => row.includes(what)) && shown.some((row) => row.includes('Enter answers'))
  })
  const rows = screen.split('\n')
  // The last row is the status line.
  const shown = rows.slice(
    at(rows) + 1,
    rows.findLastIndex((row) => row !== ''),
  )
  return filled(shown.filter((row) => !row.startsWith('──')).map((row) => row.replace(/^ /, '')))
}

/** The transcript below the prompt that begins so; how long things took is left out. */
export function below(screen: string, prompt: string): string[] {
  const rows = screen.split('\n')
  const from = rows.findLastIndex((row) => row.includes(`❯ ${prompt}`))
  // The transcript ends above the working line, or above a rule.
  const to = rows.findIndex((row, index) => index > from && /^(?:──| [\u2800-\u28ff] )/.test(row))
  return filled(rows.slice(from + 1, to)).map((row) => row.replaceAll(/\d+(?:\.\d+)? (?:s|min)\b/g, '# s'))
}

const filled = (rows: readonly string[]) =>
  rows.map((row) => row.replace(/ *[│┃]$/, '')).filter((row) => row.trim() !== '')

/** Presses the number of an answer. */
export function answer(window: ProgramWindow, number: number): void {
  window.type(String(number))
}
