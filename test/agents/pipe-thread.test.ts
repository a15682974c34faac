import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Fact } from '../../src/core/talk/entry.ts'
import type { Profile } from '../../src/core/profile/profile.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import { promptText } from '../../src/core/talk/transcript.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { claude } from '../../src/profiles/claude/claude.ts'
import { piped, profileOf } from './pipe-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const limit = { timeout: 20_000 }

/** A CLI that says on which thread it is and what it was told; a key of "gone" it does not know. */
const resumer: Partial<Profile> = {
  resumes: true,
  command: ({ leash, resume, model }) =>
    resume === 'gone' ? 'echo no such thread >&2; exit 1' : `echo ${leash} ${resume ?? 'fresh'} ${model ?? 'any'}; cat`,
  lostThread: ({ err }) => err.includes('no such thread'),
}

let count = 0
function entriesOf(turn: string, ...facts: [string, Fact][]): Entry[] {
  return facts.map(([by, fact]) => ({ id: `e${++count}`, at: count, by, session: 's', turn, ...fact }))
}

function answered(turn: string, by: string, key?: string): Entry[] {
  const thread: [string, Fact][] = key === undefined ? [] : [[by, { type: 'thread', key }]]
  const text = `answer of ${by}`
  const end: Fact = { type: 'end', outcome: { ok: true, text } }
  return entriesOf(turn, ['user', { type: 'prompt', text: turn }], ...thread, [by, { type: 'reply', text }], [by, end])
}

const told = (history: readonly Entry[]) =>
  promptText({ agent: 'sayer', prompt: 'hello', history, attempts: [], steered: [] }).trim()

const answerOf = async (agent: ReturnType<typeof piped>, history: readonly Entry[]) => {
  const events = await eventsOf(agent, turnOf({ history }))
  return events.filter((event) => event.type === 'thread' || event.type === 'reply')
}

test('a composed command is held to its leash, and says who remembers', () => {
  const traits = (agent: ReturnType<typeof piped>) => agent.traits
  const base = { window: 1000, steers: false }
  assert.deepEqual(traits(piped({ profile: profileOf(resumer) })), {
    ...base,
    memory: 'own',
    talks: true,
    vendor: 'nobody',
    login: 'testcli login',
  })
  assert.deepEqual(traits(piped({ profile: profileOf() }, {}, { leash: 'all' })), {
    ...base,
    memory: 'none',
    talks: false,
    vendor: 'nobody',
    login: 'testcli login',
  })
  assert.deepEqual(traits(piped({ command: 'cat' })), { ...base, memory: 'none', talks: false })
})

test('the traits name the next looser leash; one that means the same is skipped', () => {
  const profile = profileOf({ leashes: { read: 'looks', ask: 'looks', all: 'acts' } })
  const looser = (seat: Leash) => piped({ profile }, {}, { leash: seat }).traits.looser
  const acts = { leash: 'all', means: 'acts' }
  assert.deepEqual([looser('read'), looser('ask'), looser('edit'), looser('all')], [acts, acts, acts, undefined])
})

test('a turn can hold a seat tighter, never looser; a leash it cannot be held to starts nothing', limit, async (t) => {
  const said = async (seat: Leash, leash: Leash) => {
    const agent = piped({ profile: profileOf() }, {}, { leash: seat })
    const events = await eventsOf(agent, turnOf({ leash }))
    const end = events.at(-1)
    return end?.type === 'end' && (end.outcome.ok ? end.outcome.text : end.outcome.failure)
  }
  golden(t, await Promise.all([said('ask', 'read'), said('read', 'all'), said('all', 'edit')]))
})

test('without a thread the agent is given the whole view', limit, async () => {
  const history = [...answered('t1', 'other'), ...answered('t2', 'sayer')]
  const agent = piped({ profile: profileOf(resumer), model: 'm1' }, {}, { leash: 'read' })
  assert.deepEqual(await answerOf(agent, history), [{ type: 'reply', text: `read fresh m1\n${told(history)}` }])
})

test(
  'on its thread the agent is given only the entries that it missed, and the thread is named again',
  limit,
  async () => {
    const seen = [...answered('t1', 'other'), ...answered('t2', 'sayer', 'k1')]
    const missed = answered('t3', 'other')
    assert.deepEqual(await answerOf(piped({ profile: profileOf(resumer) }), [...seen, ...missed]), [
      { type: 'thread', key: 'k1' },
      { type: 'reply', text: `ask k1 any\n${told(missed)}` },
    ])
  },
)

test('a lost thread is begun anew in the same turn, with the whole view', limit, async () => {
  const history = answered('t1', 'sayer', 'gone')
  const events = await eventsOf(piped({ profile: profileOf(resumer) }), turnOf({ history }))
  const text = `ask fresh any\n${told(history)}`
  assert.deepEqual(
    events.filter((event) => event.type !== 'text'),
    [
      { type: 'reply', text },
      {
        type: 'usage',
        input: Math.ceil((told(history).length + 1) / 4),
        output: Math.ceil(text.length / 4),
        source: 'estimated',
      },
      { type: 'end', outcome: { ok: true, text } },
    ],
  )
})

test('a key that is handed in counts for the first turn', limit, async () => {
  const agent = piped({ profile: profileOf(resumer) }, {}, { leash: 'ask', resume: 'k9' })
  assert.deepEqual(await answerOf(agent, []), [
    { type: 'thread', key: 'k9' },
    { type: 'reply', text: `ask k9 any\n${told([])}` },
  ])
  assert.deepEqual(await answerOf(agent, answered('t1', 'sayer', 'k10')), [
    { type: 'thread', key: 'k10' },
    { type: 'reply', text: `ask k10 any\n${told([])}` },
  ])
})

test("a person's own command is given the whole view, whatever its profile can resume", limit, async () => {
  const history = answered('t1', 'sayer', 'k1')
  assert.deepEqual(await answerOf(piped({ command: 'cat', profile: profileOf(resumer) }), history), [
    { type: 'reply', text: told(history) },
  ])
})

test(
  'a key on the log that could be a flag is no thread: the agent is given the whole view on a new one',
  limit,
  async () => {
    const history = answered('one', 'sayer', '--dangerously-skip-permissions')
    const agent = piped({ profile: profileOf(resumer) })
    assert.deepEqual(await answerOf(agent, history), [{ type: 'reply', text: `ask fresh any\n${told(history)}` }])
    const handed = piped({ profile: profileOf(resumer) }, {}, { leash: 'ask', resume: '--yolo' })
    assert.deepEqual(await answerOf(handed, []), [{ type: 'reply', text: `ask fresh any\n${told([])}` }])
  },
)

test('an agent whose model could be a flag is not started, and says why', limit, async (t) => {
  const agent = piped({ profile: claude, model: '--dangerously-skip-permissions' })
  golden(t, (await eventsOf(agent, turnOf())).at(-1))
})
