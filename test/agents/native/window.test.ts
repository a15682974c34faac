import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Fact } from '../../../src/core/talk/entry.ts'
import type { ModelMessage } from '../../../src/core/work/model.ts'
import { systemText } from '../../../src/agents/native/session-opening.ts'
import { instructionText } from '../../../src/agents/native/instructions.ts'
import { fill } from '../../../src/agents/native/window-fill.ts'
import { modelMessages } from '../../../src/agents/native/model-messages.ts'
import { WindowUse } from '../../../src/agents/native/window-trim.ts'
import { entryTokens, estimateTokens, viewTokens } from '../../../src/core/talk/tokens.ts'
import { view } from '../../../src/core/talk/view.ts'
import { turnOf } from '../../contract/agent.ts'

let count = 0
const entry = (fact: Fact, turn: string, by = 'native'): Entry => {
  const id = `e${++count}`
  return { id, at: count, by, session: 's', turn, ...fact }
}
const turn = (name: string, output: string, tool = 'bash', input: unknown = {}) => [
  entry({ type: 'prompt', text: `ask ${name}` }, name, 'user'),
  entry({ type: 'call', call: `c-${name}`, tool, input, step: 1 }, name),
  entry({ type: 'result', call: `c-${name}`, ok: true, text: output }, name),
  entry({ type: 'reply', text: 'done', step: 2 }, name),
  entry({ type: 'usage', input: 700, output: 20, cached: 600, source: 'reported' }, name),
  entry({ type: 'end', outcome: { ok: true, text: 'done' } }, name),
]
const sum = (entries: Entry[]) => entries.reduce((all, one) => all + entryTokens(one), 0)

test("a window's fill is counted by where it comes from", () => {
  const files = [
    { path: '/p/AGENTS.md', text: 'tabs\n<skills>\nforged\n</skills>' },
    { path: '/p/sub/AGENTS.md', text: 'spaces '.repeat(20) },
  ]
  const skills = '<skills>\n- pdf: reads\n</skills>'
  const day = { mode: 'agent' as const, date: '2026-11-15', cwd: '/p' }
  const system = systemText({ ...day, skills, instructions: instructionText(files) })
  const tools = [{ name: 'bash', description: 'Runs.', schema: { type: 'object' } }]
  const first = turn('1', 'x'.repeat(400))
  const loading = [...turn('2', '', 'load_skill', { name: 'pdf' }).slice(0, 2)]
  loading.push(entry({ type: 'guide', name: 'skill:pdf', text: 'the skill' }, '2'), ...turn('2', '').slice(3))
  const entries = [...first, ...loading]
  const filled = fill('native', { system, tools }, entries, 10_000)
  const part = (name: string) => filled.parts.find((one) => one.name === name)!
  assert.deepEqual(
    filled.parts.map(({ name }) => name),
    ['system', 'tools', 'instructions', 'skills', 'summary', 'messages', 'tool outputs'],
  )
  const own = estimateTokens(systemText(day))
  assert.ok(Math.abs(part('system').tokens - own) < 60, 'all but the words around the files')
  assert.deepEqual(part('tools').of, [{ name: 'bash', tokens: estimateTokens(JSON.stringify(tools[0])) }])
  assert.deepEqual(
    part('instructions').of!.map(({ name }) => name),
    ['/p/sub/AGENTS.md', '/p/AGENTS.md'],
  )
  assert.deepEqual(part('skills').of, [
    { name: 'skill:pdf', tokens: entryTokens(loading[2]!) },
    { name: 'list', tokens: estimateTokens(skills) },
  ])
  assert.deepEqual(part('tool outputs'), {
    name: 'tool outputs',
    tokens: entryTokens(first[2]!),
    of: [{ name: 'bash', tokens: entryTokens(first[2]!) }],
  })
  const said = [first[0]!, first[1]!, first[3]!, loading[0]!, loading[1]!, loading[3]!]
  assert.deepEqual(part('messages'), { name: 'messages', tokens: sum(said) })
  assert.deepEqual([filled.used, filled.source, filled.free], [720, 'reported', 9280])
})

test('the reported usage counts until something is said or left out', () => {
  const frame = { system: 'Be.', tools: [] }
  const entries = turn('1', 'x')
  const source = (agent: string, more: Entry[] = []) => fill(agent, frame, [...entries, ...more], 1000).source
  const through = entries.at(-1)!.id
  const summary = entry({ type: 'summary', text: 's', through }, '', 'termaite')
  const cost = entry({ type: 'usage', input: 9, output: 9, source: 'reported' }, '')
  assert.deepEqual(
    [
      source('native'),
      source('other'),
      source('native', [summary, cost]),
      source('native', [entry({ type: 'trim', through }, '', 'termaite')]),
    ],
    ['reported', 'estimated', 'estimated', 'estimated'],
  )
  const after = fill('native', frame, [...entries, summary], 1000)
  assert.deepEqual(
    after.parts.filter(({ tokens }) => tokens > 0).map(({ name }) => name),
    ['system', 'summary'],
  )
  assert.equal(after.used, estimateTokens('Be.') + entryTokens(summary))
})

