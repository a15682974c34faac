import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, nativeOn } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { goldenOf } from '../golden.ts'
import { ProgramWindow, keys } from './program-window.ts'

const golden = goldenOf(import.meta.filename)
const options = { timeout: 120_000, skip: noSandbox }

/** The chat in a real PTY while our own agent runs one command at `edit` and is asked for a permission. */
async function asked(t: TestContext, command: string, files: Record<string, string>) {
  const machine = new Machine(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(machine.project, name), text)
  const server = await modelServer(({ count }) =>
    count === 1 ? { call: { tool: 'bash', input: { command } } } : { text: 'Done.' },
  )
  t.after(() => server.close())
  machine.settings({ metaInstruction: false, thinking: 'off', leash: 'edit', agents: [nativeOn(server)] })
  const window = new ProgramWindow(machine, { env: { ANTHROPIC_API_KEY: 'made-up' }, args: ['begin'] })
  t.after(() => window.end())
  const screen = await window.shows(/asks for permission[^]*Enter answers/)
  golden(
    t,
    screen.split('\n').filter((row) => /^ (?:[› ] \d|\d, )/.test(row)),
  )
  window.type(keys.enter)
  await window.shows('Done.')
  return { machine, result: JSON.stringify(server.turns()[1]!.body.messages.at(-1)) }
}

test("Enter alone leaves the project's keys hidden", options, async (t) => {
  const files = { '.env': 'TOKEN=badger', 'show.sh': 'cat .env || echo hidden' }
  const { result } = await asked(t, 'sh show.sh', files)
  assert.deepEqual([result.includes('badger'), result.includes('hidden')], [false, true])
})

test('Enter alone leaves a file that could start programs in the quarantine', options, async (t) => {
  const { machine } = await asked(t, 'echo "pre-push:" > .lefthook.yml', {})
  assert.equal(existsSync(join(machine.project, '.lefthook.yml')), false)
  const kept = await machine.run(['quarantine'])
  assert.match(kept.out, /\.lefthook\.yml/)
})
