import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ListTalk } from '../../src/core/talk/command.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const two = plain({ amber: 'cat >/dev/null; echo amber', birch: 'cat >/dev/null; echo birch' })

test('/switch aims the next turn, by name or by a card, and says that the rotation goes on', async (t) => {
  const seat = await seated(t, two)
  golden(t, await seat.type('/switch birch'))
  golden(t, await seat.type('/switch auto'))
  seat.answers.push(['amber'])
  await seat.type('/switch')
  golden(t, seat.asked)
  assert.deepEqual(await seat.type('/switch'), [], 'a card that is left changes nothing')
  assert.deepEqual(seat.turned, [
    ['aim', 'birch'],
    ['aim', undefined],
    ['aim', 'amber'],
  ])
})

test('/switch to an unknown agent names the one that was meant, and to a parked one until when', async (t) => {
  const seat = await seated(t, two)
  assert.deepEqual(await seat.type('/switch brich'), [['error', 'there is no agent "brich"; did you mean "birch"?']])
  seat.agents.push({ name: 'birch', state: 'parked', until: Date.parse('2026-11-15T13:00'), why: 'usage limit' })
  golden(t, await seat.type('/switch birch'))
})

test('/switch with --stay aims all turns, until the next choice', async (t) => {
  const seat = await seated(t, two)
  golden(t, await seat.type('/switch birch --stay'))
  assert.deepEqual(await seat.type('/switch birch --sty'), [
    ['error', 'there is no option "--sty"; did you mean "--stay"?'],
  ])
  assert.deepEqual(seat.turned, [
    ['stay', 'birch'],
    ['aim', undefined],
  ])
})

test('without an agent to switch to, /switch names the next step', async (t) => {
  const seat = await seated(t, { agents: [] })
  const [[how, words] = ['', '']] = await seat.type('/switch')
  assert.equal(how, 'error')
  golden(t, words)
})

test('/strategy and /leash are set by word or by card, and a mistyped word is corrected', async (t) => {
  const seat = await seated(t, two)
  await seat.type('/strategy random')
  seat.answers.push(['exhaustion'], ['edit'])
  await seat.type('/strategy')
  assert.deepEqual(await seat.type('/strategy rondom'), [
    ['error', 'there is no strategy "rondom"; did you mean "random"?'],
  ])
  await seat.type('/leash')
  golden(t, await seat.type('/leash read'))
  assert.deepEqual(seat.turned, [
    ['strategy', 'random'],
    ['strategy', 'exhaustion'],
    ['leash', 'edit'],
    ['leash', 'read'],
  ])
  golden(
    t,
    seat.asked.map(({ text, options }) => [text, options.map(({ id }) => id)]),
  )
})

test('arguments of slash commands are completed', async (t) => {
  const seat = await seated(t, two)
  assert.deepEqual(await seat.complete('switch', 'A'), ['amber', 'amber --stay', 'auto'])
  assert.deepEqual(await seat.complete('strategy', ''), ['round-robin', 'exhaustion', 'random', 'measured'])
  assert.deepEqual(await seat.complete('leash', 'e'), ['edit'])
  assert.deepEqual(await seat.complete('usage', 'd'), ['day'])
})

test('/agents shows each agent: state, window, channel, and its leash', async (t) => {
  const seat = await seated(t, {
    agents: [
      { name: 'gemini', profile: 'gemini', contextWindowTokens: 1_000_000, leash: 'read' },
      { name: 'mine', command: 'cat', contextWindowTokens: 8_000 },
      { name: 'off', command: 'cat', contextWindowTokens: 8_000, enabled: false },
    ],
  })
  seat.agents.push(
    { name: 'gemini', state: 'cooling down', until: Date.parse('2026-11-15T13:00') },
    { name: 'mine', state: 'out', why: 'bash: mine: not found' },
  )
  const [[how, text] = ['', '']] = await seat.type('/agents')
  assert.equal(how, 'text')
  assert.deepEqual(
    text.split('\n').map((line) => line.split(' · ').slice(0, 4)),
    [
      ['- gemini', 'cooling down until 2026-11-15 13:00', 'window 1,000,000', 'one-way pipe, cannot ask'],
      ['- mine', 'unavailable: bash: mine: not found', 'window 8,000', 'own command'],
      ['- off', 'switched off', 'window 8,000', 'own command'],
    ],
  )
  golden(t, text)
})

test('the table of agents switches, orders, adds and removes them in the settings file, at once', async (t) => {
  const bin = join(import.meta.dirname, 'none')
  const seat = await seated(
    t,
    {
      agents: [
        { name: 'amber', command: 'cat >/dev/null; echo one', contextWindowTokens: 1000 },
        { name: 'birch', profile: 'crush', contextWindowTokens: 1000 },
      ],
    },
    { PATH: `${bin}:/usr/bin:/bin` },
  )
  const path = join(seat.home, 'settings.json')
  const written = () => (JSON.parse(readFileSync(path, 'utf8')) as { agents: unknown[] }).agents
  const steps: [action: string, name: string, ...answers: unknown[]][] = [
    ['toggle', 'birch'],
    ['toggle', 'birch'],
    ['raise', 'birch'],
    ['add', 'amber', ' own', 'cedar', 'cat >/dev/null; echo two'],
    ['add', 'amber', ' own', 'amber', 'true'],
    ['add', 'amber', undefined],
    ['remove', 'birch', false],
    ['remove', 'birch', true],
    ['add', 'amber', ' own', 'user', 'true'],
  ]
  const shown: unknown[] = []
  seat.world.screen.list = async (view) => {
    shown.push(await view.rows(''))
    for (const [action, name, ...answers] of steps) {
      const row = (await view.rows('')).find(({ id }) => id === name)
      const talk: ListTalk = {
        line: async (label) => (shown.push(label), answers.shift() as string | undefined),
        sure: async (words) => (shown.push(words), answers.shift() === true),
        pick: async (_title, rows) => (shown.push(rows.at(-1)), answers.shift() as string | undefined),
        close: () => {},
      }
      shown.push([action, name, await view.act(action, row, talk).catch((error: Error) => error.message)])
      shown.push(written())
    }
    shown.push(view.empty(''))
  }
  await seat.type('/agents')
  golden(t, shown, { [seat.home]: '<home>' })
  assert.deepEqual(
    seat.app.settings.agents.map(({ name }) => name),
    ['amber', 'cedar'],
  )
})
