import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Health } from '../../src/turn/rotation/health.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const good = 'cat >/dev/null; echo the answer'
const bad = 'cat >/dev/null; echo half an answer; echo it broke >&2; exit 3'
const spent = 'cat >/dev/null; echo "Error: usage limit reached" >&2; exit 1'

test('one failing and one good agent: the good answer alone on stdout, one prompt, one attempt, one reply', async (t) => {
  const machine = new Machine(t)
  machine.agents({ bad, good })
  const { code, out } = await machine.run(['-p', 'hello'])
  assert.deepEqual({ code, out }, { code: 0, out: 'the answer\n' })
  assert.deepEqual(machine.kept(), [
    ['prompt', 'user', 'hello'],
    ['words', 'bad', 'half an answer'],
    ['attempt', 'bad', 'crash'],
    ['reply', 'good', 'the answer'],
    ['end', 'rotation', 'ok'],
  ])
})

test('all fail: exit 1, every attempt named, no reply kept', async (t) => {
  const machine = new Machine(t)
  machine.agents({ bad, worse: 'cat >/dev/null; exit 4', mute: 'cat >/dev/null' })
  const { code, out, err } = await machine.call(['-p', 'hello'])
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  golden(t, err.split('\n'))
  assert.deepEqual(
    machine.kept().map(([type]) => type),
    ['prompt', 'words', 'attempt', 'attempt', 'attempt', 'end'],
  )
})

