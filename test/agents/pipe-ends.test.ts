import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { plainFailure } from '../../src/agents/plain-failure.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { turning } from '../base/alive.ts'
import { failureIn, piped, profileOf, running } from './pipe-rig.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const limit = { timeout: 20_000 }
const now = Date.parse('2026-11-15T12:00:00Z')
const clock = new HandClock(now)

const ends: [string, Parameters<typeof piped>[0]][] = [
  ['an exit code, with the last line of stderr', { command: 'echo half; echo one >&2; echo two >&2; exit 3' }],
  ['an exit code, with the last line of stdout', { command: 'echo half; exit 4' }],
  ['an exit code alone', { command: 'exit 5' }],
  ['a signal', { command: 'kill -9 $$' }],
  ['an empty answer', { command: 'echo; echo " "' }],
  ['an empty answer with a word on stderr', { command: 'echo why >&2' }],
  ['a command bash does not find', { command: 'no-such-command' }],
  ['a program that is not there', { command: '/no/such/program', args: [], profile: profileOf() }],
  ['a quota without a time', { command: 'echo "Error: daily quota reached" >&2; exit 1' }],
  ['a quota with a time', { command: 'echo "429: try again in 20s" >&2; exit 1' }],
  ['a context that was too long', { command: 'echo "prompt is too long: 210000 tokens" >&2; exit 1' }],
  [
    'what the profile knows, although the exit was 0 and there is text',
    {
      command: 'echo You are out of tea',
      profile: profileOf({
        failure: ({ out, err, code, now }) =>
          out === 'You are out of tea\n' && err === '' && code === 0
            ? { kind: 'quota', message: out.trim(), retryAt: now }
            : undefined,
      }),
    },
  ],
]
for (const [name, spec] of ends)
  test(`a turn fails by ${name}`, limit, async (t) => {
    const events = await eventsOf(piped(spec), turnOf({ clock }))
    golden(t, [failureIn(events), events.filter((event) => event.type === 'reply')])
  })

test('a missing folder is named in the failure', limit, async (t) => {
  const events = await eventsOf(piped({ command: 'echo hi' }), turnOf({ cwd: '/no/such/folder' }))
  golden(t, failureIn(events))
})

test('words about quotas count only in the message that a failed command ends with', () => {
  const says = (err: string, code: number, out = '') => plainFailure({ err, out, code, now })?.kind
  assert.deepEqual(
    [
      says('usage limit reached', 1),
      says('Rate-limit hit', 1),
      says('RESOURCE_EXHAUSTED', 1),
      says('quota', 0, 'an answer'),
      says('quota', 0),
      says('quota is fine\nsegfault', 1),
      says('', 1, 'your quota is spent'),
      says('port 4290 is taken', 1),
      says('write: Disk quota exceeded', 1),
    ],
    ['quota', 'quota', 'quota', undefined, undefined, undefined, 'quota', undefined, undefined],
  )
})

test('a turn that takes too long is ended whole', limit, async (t) => {
  const clock = new HandClock()
  const command = `trap '' TERM; while :; do echo tick; sleep 0.01; done`
  const turn = eventsOf(piped({ command, timeoutMs: 2_000, silenceMs: 60_000 }), turnOf({ clock }))
  await until(() => clock.asleep >= 2)
  await clock.turn(2_000)
  golden(t, failureIn(await turning(clock, turn)))
  assert.deepEqual(await running(), [])
})

test('a silent turn is ended, and half its answer is no reply', limit, async (t) => {
  const clock = new HandClock()
  const turn = eventsOf(piped({ command: 'echo half; sleep 77 & wait', silenceMs: 5_000 }), turnOf({ clock }))
  await until(() => clock.asleep >= 2)
  const events = await turning(clock, turn)
  golden(t, failureIn(events))
  assert.deepEqual(await running(), [])
})

test('output in time is a sign of life, and so is a file that changes', limit, async () => {
  const clock = new HandClock()
  const asked: { cwd: string; since: number }[] = []
  const agent = piped(
    { command: 'read -r; echo go; sleep 77', silenceMs: 5_000 },
    {
      changed: async (cwd, since) => {
        asked.push({ cwd, since })
        return asked.length < 3
      },
    },
  )
  const turn = eventsOf(agent, turnOf({ clock, cwd: '/tmp' }))
  const begun = clock.now()
  await until(() => clock.asleep >= 2)
  const failure = failureIn(await turning(clock, turn))
  assert.equal(failure?.kind, 'timeout')
  assert.equal(asked.length, 3)
  assert.deepEqual(
    asked.map(({ cwd }) => cwd),
    ['/tmp', '/tmp', '/tmp'],
  )
  assert.ok(asked[0]!.since >= begun && asked[1]!.since >= asked[0]!.since + 5_000)
})

test('a cancelled turn has ended its group when it says so', limit, async () => {
  const abort = new AbortController()
  const agent = piped({ command: 'echo go; setsid sleep 77 & sleep 78 & wait' })
  for await (const event of agent.turn(turnOf({ signal: abort.signal }))) {
    if (event.type === 'text') {
      await until(async () => (await running()).includes('sleep 77'))
      abort.abort()
    }
    if (event.type === 'end') assert.deepEqual(await running(), [])
  }
})

test('closing the seat ends its turn', limit, async () => {
  const agent = piped({ command: 'echo go; sleep 77' })
  const events: unknown[] = []
  for await (const event of agent.turn(turnOf())) {
    events.push(event)
    if (event.type === 'text') void agent.close()
  }
  assert.deepEqual(events.at(-1), {
    type: 'end',
    outcome: { ok: false, failure: { kind: 'aborted', message: 'sayer was cancelled' } },
  })
  assert.deepEqual(await running(), [])
})
