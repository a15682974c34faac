import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Machine, nativeOn } from '../cli/program.ts'
import { sized } from '../full.ts'
import { modelServer } from '../real/model-server.ts'
import { until } from '../until.ts'
import { ProgramWindow, keys } from './program-window.ts'

/** The typing of a person who has seen the card is slower than this; a card takes keys after a pause of 400 ms. */
const slowestMs = 250

/** A number below `most`, always the same for the same moment. */
const chance = (moment: number) => {
  let seed = (moment + 1) * 2_654_435_761
  return (most: number) => {
    seed = (Math.imul(seed ^ (seed >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0
    return seed % most
  }
}

/** Letters, digits and Enter, as somebody types who does not look at the screen; a line never begins with a digit. */
function burst(pick: (most: number) => number): string {
  const key = () => 'abcdefghijklmnopqrstuvwxyz0123456789 112233'[pick(43)]!
  const line = () =>
    `w${Array.from({ length: 5 + pick(12) }, key)
      .join('')
      .trimEnd()}`
  return Array.from({ length: 2 + pick(2) }, line).join(keys.enter)
}

const answersIn = (machine: Machine) => machine.history().filter(({ type }) => type === 'answer')

/** Every line that was sent: as a prompt, or to the turn that runs. */
const sentIn = (machine: Machine) =>
  machine.history().flatMap((entry) => (entry.type === 'steer' || entry.type === 'prompt' ? [entry.text] : []))

for (let moment = 0; moment < sized(3, 20); moment++)
  test(
    `keys typed while a card appears neither answer it nor vanish, moment ${moment + 1}`,
    { timeout: 120_000 },
    async (t) => {
      const pick = chance(moment)
      const text = burst(pick)
      const at = pick(text.length)
      const machine = new Machine(t)
      const made = join(machine.project, 'made.txt')
      const asks = Promise.withResolvers<void>()
      const server = await modelServer(async ({ count }) => {
        if (count > 1) return { text: 'Very well.' }
        await asks.promise
        return { call: { tool: 'bash', input: { command: 'touch made.txt' } } }
      })
      t.after(() => server.close())
      machine.settings({ metaInstruction: false, thinking: 'off', leash: 'ask', agents: [nativeOn(server)] })
      const window = new ProgramWindow(machine, { env: { ANTHROPIC_API_KEY: 'made-up' }, args: ['make it'] })
      t.after(() => window.end())
      await server.received(1)
      await window.shows('Esc cancels')
      let last = performance.now()
      let slowest = 0
      const press = async (key: string) => {
        await setTimeout(2 + pick(15))
        slowest = Math.max(slowest, performance.now() - last)
        window.type(key)
        last = performance.now()
      }
      for (const [nth, key] of [...text].entries()) {
        if (nth === at) asks.resolve()
        await press(key)
      }
      // The card may come after the last of these keys: the person types on until they see it.
      let more = ''
      while (!window.text().includes('one asks for permission')) {
        more += 'x'
        await press('x')
      }
      // On a machine that is too busy the pauses between keys were a person's: nothing can be said about them.
      if (slowest > slowestMs) return t.skip(`this machine paused for ${Math.round(slowest)} ms between two keys`)
      await window.shows(/one asks for permission[^]*touch made\.txt[^]*Enter answers/)
      assert.deepEqual([answersIn(machine), existsSync(made)], [[], false])
      window.type('3')
      await window.shows('Very well.')
      const lines = `${text}${more}`.split(keys.enter)
      // The last line has no Enter, and stands in the input.
      await window.shows((screen) => screen.includes(`─\n ${lines.at(-1)!}\n`))
      await until(() => sentIn(machine).length === lines.length)
      assert.deepEqual(sentIn(machine).sort(), ['make it', ...lines.slice(0, -1)].sort())
      assert.deepEqual(
        answersIn(machine).map((entry) => (entry.type === 'answer' ? entry.picks : undefined)),
        [['no']],
      )
      assert.equal(existsSync(made), false)
    },
  )

test(
  'in the chat of lines a half-typed line does not answer the question that appears below it',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    const asks = Promise.withResolvers<void>()
    const server = await modelServer(async ({ count }) => {
      if (count > 1) return { text: 'Very well.' }
      await asks.promise
      return { call: { tool: 'bash', input: { command: 'touch made.txt' } } }
    })
    t.after(() => server.close())
    machine.settings({ metaInstruction: false, thinking: 'off', leash: 'ask', agents: [nativeOn(server)] })
    const window = new ProgramWindow(machine, {
      env: { ANTHROPIC_API_KEY: 'made-up', TERM: 'dumb' },
      args: ['make it'],
    })
    t.after(() => window.end())
    await server.received(1)
    window.type('1')
    await window.shows(/^1$/m)
    asks.resolve()
    await window.shows(/Kept until the question is answered, because it was typed before: 1\n>/)
    assert.deepEqual([answersIn(machine), existsSync(join(machine.project, 'made.txt'))], [[], false])
    // Enter alone is the harmless answer.
    window.type(keys.enter)
    await window.shows(/Done by one[^]*\n> 1\s*$/)
    window.type(keys.enter)
    await until(() => sentIn(machine).length === 2)
    assert.deepEqual(sentIn(machine), ['make it', '1'])
    assert.deepEqual(
      answersIn(machine).map((entry) => (entry.type === 'answer' ? entry.picks : undefined)),
      [['no']],
    )
  },
)