test('a spent quota parks an agent over processes; when all are parked the exit code is 75 and says until when', async (t) => {
  const machine = new Machine(t)
  machine.agents({ spent, good })
  assert.equal((await machine.call(['-p', 'one'])).code, 0)
  assert.equal((await machine.call(['-p', 'two', '-r', 'exhaustion', '-a', 'spent'])).code, 0)
  assert.equal(machine.kept().filter(([type]) => type === 'attempt').length, 1, 'a parked agent is not asked again')
  machine.agents({ spent })
  const { code, err } = await machine.run(['-p', 'three'], { env: { TZ: 'Asia/Kolkata' } })
  assert.equal(code, 75)
  const { until } = (machine.health() as Health).agents.spent!.parked!
  const there = new Date(until + 5.5 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
  assert.match(
    err,
    new RegExp(
      `^termaite: no agent is free: spent is out of quota; \`termaite doctor\` checks again now; spent is the first one back, at ${there}\\n$`,
      'm',
    ),
  )
})

test('--only asks the named agent alone: a parked one ends with 75, and nothing else can be meant', async (t) => {
  const machine = new Machine(t)
  machine.agents({ spent, good })
  const first = await machine.call(['-p', 'one', '-a', 'spent', '--only'])
  const again = await machine.call(['-p', 'two', '-a', 'spent', '--only'])
  const nameless = await machine.call(['-p', 'three', '--only'])
  const thinking = await machine.call(['-p', 'four', '-a', 'good', '--only', '--think', 'consensus'])
  const works = await machine.call(['-p', 'five', '-a', 'good', '--only'])
  assert.deepEqual(
    [first, again, nameless, thinking, works].map(({ code, out }) => [code, out]),
    [
      [75, ''],
      [75, ''],
      [2, ''],
      [2, ''],
      [0, 'the answer\n'],
    ],
  )
  assert.match(again.err, /spent: out of quota until /)
  golden(t, nameless.err)
  golden(t, thinking.err)
})

test('round-robin goes on after the agent that answered, over processes; -a does not move it', async (t) => {
  const machine = new Machine(t)
  machine.agents({ a: 'cat >/dev/null; echo a', b: 'cat >/dev/null; echo b', c: 'cat >/dev/null; echo c' })
  const said = []
  for (const args of [[], [], ['-a', 'a'], [], []]) said.push((await machine.call(['-p', 'x', ...args])).out.trim())
  assert.deepEqual(said, ['a', 'b', 'a', 'c', 'a'])
})

test('exhaustion stays with the agent that answered', async (t) => {
  const machine = new Machine(t)
  machine.agents({ spent, good, other: 'cat >/dev/null; echo other' }, { rotationStrategy: 'exhaustion' })
  const said = []
  for (let i = 0; i < 3; i++) said.push((await machine.call(['-p', 'x'])).out.trim())
  assert.deepEqual(said, ['the answer', 'the answer', 'the answer'])
})

test('the next agent is told what the one before did, and history grows at its end alone', async (t) => {
  const machine = new Machine(t)
  machine.agents(
    { bad: 'cat >/dev/null; echo some words; exit 3', echo: 'cat' },
    { rotationStrategy: 'exhaustion', metaInstruction: false },
  )
  const first = await machine.call(['-p', 'hello'])
  assert.match(first.out, /<attempt by="bad">\ncrash: .*\nlast words: some words\n<\/attempt>/)
  const second = await machine.call(['-p', 'again'])
  const shared = '<message from="user">\nhello\n</message>\n<attempt by="bad">'
  assert.ok(first.out.startsWith(shared) && second.out.startsWith(shared))
  assert.match(second.out, /<message from="user">\nagain\n<\/message>/)
})

test('json is one object with every attempt', async (t) => {
  const machine = new Machine(t)
  machine.agents({ bad, good })
  const { out } = await machine.call(['-p', 'hello', '--output-format', 'json'])
  const answer = JSON.parse(out) as Record<string, unknown> & { attempts: { ms: number }[] }
  for (const attempt of answer.attempts) assert.equal(typeof attempt.ms, 'number')
  assert.deepEqual(
    {
      ...answer,
      session: typeof answer.session,
      usage: typeof answer.usage,
      attempts: answer.attempts.map(({ ms: _ms, ...rest }) => rest),
    },
    {
      ok: true,
      agent: 'good',
      text: 'the answer',
      attempts: [
        { agent: 'bad', ok: false, failure: { kind: 'crash', message: 'bad failed with exit code 3: it broke' } },
        { agent: 'good', ok: true },
      ],
      denials: [],
      usage: 'object',
      session: 'string',
      project: machine.project,
    },
  )
})

test('stream-json prints one event a line; kept ones carry their id', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good })
  const { out } = await machine.call(['-p', 'hello', '--output-format', 'stream-json'])
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; at: number; by: string; id?: string })
  assert.ok(events.every(({ at, by }) => typeof at === 'number' && typeof by === 'string'))
  assert.deepEqual(
    events.filter(({ id }) => id).map(({ id, type }) => [type, id]),
    machine.history().map(({ id, type }) => [type, id]),
  )
  assert.ok(events.some(({ type, id }) => type === 'text' && !id))
})

test('when two agents fail, each attempt names its own files', async (t) => {
  const machine = new Machine(t)
  const writes = (file: string) => `cat >/dev/null; echo x >${file}; exit 3`
  machine.agents({ a: writes('a.txt'), b: writes('b.txt'), good })
  await machine.call(['-p', 'hello'])
  const did = machine.history().flatMap((entry) => (entry.type === 'attempt' ? [[entry.by, entry.did?.files]] : []))
  assert.deepEqual(did, [
    ['a', ['a.txt']],
    ['b', ['b.txt']],
  ])
})

test('a turn that no agent could take is kept, and not told to later agents', async (t) => {
  const machine = new Machine(t)
  machine.agents({ spent })
  for (const prompt of ['one', 'two', 'three']) assert.equal((await machine.call(['-p', prompt])).code, 75)
  machine.agents({ echo: 'cat' }, { metaInstruction: false })
  const { out } = await machine.call(['-p', 'four'])
  const prompts = (text: string) => [...text.matchAll(/<message from="user">\n(.*)\n/g)].map((match) => match[1])
  assert.deepEqual(prompts(out), ['one', 'four'])
  assert.equal(machine.kept().filter(([type]) => type === 'prompt').length, 4)
})
