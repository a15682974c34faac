import type { BenchMachine, Row } from './measure.ts'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bundleProgram } from '../scripts/program-bundle.ts'
import { modelServer } from '../test/real/model-server.ts'
import { sit } from './chat.ts'
import { start, time, withMachine } from './measure.ts'

const root = join(import.meta.dirname, '..')

/**
 * The modules that each kind of start evaluates: those of every file that it loads, by the bundler's own lists. A run keeps compiled
 * code of exactly the files that it has loaded.
 */
export async function startModules(): Promise<Row[]> {
  return withMachine({ agent: 'cat >/dev/null; echo hi' }, async (machine) => {
    const files = await bundleProgram(root, join(machine.folder, 'built'))
    const modules = new Map(files.map(({ fileName, moduleIds }) => [basename(fileName), moduleIds.length]))
    const row = async (what: string, start: (one: BenchMachine) => Promise<unknown>): Promise<Row> => {
      const cache = join(machine.folder, what)
      await start({ ...machine, env: { ...machine.env, NODE_COMPILE_CACHE: cache } })
      const loaded = globSync('termaite/*/*', { cwd: cache }).flatMap((path) =>
        keptFiles(readFileSync(join(cache, path))).map((file) => modules.get(file)!),
      )
      const value = loaded.reduce((sum, count) => sum + count, 0)
      return { what: `modules of ${what}`, value, unit: 'modules', detail: `in ${loaded.length} files` }
    }
    const run = (args: readonly string[]) => (one: BenchMachine) =>
      time([...start, ...args], { cwd: one.project, env: one.env })
    return [
      await row('--version', run(['--version'])),
      await row('--help', run(['--help'])),
      await row('the chat, as it opens', opened),
      await row('-p --ephemeral', run(['-p', 'x', '--ephemeral'])),
      await row('-p', run(['-p', 'x'])),
      await row('a turn of our own agent', (one) => ownTurn(one, run(['-p', 'x']))),
    ]
  })
}

/** The files of the build whose compiled code a run has kept: the first line of the cache names them. */
function keptFiles(cache: Buffer): string[] {
  const head = JSON.parse(cache.toString('latin1', 0, cache.indexOf('\n'))) as { lengths: [string, number][] }
  return head.lengths.map(([file]) => file)
}

/** Opens the chat and leaves it. */
async function opened(machine: BenchMachine): Promise<void> {
  const seat = sit(machine, start.slice(1))
  try {
    await seat.wrote('Ask anything')
    const over = new Promise((resolve) => seat.pty.onExit(resolve))
    seat.pty.write('\x04')
    await over
  } finally {
    await seat.end()
  }
}

async function ownTurn(machine: BenchMachine, turn: (machine: BenchMachine) => Promise<unknown>): Promise<void> {
  const model = await modelServer(() => ({ text: 'It is done.' }))
  try {
    const native = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${model.url}/v1` }
    writeFileSync(
      join(machine.home, 'settings.json'),
      JSON.stringify({ agents: [{ ...native, contextWindowTokens: 200_000 }] }),
    )
    await turn({ ...machine, env: { ...machine.env, ANTHROPIC_API_KEY: 'none' } })
  } finally {
    await model.close()
  }
}
