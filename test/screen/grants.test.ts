import type { TestContext } from 'node:test'
import type { RunOptions } from '../cli/program.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ended, Machine, nativeOn } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { ProgramWindow, keys } from './program-window.ts'

const options = { timeout: 120_000 }
const env = { ANTHROPIC_API_KEY: 'made-up' }

/**
 * A machine with two agents of our own that touch a file as often as the prompt says ("touch it 2"), then answer
 * "Touched." with a number of their own. `held`: the request of that number waits for this promise.
 */
async function touching(t: TestContext, held: { count: number; until: Promise<unknown> } | undefined = undefined) {
  const machine = new Machine(t)
  let [calls, answers] = [0, 0]
  const server = await modelServer(async ({ body, count }) => {
    const last = JSON.stringify(body.messages.at(-1))
    const wanted = Number(/touch it (\d)/.exec(last)?.[1] ?? 0)
    if (count === held?.count) await held.until
    if (wanted > 0) calls = wanted
    if (calls-- > 0) return { call: { tool: 'bash', input: { command: 'touch made.txt' } } }
    return { text: `Touched ${++answers}.` }
  })
  t.after(() => server.close())
  machine.settings({
    metaInstruction: false,
    thinking: 'off',
    leash: 'ask',
    agents: [nativeOn(server), { ...nativeOn(server), name: 'two' }],
  })
  const open = (args: readonly string[] = []) => {
    const window = new ProgramWindow(machine, { env, args, size: { cols: 100, rows: 40 } })
    t.after(() => window.end())
    return window
  }
  let turns = 0
  /** A turn in which each card is answered with the next of these keys; another card would be waited for in vain. */
  const turn = async (window: ProgramWindow, calls: number, ...answers: string[]) => {
    window.type(`touch it ${calls}`)
    window.type(keys.enter)
    for (const key of answers) {
      await window.shows(/asks for permission[^]*2 Yes, always in this project[^]*Enter answers/)
      window.type(key)
      await window.shows((screen) => !screen.includes('Enter answers'))
    }
    await window.shows(`Touched ${++turns}.`)
  }
  const run = async (how: RunOptions = {}) => {
    turns++
    const folder = how.cwd ?? machine.project
    rmSync(join(folder, 'made.txt'), { force: true })
    await machine.run(['-p', 'touch it 1'], { ...how, env })
    return existsSync(join(folder, 'made.txt'))
  }
  return { machine, server, open, turn, run }
}

test('"once" is once: the same command is asked about again in the same turn and in the next', options, async (t) => {
  const { open, turn, run } = await touching(t)
  const window = open()
  await window.shows('Ask anything')
  await turn(window, 2, '1', '1')
  await turn(window, 1, '1')
  // A chat that is open would be asked for the other process.
  window.type(keys.ctrlD)
  await window.exited
  assert.equal(await run(), false)
})

test(
  '"always in this project" holds for the next turn, a new session, another agent, another process and a restart, and nowhere else',
  options,
  async (t) => {
    const { machine, open, turn, run } = await touching(t)
    const window = open()
    await window.shows('Ask anything')
    await turn(window, 2, '2')
    await turn(window, 1)
    window.type('/clear')
    window.type(keys.enter)
    await window.shows(/Start a new session\?[^]*Enter answers/)
    window.type('1')
    await window.shows('A new session began')
    await turn(window, 1)
    window.type('/switch two')
    window.type(keys.enter)
    await window.shows(/next two /)
    await turn(window, 1)
    assert.equal(await run(), true)
    window.type(keys.ctrlD)
    await window.exited
    const again = open(['--new'])
    await again.shows('Ask anything')
    await turn(again, 1)
    const elsewhere = join(machine.folder, 'elsewhere')
    mkdirSync(elsewhere)
    assert.equal(await run({ cwd: elsewhere }), false)
  },
)

test(
  '"always in this project" holds at once for a turn that another process began before it was said',
  options,
  async (t) => {
    const said = Promise.withResolvers<void>()
    const { machine, server, open } = await touching(t, { count: 1, until: said.promise })
    const child = machine.start(['-p', 'touch it 1', '--new'], { env })
    child.stdin!.end()
    const over = ended(child)
    await server.received(1)
    const window = open(['--new'])
    await window.shows('Ask anything')
    window.type('touch it 1')
    window.type(keys.enter)
    await window.shows(/asks for permission[^]*Enter answers/)
    window.type('2')
    await window.shows('Touched 1.')
    rmSync(join(machine.project, 'made.txt'))
    said.resolve()
    assert.deepEqual([(await over).code, existsSync(join(machine.project, 'made.txt'))], [0, true])
  },
)

test(
  'a conversation that was shared once stays shared after a restart, and a new session is asked about again',
  options,
  async (t) => {
    const machine = new Machine(t)
    machine.agents(
      { alpha: 'cat >/dev/null; echo "Alpha answers."', beta: 'cat >/dev/null; echo "Beta answers."' },
      { metaInstruction: false, thinking: 'off', rotationStrategy: 'exhaustion', sharing: 'ask' },
    )
    const say = async (window: ProgramWindow, text: string, ...signs: (string | RegExp)[]) => {
      window.type(text)
      window.type(keys.enter)
      for (const sign of signs) await window.shows(sign)
    }
    const card =
      /This would be shared with another vendor[^]*covers: this conversation with beta until you start a new session[^]*Enter answers/
    const answers = () =>
      machine
        .kept()
        .filter(([type]) => type === 'reply')
        .map(([, by]) => by)
    const first = new ProgramWindow(machine)
    t.after(() => first.end())
    await first.shows('Ask anything')
    await say(first, 'one', 'Alpha answers.')
    await say(first, '/switch beta', /next beta /)
    await say(first, 'two', card)
    first.type('2')
    // The words are on the screen before the turn is over, and leaving would cut it off.
    await first.shows(/Beta answers\.[^]*─ beta ·/)
    first.type(keys.ctrlD)
    await first.exited
    const second = new ProgramWindow(machine, { args: ['--continue', '-a', 'beta', 'three'] })
    t.after(() => second.end())
    await second.shows(/Beta answers\.[^]*three[^]*Beta answers\.[^]*─ beta ·/)
    await say(second, '/clear', /Start a new session\?[^]*Enter answers/)
    second.type('1')
    await second.shows('A new session began')
    await say(second, '/switch alpha', /next alpha /)
    await say(second, 'four', 'Alpha answers.')
    await say(second, '/switch beta', /next beta /)
    await say(second, 'five', card)
    second.type('1')
    await second.shows(/next alpha /)
    assert.deepEqual(answers().slice(0, 4), ['alpha', 'beta', 'beta', 'alpha'])
  },
)
