import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { read } from '../../src/core/screen/reading.ts'
import { termaite } from '../../src/profiles/termaite.ts'
import { turnIn } from '../../src/agents/screen/journal-reader.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const folder = join(import.meta.dirname, '..', 'screen', 'golden')
const { screen: facts } = termaite('termaite', 'native', 'Anthropic')

/** The frames that the chat's own tests hold. */
function frame(name: string) {
  const rows = readFileSync(join(folder, `${name}.txt`), 'utf8').split('\n')
  return { rows, cols: Number(/-(\d+)x/.exec(name)?.[1]), cursor: { row: 0, col: 0 } }
}

const scenes: Record<string, 'busy' | 'idle' | 'asking'> = {
  answered: 'idle',
  choice: 'asking',
  denied: 'asking',
  diff: 'asking',
  empty: 'idle',
  error: 'idle',
  login: 'asking',
  permission: 'asking',
  quota: 'asking',
  sharing: 'asking',
  silence: 'asking',
  streaming: 'busy',
  trust: 'asking',
  welcome: 'idle',
}

test('our own chat is read by its states', () => {
  const names = globSync('*-{80x24,120x40,200x50}.txt', { cwd: folder })
    .map((file) => basename(file, '.txt'))
    .filter((name) => scenes[name.replace(/-\d+x\d+$/, '')])
    .sort()
  assert.equal(names.length, Object.keys(scenes).length * 3)
  const seen = names.map((name) => {
    const { state, by } = read({ screen: frame(name), children: 1, quietMs: 60_000 }, facts!.reader)
    return [name, state, by]
  })
  assert.deepEqual(
    seen,
    names.map((name) => [name, scenes[name.replace(/-\d+x\d+$/, '')], 'pattern']),
  )
})

test('a card is the question that it was drawn from', (t) => {
  const { question, keys } = facts!.dialog!(frame('permission-80x24'))!
  golden(t, question)
  assert.deepEqual([keys(['3']), keys()], [['3'], ['Escape']])
})

test('the composer holds the typed text, and nothing else', () => {
  assert.deepEqual(
    ['welcome', 'streaming', 'commands', 'files', 'permission'].map((name) => facts!.composer!(frame(`${name}-80x24`))),
    ['', '', '/', 'look at @ad', undefined],
  )
})

test('our own chat is started on a session of its own, and resumes it', (t) => {
  golden(t, [
    facts!.command({ leash: 'ask', thread: 'a-b' }),
    facts!.command({ leash: 'read', resume: "it's" }),
    termaite("'/opt/node' '/opt/main.js'", 'my agent', 'Anthropic').screen!.command({ leash: 'all' }),
  ])
})

test('our own log tells the outcome of a turn, whatever else it holds', () => {
  const entry = (turn: string, fact: object) =>
    JSON.stringify({ id: 'x', at: 1, by: 'native', session: 's', turn, ...fact })
  const lines = [
    entry('a', { type: 'prompt', text: 'do it (mark-1)' }),
    entry('b', { type: 'prompt', text: 'something else' }),
    entry('a', { type: 'usage', input: 10, output: 2, cached: 4, source: 'reported' }),
    entry('a', { type: 'reply', text: 'I will.', step: 1 }),
    entry('a', { type: 'usage', input: 1, output: 1, cost: 0.25, source: 'reported' }),
    entry('b', { type: 'reply', text: 'Not this.', step: 1 }),
    entry('a', { type: 'reply', text: 'Done.', step: 2 }),
    entry('a', { type: 'end', outcome: { ok: true, text: '' } }),
  ]
  const read = (written: readonly string[], text: string) =>
    turnIn(
      facts!.journal!,
      written.map((line) => JSON.parse(line)),
      { text },
    )
  const usage = { input: 11, output: 3, cached: 4, cost: 0.25 }
  const begun = lines.slice(0, -1)
  assert.deepEqual(
    [read(lines, 'mark-1'), read(begun, 'mark-1'), read(lines, 'mark-2')],
    [{ answer: 'Done.', usage, over: true }, { usage, over: false }, undefined],
  )
  const ended = (failure: object, ...before: object[]) => {
    const end = { type: 'end', outcome: { ok: false, failure } }
    const { usage: _, ...rest } = read([...begun, ...[...before, end].map((fact) => entry('a', fact))], 'mark-1')!
    return rest
  }
  const spent = { kind: 'quota', message: 'Spent.', retryAt: 5 }
  const stopped = { kind: 'aborted', message: 'Stopped.' }
  const card = { type: 'question', ask: 'q', question: { about: 'quota', text: 'No agent is free.' } }
  assert.deepEqual(
    [
      ended(spent),
      ended(stopped),
      // A person who does not wait on a card stops the turn, and the agent is out of quota all the same.
      ended(stopped, { type: 'attempt', failure: spent, ms: 1 }, card),
      ended(stopped, card),
    ],
    [
      { failure: spent, over: true },
      { fault: 'Stopped.', over: true },
      { failure: spent, over: true },
      { failure: { kind: 'quota', message: 'Stopped.' }, over: true },
    ],
  )
})

test('a card that is read page by page says so, and is answered with the keys that need no second look', (t) => {
  const { question, keys } = facts!.dialog!(frame('long-script-80x24'))!
  const { shows, ...asked } = question
  assert.deepEqual(asked, {
    about: 'permission',
    text: 'bash: ~/.cache/demo is outside the project; it reaches the network',
    from: [],
    options: [
      { id: '1', label: 'Yes, once', key: 1, means: 'once' },
      { id: '3', label: 'No', key: 3, means: 'no' },
    ],
    unanswered: 'No',
  })
  golden(t, shows)
  assert.deepEqual([keys(['1']), keys(['3']), keys(undefined)], [['1'], ['3'], ['Escape']])
})

test('the answers of our own cards mean the same when they are asked elsewhere', () => {
  const means = facts!.dialog!(frame('trust-80x24'))!.question.options.map(({ id, means }) => [id, means])
  assert.deepEqual(means, [
    ['1', 'no'],
    ['2', 'always'],
  ])
})
