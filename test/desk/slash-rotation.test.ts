import { test } from 'node:test'
import assert from 'node:assert/strict'
import { plain, seated } from '../app/seat.ts'

const two = plain({ amber: 'cat >/dev/null; echo amber', birch: 'cat >/dev/null; echo birch' })

test('/switch aims the next turn, by name or by a card, and says that the rotation goes on', async (t) => {
  const seat = await seated(t, two)
  assert.deepEqual(await seat.type('/switch birch'), [['note', 'birch takes the next turn, and only that one.']])
  assert.deepEqual(await seat.type('/switch auto'), [['note', 'The rotation chooses the next agent.']])
  seat.answers.push(['amber'])
  await seat.type('/switch')
  assert.deepEqual(seat.asked, [
    {
      about: 'choice',
      text: 'Which agent takes the next turn? Later turns follow the rotation again.',
      from: [],
      options: [
        { id: 'amber', label: 'amber (ready)' },
        { id: 'birch', label: 'birch (ready)' },
        { id: 'auto', label: 'Let the rotation choose' },
      ],
      unanswered: 'change nothing',
    },
  ])
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
  assert.deepEqual(await seat.type('/switch birch'), [
    [
      'note',
      'birch takes the next turn, and only that one. It is out of quota until 2026-11-15 13:00: you are asked what to do when you send a request.',
    ],
  ])
})

test('/switch with --stay aims all turns, until the next choice', async (t) => {
  const seat = await seated(t, two)
  assert.deepEqual(await seat.type('/switch birch --stay'), [
    ['note', 'birch takes all turns until you leave or type /switch auto.'],
  ])
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
  assert.match(words, /no agent is configured yet\. Type \/setup/)
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
  assert.deepEqual(await seat.type('/leash read'), [
    [
      'text',
      [
        'The leash is read until you leave: read only.',
        '',
        '- amber: own flags: the command runs as it is written',
        '- birch: own flags: the command runs as it is written',
      ].join('\n'),
    ],
  ])
  assert.deepEqual(seat.turned, [
    ['strategy', 'random'],
    ['strategy', 'exhaustion'],
    ['leash', 'edit'],
    ['leash', 'read'],
  ])
  assert.deepEqual(
    seat.asked.map(({ text, options }) => [text, options.map(({ id }) => id)]),
    [
      ['Which rotation strategy? Now: round-robin.', ['round-robin', 'exhaustion', 'random', 'measured']],
      ['How much may the agents do? Now: ask.', ['read', 'ask', 'edit', 'all']],
    ],
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
  assert.match(text, /^- gemini .* · read: plan mode: reads and searches/m)
  assert.match(text, /^- mine .* · own flags: the command runs as it is written$/m)
})