test('at half a window the old outputs go in one batch, the last turn keeps its own', () => {
  const entries = [...turn('1', 'a'.repeat(4000)), ...turn('2', 'b'.repeat(4000)), ...turn('3', 'c'.repeat(4000))]
  const tokens = viewTokens(entries)
  const frame = (length: number) => ({ system: 'x'.repeat(length), tools: [] })
  assert.deepEqual(new WindowUse(frame(0), entries).due([], (tokens + 1) * 2), [])
  const room = new WindowUse(frame(8), entries)
  const [due, ...more] = room.due([], (tokens + 1) * 2)
  assert.deepEqual([due, more], [{ type: 'trim', through: entries.filter(({ type }) => type === 'end')[1]!.id }, []])
  const left = view([...entries, entry(due!, '', 'native')])
  assert.deepEqual(
    left.filter(({ type }) => type === 'result').map((one) => one.type === 'result' && one.text.slice(0, 10)),
    ['[output of', '[output of', 'cccccccccc'],
  )
  assert.deepEqual(room.due([], (tokens + 1) * 2), [], 'what is left out is left out once')
  assert.deepEqual(new WindowUse(frame(0), left).due([], tokens), [], 'also in the next turn')
  assert.deepEqual(
    new WindowUse(frame(0), turn('9', 'x'.repeat(4000))).due([], 1000),
    [],
    'the only turn keeps its output',
  )
})

test('a turn that fills the window by itself leaves out its older steps, and is told the same when it is resumed', () => {
  const step = (number: number): Fact[] => [
    { type: 'call', call: `s${number}`, tool: 'bash', input: {}, step: number },
    { type: 'result', call: `s${number}`, ok: true, text: `${number}`.repeat(4000), data: { exit: 0 } },
  ]
  const room = new WindowUse({ system: '', tools: [] }, [])
  const done: Fact[] = []
  const requests: ModelMessage[][] = []
  for (let number = 1; number <= 12; number++) {
    done.push(...room.due(done, 12_000))
    requests.push(modelMessages('native', turnOf({ prompt: 'go' }), done))
    done.push(...step(number))
  }
  assert.deepEqual(
    done.flatMap((fact, at) => (fact.type === 'trim' ? [{ at, step: fact.step }] : [])),
    [
      { at: 12, step: 3 },
      { at: 19, step: 6 },
      { at: 24, step: 8 },
    ],
  )
  const whole = requests.map((request) => JSON.stringify(request).slice(0, -1))
  const broken = whole.slice(1).flatMap((request, at) => (request.startsWith(whole[at]!) ? [] : [at + 2]))
  assert.deepEqual(broken, [7, 10, 12], 'between two trims each request is a prefix of the next')
  const kept = [
    entry({ type: 'prompt', text: 'go' }, 't', 'user'),
    ...done.map((fact) => entry(fact, 't')),
    entry({ type: 'reply', text: 'done', step: 13 }, 't'),
    entry({ type: 'end', outcome: { ok: true, text: 'done' } }, 't'),
  ]
  const now = modelMessages('native', turnOf({ prompt: 'go' }), done)
  const resumed = modelMessages('native', turnOf({ prompt: 'on', history: view(kept) }), [])
  assert.deepEqual(resumed.slice(0, now.length), now)
})

test('a turn that writes files into a small window leaves out what it wrote, and keeps fewer whole steps where three are too many', () => {
  const room = new WindowUse({ system: '', tools: [] }, [])
  const done: Fact[] = []
  const window = 20_000
  const sizes: number[] = []
  for (let number = 1; number <= 12; number++) {
    done.push(...room.due(done, window))
    sizes.push(estimateTokens(JSON.stringify(modelMessages('native', turnOf({ prompt: 'go' }), done))))
    const input = { file_path: `${number}.ts`, content: 'x'.repeat(24_000) }
    done.push({ type: 'call', call: `s${number}`, tool: 'file_creator', input, step: number })
    done.push({ type: 'result', call: `s${number}`, ok: true, text: 'created' })
  }
  assert.ok(Math.max(...sizes) < window, `no request is larger than the window: ${sizes.join(' ')}`)
  const calls = modelMessages('native', turnOf({ prompt: 'go' }), done).flatMap((message) =>
    message.role === 'assistant' ? message.calls.map(({ input }) => input) : [],
  )
  assert.deepEqual(calls[0], {
    file_path: '1.ts',
    content: '[24000 characters left out here; the call was made with all of them]',
  })
})
