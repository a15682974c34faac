import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { Answer, Asked } from '../real/model-server.ts'
import { modelServer } from '../real/model-server.ts'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looks, sizes } from './looks.ts'
import { Sitting } from './sitting.ts'

const options = { timeout: 120_000 }
const ctrlT = '\u0014'
const ctrlX = '\u0018'

/** The size that most people have, and the widest. */
const seen = [sizes[0]!, sizes.at(-1)!]

/**
 * Times have one digit, whatever the machine has to do, and the line keeps its width. What the working line says behind the tool
 * depends on how long nothing has happened.
 */
function timeless(row: string): string {
  return row
    .replaceAll(/\d+(?:\.\d+)? s\b/g, '# s')
    .replace(/(^ . native · # s · await_workers).*/, '$1')
    .replace(/\d+(?=\/500 steps)/, '#')
}

const roles = ['explorer', 'verifier', 'implementer', 'summarizer']

/**
 * A coordinator that sends this many workers, one at a time: the first is partly done, the second done, and the third makes two calls and
 * then works until the test is over.
 */
async function coordinating(t: TestContext, workers: number, look: string): Promise<Sitting> {
  let led = 0
  const over = Promise.withResolvers<void>()
  const server = await modelServer(async (asked) => {
    const said = JSON.stringify(asked.body)
    if (said.includes('You are a worker:')) return worker(asked, said, over.promise)
    if (++led === 1)
      return {
        text: 'I send workers.',
        call: { tool: 'spawn_workers_batch', input: { workers: Array.from({ length: workers }, wish) } },
      }
    return led === 2 ? { call: { tool: 'await_workers', input: {} } } : { text: 'worker_1 to worker_4 are done.' }
  })
  const machine = new Machine(t)
  const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  machine.settings({
    metaInstruction: false,
    agents: [{ ...agent, contextWindowTokens: 200_000 }],
    leash: 'edit',
    crew: { perWorkspace: 1 },
    coordinator: { workers: 60, tokens: 1_000_000 },
  })
  const { env, ...shown } = looks[look]!
  const window = new ProgramWindow(machine, {
    ...shown,
    env: { ...env, ANTHROPIC_API_KEY: 'made-up-key' },
    args: ['--mode', 'coordinator', 'look at everything'],
  })
  t.after(async () => {
    over.resolve()
    window.end()
    await server.close()
  })
  return new Sitting(window, look, timeless)
}

const wish = (_: unknown, at: number) => {
  // A second implementer would need a copy of the project.
  const role = at < 4 ? roles[at]! : roles[at % 2]!
  const scope = role === 'implementer' ? { scope: [`part-${at + 1}`] } : {}
  return { name: `part ${at + 1}`, description: 'A part.', prompt: `Part ${at + 1}.`, role, ...scope }
}

async function worker(_: Asked, said: string, over: Promise<void>): Promise<Answer> {
  const steps = said.split('"tool_result"').length - 1
  const handoff = { evidence: [], unresolved_risks: [], exact_next_step: 'None.' }
  if (said.includes('Part 1.\\n'))
    return { text: JSON.stringify({ what_was_done: 'Read one file of two.', ...handoff, status: 'partial' }) }
  if (said.includes('Part 2.\\n'))
    return { text: JSON.stringify({ what_was_done: 'All tests pass.', ...handoff, status: 'completed' }) }
  if (said.includes('Part 3.\\n') && steps < 2)
    return { text: `Look ${steps + 1}.`, call: { tool: 'ls', input: { path: '.' } } }
  await over
  return { text: 'Too late.' }
}

const standing = [
  /◐ worker_1 explorer +native +partly done · [\d.]+ s · 1\.2k tokens · Rea/,
  /✓ worker_2 verifier +native +[\d.]+ s · 1\.2k tokens · All tests pass\./,
  /◌ worker_3 implementer +native +\d+ s · 2\.5k tokens · ls \./,
  /○ worker_4 summarizer +native +waits for a free place · \d+ s/,
]
const budget = /4\/60 workers, (?:\d+\/500 steps, )?7\.4k\/1\.0M tokens/

for (const look of Object.keys(looks)) {
  const at = look === 'dark' ? seen : seen.slice(0, 1)
  test(`golden frames of a board with four workers, ${look}`, options, async (t) => {
    const sitting = await coordinating(t, 4, look)
    const { window } = sitting
    await sitting.framed('board-rows', [...standing, budget, 'Ctrl+T: '], at)
    window.type(ctrlT)
    await sitting.framed('board-list', [...standing, budget, 'Agents of this turn · 1 working, 1 waiting, 1 done'], at)
    if (look !== 'dark') return
    window.type(`and the docs`)
    await sitting.shows(/^ and the docs$/m, /^ Ctrl\+X stops · Esc closes$/m)
    window.type(keys.ctrlU)
    await sitting.shows('Enter opens')
    window.type(keys.enter)
    await sitting.framed('board-opened', [/◌ worker_3 implementer · native · working/, 'Look 2.', 'Esc goes back'], at)
    window.type(ctrlX)
    await sitting.framed('board-stop', ['Stop worker_3 implementer (native)?', 'Enter answers'], at)
    window.type('1')
    await sitting.shows(/■ worker_3 implementer · native · stopped/)
    window.type(keys.escape)
    await sitting.shows(/◌ worker_4 summarizer/, 'Agents of this turn')
    window.type(keys.escape)
    await sitting.shows((screen) => !screen.includes('Agents of this turn') && screen.includes('Esc cancels'))
  })
}

test('golden frames of a board with fifty workers', options, async (t) => {
  const sitting = await coordinating(t, 50, 'dark')
  const { window } = sitting
  const many = /50\/60 workers, (?:\d+\/500 steps, )?7\.4k\/1\.0M tokens/
  const rows = [standing[0]!, standing[2]!]
  await sitting.framed('board-many', [...rows, '+ 44 more: 43 waiting, 1 done · Ctrl+T shows all', many], seen)
  window.type(ctrlT)
  await sitting.shows('3 of 50')
  for (let at = 0; at < 3; at++) window.type(keys.pageDown)
  await sitting.framed('board-many-list', [/› ○ worker_24 /, '24 of 50', many], seen)
  assert.doesNotMatch(window.text(), /undefined|NaN/)
})
