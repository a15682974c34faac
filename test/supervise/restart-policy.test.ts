import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Reading } from '../../src/core/screen/reading.ts'
import type { Failure, FailureKind } from '../../src/core/talk/outcome.ts'
import type { Incident, ProgramEnd, Remedy } from '../../src/supervise/restart-policy.ts'
import { saysGoodbye } from '../../src/supervise/supervised-program.ts'
import {
  keyboardHeldMs,
  remedyFor,
  nudgeDelay,
  RestartCounter,
  parkedUntil,
} from '../../src/supervise/restart-policy.ts'
import { defaultRestartPolicy } from '../../src/supervise/restart-policy.ts'

const failure = (kind: FailureKind): Failure => ({ kind, message: `${kind}!` })
const exit = (code: number, sinceKeyMs = 60_000): ProgramEnd => ({ type: 'exit', exit: { code }, sinceKeyMs })
const killed = (signal: number, sinceKeyMs = 60_000): ProgramEnd => ({ type: 'exit', exit: { signal }, sinceKeyMs })
const goodbye = (sinceKeyMs = 60_000): ProgramEnd => ({ type: 'goodbye', sinceKeyMs })
const restart = (why: string, fresh: boolean, counts: boolean): Remedy => ({ do: 'restart', why, fresh, counts })

const verdicts: [what: string, found: Partial<Incident>, verdict: Remedy][] = [
  ['exit 0 within 5 s of a key', { ending: exit(0, 5_000) }, { do: 'quit' }],
  ['the same in the middle of a task', { ending: exit(0, 1), failure: failure('crash'), inHand: true }, { do: 'quit' }],
  ['the same over a quota', { ending: exit(0, 1), failure: failure('quota') }, { do: 'quit' }],
  ['Ctrl+C', { ending: exit(130, 100) }, { do: 'quit' }],
  ['Ctrl+C that nothing caught', { ending: killed(2, 100) }, { do: 'quit' }],
  ['goodbye to the person', { ending: goodbye(900) }, { do: 'quit' }],
  [
    'exit 0 long after a key',
    { ending: exit(0, 5_001), hasWorked: true },
    restart('the program exited by itself', true, false),
  ],
  ['exit 0 before it did anything', { ending: exit(0) }, restart('the program exited by itself', true, true)],
  [
    'exit 0 with a task in hand',
    { ending: exit(0), inHand: true, hasWorked: true },
    restart('the program exited by itself', false, false),
  ],
  ['goodbye', { ending: goodbye(), hasWorked: true }, restart('the program said goodbye', true, false)],
  [
    'out of its loop',
    { ending: { type: 'silent' }, hasWorked: true },
    restart('the program stopped polling for work', true, false),
  ],
  ['exit 1 right after a key', { ending: exit(1, 10) }, restart('the program exited with 1', false, true)],
  ['exit 137', { ending: exit(137), hasWorked: true }, restart('the program exited with 137', false, true)],
  ['killed', { ending: killed(9) }, restart('the program was killed by signal 9', false, true)],
  ['killed in a turn', { ending: killed(9), failure: failure('crash') }, restart('crash!', false, true)],
  ['a spent quota', { failure: failure('quota') }, { do: 'park', failure: failure('quota') }],
  [
    'a spent quota, and it left',
    { failure: failure('quota'), ending: exit(1) },
    { do: 'park', failure: failure('quota') },
  ],
  ['a busy provider', { failure: failure('busy') }, { do: 'park', failure: failure('busy') }],
  ['not logged in', { failure: failure('auth') }, { do: 'give-up', why: 'auth!' }],
  ['not installed', { failure: failure('missing') }, { do: 'give-up', why: 'missing!' }],
  ['no money left', { failure: failure('unfinished') }, { do: 'give-up', why: 'unfinished!' }],
  ['a session that is full', { failure: failure('overflow') }, restart('overflow!', true, true)],
  ['denied', { failure: failure('denied'), state: 'idle' }, { do: 'stop' }],
  ['stopped by the person', { failure: failure('aborted'), state: 'idle' }, { do: 'stop' }],
  ['no answer, and it can be typed to', { failure: failure('crash'), state: 'idle' }, { do: 'nudge', why: 'crash!' }],
  ['silent, and stopped', { failure: failure('timeout'), state: 'idle', nudges: 1 }, { do: 'nudge', why: 'timeout!' }],
  ['told twice in vain', { failure: failure('timeout'), state: 'idle', nudges: 2 }, restart('timeout!', false, true)],
  ['an unknown screen', { failure: failure('crash'), state: 'unknown' }, restart('crash!', false, true)],
  ['busy for ever', { failure: failure('timeout'), state: 'busy' }, restart('timeout!', false, true)],
  ['no screen at all', { failure: failure('crash') }, restart('crash!', false, true)],
]

