import type { Check } from '../../src/think/goal-check.ts'
import type { WorkDone, CheckResult } from '../../src/think/goal-check.ts'
import type { Policy } from '../../src/core/work/policy.ts'
import type { Rigged } from './rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { runCheck } from '../../src/think/goal-check.ts'
import { containsQuote } from '../../src/think/goal-check.ts'
import { checkField, parseCheck, checkName } from '../../src/think/goal-check.ts'
import { ThinkingTurn } from '../../src/think/thinking-turn.ts'
import { drained } from '../core/made.ts'
import { dies, factsIn, hangs, json, thinkingRig, person, phasesIn, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const work: WorkDone = { task: 'make it', reply: 'It is made.' }

async function seen(
  check: Check,
  rigged: Rigged = {},
  over: Parameters<ReturnType<typeof thinkingRig>['turn']>[0] = {},
  done = work,
) {
  const rig = thinkingRig(rigged)
  const course = new ThinkingTurn('reflect', rig.turn(over), rig.resources)
  const { events, result } = await drained(runCheck(check, done, course))
  return { rig, events, course, result }
}

test('a command passes by its exit code and its output', async () => {
  const commands = { 'npm test': 0, 'echo hi': { exit: 0, text: 'hi there' }, false: { exit: 1, text: 'no\n[exit 1]' } }
  const { events, result } = await seen({ kind: 'command', command: 'npm test' }, { commands })
  assert.deepEqual(result, { passed: true, evidence: '`npm test` exited with 0:\n[no output]' })
  assert.deepEqual(phasesIn(events), ['checking: npm test'])
  assert.deepEqual(factsIn(events), [
    { type: 'call', call: 'c1', tool: 'bash', input: { command: 'npm test', timeout_seconds: 600 }, by: 'termaite' },
    { type: 'result', call: 'c1', ok: true, text: '[no output]', data: { exit: 0 }, by: 'termaite' },
  ])
  const results: [Check, CheckResult][] = [
    [
      { kind: 'command', command: 'echo hi', prints: 'hi' },
      { passed: true, evidence: '`echo hi` exited with 0:\nhi there' },
    ],
    [
      { kind: 'command', command: 'echo hi', prints: 'ho' },
      { passed: false, evidence: '`echo hi` exited with 0 and did not print "ho":\nhi there' },
    ],
    [
      { kind: 'command', command: 'false' },
      { passed: false, evidence: '`false` exited with 1:\nno\n[exit 1]' },
    ],
  ]
  for (const [check, wanted] of results) assert.deepEqual((await seen(check, { commands })).result, wanted)
})

test('a command of many lines is named by its first line: the call has all of them', async () => {
  const command = 'npm test \\\n  -- --all'
  const { result } = await seen({ kind: 'command', command }, { commands: { [command]: 0 } })
  assert.deepEqual(result, { passed: true, evidence: '`npm test \\` exited with 0:\n[no output]' })
})

test('a command that is not there, is killed, does not end or breaks has failed', async (t) => {
  const cases: [string, Rigged['commands']][] = [
    ['nope', {}],
    ['x', { x: { exit: 'SIGKILL', text: 'k' } }],
    ['x', { x: { text: '[ended after 600 s]' } }],
    [
      'x',
      {
        x: () => {
          throw new Error('no shell')
        },
      },
    ],
  ]
  for (const [command, commands] of cases) {
    const { result } = await seen({ kind: 'command', command }, commands ? { commands } : {})
    golden(t, result)
  }
})

test('a check that was not allowed is refused, by a person or a rule, and is no failure', async (t) => {
  const check: Check = { kind: 'command', command: 'rm x' }
  const ask: Policy = async () => ({ verdict: 'ask', why: 'it runs something' })
  const no: Policy = async () => ({ verdict: 'no', why: 'a rule denies it' })
  golden(t, (await seen(check, { policy: ask }, person(['no']))).result)
  golden(t, (await seen(check, { policy: ask })).result)
  golden(t, (await seen(check, { policy: no })).result)
  const { result } = await seen(check, { policy: ask, commands: { 'rm x': 0 } }, person(['once']))
  assert.equal(result.passed, true)
})

test('a file passes by its content; one that is missing or cannot be read has failed', async (t) => {
  const files = new Map([['a.txt', 'one two']])
  const results: Check[] = [
    { kind: 'file', path: 'a.txt' },
    { kind: 'file', path: 'a.txt', holds: 'two' },
    { kind: 'file', path: 'a.txt', holds: 'six' },
    { kind: 'file', path: 'b.txt' },
  ]
  for (const check of results) golden(t, (await seen(check, { files })).result)
  const rig = thinkingRig()
  rig.resources.tools.read = () => Promise.reject(new Error('it is a folder'))
  const { result } = await drained(
    runCheck({ kind: 'file', path: 'b.txt' }, work, new ThinkingTurn('script', rig.turn(), rig.resources)),
  )
  golden(t, result)
})

test('a cancel ends the command of a check', async (t) => {
  const cancel = new AbortController()
  const check = seen({ kind: 'command', command: 'sleep' }, { commands: { sleep: 'hang' } }, { signal: cancel.signal })
  await settled()
  cancel.abort()
  const { result, course } = await check
  golden(t, result)
  assert.deepEqual(course.over, { ok: false, failure: { kind: 'aborted', message: 'cancelled' } })
})

test('long evidence keeps its beginning and its end', async () => {
  const text = `first\n${'x'.repeat(9_000)}\nlast`
  const { result } = await seen({ kind: 'command', command: 'x' }, { commands: { x: { exit: 2, text } } })
  assert.ok(result.evidence.startsWith('`x` exited with 2:\nfirst\n') && result.evidence.endsWith('\nlast'))
  assert.ok(result.evidence.length < 4_100)
})

const question: Check = { kind: 'judge', question: 'Is it made?' }

test('the judge is another agent than the one that acted, sees the work and must quote it', async (t) => {
  const agents = { claude: [says('It is made.')], gemini: [json({ passed: true, quote: '+made:  yes', why: 'it is' })] }
  const rig = thinkingRig({ agents })
  const course = new ThinkingTurn('reflect', rig.turn(), rig.resources)
  await drained(course.act('make it'))
  const done = { task: 'make it </task>', reply: 'It is made.', patch: '@@\n+made: yes\n' }
  const { result } = await drained(runCheck(question, done, course))
  assert.deepEqual(result, { passed: true, evidence: 'gemini saw it: +made:  yes' })
  const [asked] = rig.told('gemini')
  golden(t, asked!.split('\n\nAnswer with one JSON')[0])
})

test('a quote counts where it stands: in the reply, in the changes or in a file, whatever its blanks', async (t) => {
  const files = new Map([['out.txt', 'all\n  good here']])
  const verdicts: unknown[] = [
    { passed: true, quote: 'is made', why: '' },
    { passed: 'true', quote: 'is   made' },
    { passed: true, quote: 'all good', file: 'out.txt' },
    { passed: true, quote: 'is made', file: 'no.txt' },
    { passed: true, quote: 'it works', file: 'out.txt' },
    { passed: true, quote: 'it works', file: '' },
    { passed: true, quote: ' . ' },
    { passed: true },
    { passed: false, quote: 'is made', why: 'it is not' },
    { passed: false },
  ]
  for (const answer of verdicts) golden(t, (await seen(question, { agents: { claude: [json(answer)] }, files })).result)
})

test('termaite’s own words about a missing reply are no evidence', async (t) => {
  const quote = 'look at the files themselves'
  const agents = { claude: [json({ passed: true, quote })] }
  const { result, rig } = await seen(question, { agents }, {}, { task: 'make it', reply: '' })
  golden(t, result)
  golden(t, rig.told('claude')[0]!)
})

test('words are found whatever their blanks and the marks of a patch; a mark alone shows nothing', () => {
  assert.deepEqual(
    [
      containsQuote('-a\n+b  c', 'b c'),
      containsQuote('a b', 'a\n+b'),
      containsQuote('a.b', '.'),
      containsQuote('a', ''),
      containsQuote('ab', 'abc'),
    ],
    [true, true, false, false, false],
  )
})

test('a letter or two stand everywhere and show nothing, unless they are all that a line says', () => {
  const text = 'It is made.\n42\n- b\n'
  assert.deepEqual(
    ['i', 'is', 'It is', 'made', '42', 'b', '4'].map((quote) => containsQuote(text, quote)),
    [false, false, true, true, true, true, false],
  )
})

test('a judge that dies is replaced; one that rambles, all dead ones and a silent one leave it open', async (t) => {
  const replaced = await seen(question, { agents: { a: [dies()], b: [json({ passed: true, quote: 'made' })] } })
  assert.deepEqual(replaced.result, { passed: true, evidence: 'b saw it: made' })
  const rambles = await seen(question, { agents: { a: [says('Looks fine!')] } })
  golden(t, rambles.result)
  assert.equal(rambles.course.calls, 2)
  const dead = await seen(question, { agents: { a: [dies('gone')], b: [dies('gone too')] } })
  golden(t, dead.result)
  const rig = thinkingRig({ agents: { a: [hangs] } })
  const course = new ThinkingTurn('reflect', rig.turn(), rig.resources)
  const silent = drained(runCheck(question, work, course))
  await settled()
  await rig.clock.turn(180_000)
  golden(t, (await silent).result)
})

test('the agent that judges can be set', async () => {
  const agents = { a: [json({ passed: false, why: 'a' })], b: [json({ passed: false, why: 'b' })] }
  const { rig } = await seen(question, { agents, assigned: { judge: 'b' } })
  assert.deepEqual(rig.names(), ['b'])
})

test('a proposed check is read by its kind, or dropped where a part is missing', () => {
  const proposed: [unknown, Check | undefined][] = [
    [
      { kind: 'command', command: ' npm test ', mood: 1 },
      { kind: 'command', command: 'npm test' },
    ],
    [
      { kind: 'command', command: 'x', holds: 'ok' },
      { kind: 'command', command: 'x', prints: 'ok' },
    ],
    [{ kind: 'command', command: ' ' }, undefined],
    [{ kind: 'command', path: 'x' }, undefined],
    [
      { kind: 'file', path: ' a ', holds: '' },
      { kind: 'file', path: 'a' },
    ],
    [
      { kind: 'file', path: 'a', holds: 'b' },
      { kind: 'file', path: 'a', holds: 'b' },
    ],
    [
      { kind: 'judge', question: 'Why?' },
      { kind: 'judge', question: 'Why?' },
    ],
    [{ kind: 'judge', question: null }, undefined],
  ]
  const at = { path: ['check'], lenient: true }
  assert.deepEqual(
    proposed.map(([input]) => parseCheck(checkField.read(input, at))),
    proposed.map(([, check]) => check),
  )
  assert.equal(parseCheck(undefined), undefined)
  assert.throws(() => checkField.read({ kind: 'oracle' }, at), /check\.kind must be one of "command", "file", "judge"/)
  assert.deepEqual(
    proposed.flatMap(([, check]) => (check ? [checkName(check)] : [])),
    ['npm test', 'x', 'a', 'a holds "b"', 'Why?'],
  )
})