test('remedyFor() decides about a program that left, or a turn that failed', () => {
  for (const [what, found, wanted] of verdicts)
    assert.deepEqual(remedyFor({ inHand: false, hasWorked: false, nudges: 0, ...found }), wanted, what)
})

test('a goodbye is meant when it is the last line, alone, and not in code', () => {
  const quiet: Reading = { state: 'unknown', by: 'quiet' }
  const idle: Reading = { state: 'idle', by: 'quiet' }
  const said: [rows: string[], reading: Reading, meant: boolean][] = [
    [['done', 'Goodbye', ''], quiet, true],
    [['Exiting...'], idle, true],
    [['Goodbye!'], { state: 'idle', by: 'children' }, true],
    [['Goodbye'], { state: 'busy', by: 'pattern' }, false],
    [['Goodbye'], { state: 'busy', by: 'children' }, false],
    [['Goodbye'], { state: 'asking', by: 'pattern' }, false],
    [['Goodbye', '> '], { state: 'idle', by: 'pattern' }, false],
    [['Goodbye', 'and more'], quiet, false],
    [['  Goodbye'], quiet, false],
    [['console.log("Goodbye")'], quiet, false],
    [['"Goodbye"'], quiet, false],
    [['Goodbye world'], quiet, false],
    [['goodbye'], quiet, false],
    [['```js', 'fatal error', 'Goodbye'], quiet, false],
    [['```', 'x', '```', 'Goodbye'], quiet, true],
    [['fatal error'], quiet, false],
    [[], quiet, false],
  ]
  for (const [rows, reading, meant] of said)
    assert.equal(saysGoodbye(rows, reading), meant, JSON.stringify([rows, reading]))
})

test("the keyboard is the person's for half a minute after a key, or until a half-typed line is abandoned", () => {
  const on = (touched: number, typedAt: number, composer: string | undefined, now: number) =>
    keyboardHeldMs({ touched, typedAt, composer, now })
  assert.deepEqual(
    [
      on(0, 0, undefined, 1_000_000),
      on(1_000, 0, '', 11_000),
      on(1_000, 0, '', 31_000),
      on(1_000, 0, 'half a', 31_000),
      on(1_000, 0, 'half a', 601_000),
      on(1_000, 2_000, 'came back after Escape', 31_000),
    ],
    [0, 20_000, 0, 570_000, 0, 0],
  )
})

test('a nudge is due after two quiet minutes without keys, and only on an idle screen', () => {
  const due = (state: Reading['state'], quietMs: number, keyboardMs = 0) => nudgeDelay({ state, quietMs, keyboardMs })
  assert.deepEqual(
    [
      due('idle', 0),
      due('idle', 119_000),
      due('idle', 120_000),
      due('idle', 120_000, 7_000),
      due('asking', 999_000),
      due('unknown', 999_000),
      due('busy', 999_000),
    ],
    [120_000, 1_000, 0, 7_000, undefined, undefined, undefined],
  )
})

test('a refusal is waited out until it says, and longer each time where it says nothing', () => {
  const minutes = (kind: FailureKind, retryAt: number | undefined, before: number) =>
    (parkedUntil({ kind, message: '', ...(retryAt === undefined ? {} : { retryAt }) }, 1_000, before) - 1_000) / 60_000
  assert.deepEqual(
    [
      minutes('quota', 301_000, 5),
      minutes('quota', undefined, 0),
      minutes('quota', undefined, 2),
      minutes('quota', undefined, 9),
      minutes('quota', 500, 0),
      minutes('quota', 500, 9),
      minutes('busy', undefined, 0),
      minutes('busy', undefined, 1),
    ],
    [5, 60, 240, 1_440, 1, 60, 1, 2],
  )
})

test('restarts are twice as far apart each time, from 1 s to 60 s, and ten crashes an hour', () => {
  const restarts = new RestartCounter(defaultRestartPolicy)
  const waits = Array.from({ length: 10 }, (_, i) => restarts.next(i * 60_000, true))
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000])
  assert.equal(restarts.next(3_599_999, true), undefined)
  assert.equal(restarts.next(3_599_999, false), 60_000, 'what is no crash is not counted')
  restarts.reset()
  assert.equal(restarts.next(3_600_000, true), 1_000, 'the first one is an hour ago')
  assert.equal(restarts.next(3_600_000, true), undefined)
})
