import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ModelScript } from '../../models/scripted-model.ts'
import type { Entry, Fact, Summary } from '../../../src/core/talk/entry.ts'
import type { ModelMessage } from '../../../src/core/work/model.ts'
import { systemText } from '../../../src/native/loop/session-opening.ts'
import { instructionText } from '../../../src/native/loop/instructions.ts'
import { fill } from '../../../src/native/loop/window-fill.ts'
import { modelMessages } from '../../../src/native/loop/model-messages.ts'
import { TurnWindow } from '../../../src/native/loop/turn-window.ts'
import { entryTokens, estimateTokens } from '../../../src/core/talk/tokens.ts'
import { view } from '../../../src/core/talk/view.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { turnOf } from '../../contract/agent.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

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

const failing: ModelScript = [{ type: 'failure', failure: { kind: 'busy', message: 'overloaded' } }]

/** The trims and summaries that are due before a request; each is done before the next is thought of, as in the loop. */
async function due(kept: TurnWindow, facts: readonly Fact[]): Promise<Fact[]> {
  const done = [...facts]
  for await (const event of kept.makeRoom(done)) if (event.type === 'trim' || event.type === 'summary') done.push(event)
  return done.slice(facts.length)
}

/** The window of a turn whose model cannot summarise; `room` gives the changes that are due before a request. */
function windowOf(system: string, history: readonly Entry[], tokens: number, turn = turnOf({ prompt: 'go', history })) {
  const model = scriptedModel([failing], { window: tokens })
  const kept = new TurnWindow({ name: 'native', model, frame: { system, tools: [] }, turn, window: () => tokens })
  const room = (done: readonly Fact[]) => due(kept, done)
  return { room, size: () => kept.tokens(kept.request([])) }
}

test('at half a window the old outputs go in one batch, the last turn keeps its own', async () => {
  const entries = [...turn('1', 'a'.repeat(4000)), ...turn('2', 'b'.repeat(4000)), ...turn('3', 'c'.repeat(4000))]
  const tokens = windowOf('', entries, 1).size()
  assert.deepEqual(await windowOf('', entries, tokens * 2).room([]), [])
  const full = windowOf('x'.repeat(8), entries, tokens * 2)
  const [trim, ...more] = await full.room([])
  assert.deepEqual([trim, more], [{ type: 'trim', through: entries.filter(({ type }) => type === 'end')[1]!.id }, []])
  const left = view([...entries, entry(trim!, '', 'native')])
  assert.deepEqual(
    left.filter(({ type }) => type === 'result').map((one) => one.type === 'result' && one.text.slice(0, 10)),
    ['[output of', '[output of', 'cccccccccc'],
  )
  assert.deepEqual(await full.room([trim!]), [], 'what is left out is left out once')
  assert.deepEqual(await windowOf('', left, tokens).room([]), [], 'also in the next turn')
  assert.deepEqual(await windowOf('', turn('9', 'x'.repeat(4000)), 1700).room([]), [], 'the only turn keeps its output')
})

test('without a summary a turn leaves out its older steps, and is told the same when it is resumed', async () => {
  const step = (number: number): Fact[] => [
    { type: 'call', call: `s${number}`, tool: 'bash', input: {}, step: number },
    { type: 'result', call: `s${number}`, ok: true, text: `${number}`.repeat(4000), data: { exit: 0 } },
  ]
  const { room } = windowOf('', [], 8_000)
  const done: Fact[] = []
  const requests: ModelMessage[][] = []
  for (let number = 1; number <= 12; number++) {
    done.push(...(await room(done)))
    requests.push(modelMessages('native', turnOf({ prompt: 'go' }), done))
    done.push(...step(number))
  }
  assert.deepEqual(
    done.flatMap((fact) => (fact.type === 'trim' ? [fact.step] : [])),
    [3, 6, 8],
  )
  const whole = requests.map((request) => JSON.stringify(request).slice(0, -1))
  const broken = whole.slice(1).flatMap((request, at) => (request.startsWith(whole[at]!) ? [] : [at + 2]))
  assert.equal(broken.length, 3, 'between two trims each request is a prefix of the next')
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

test('a turn that writes files into a small window leaves out the written texts, and says where they are now', async (t) => {
  const window = 20_000
  const { room } = windowOf('', [], window)
  const done: Fact[] = []
  const sizes: number[] = []
  for (let number = 1; number <= 12; number++) {
    done.push(...(await room(done)))
    sizes.push(estimateTokens(JSON.stringify(modelMessages('native', turnOf({ prompt: 'go' }), done))))
    const input = { file_path: `${number}.ts`, content: 'x'.repeat(24_000) }
    done.push({ type: 'call', call: `s${number}`, tool: 'file_creator', input, step: number })
    done.push({ type: 'result', call: `s${number}`, ok: true, text: 'created' })
  }
  assert.ok(Math.max(...sizes) < window, `no request is larger than the window: ${sizes.join(' ')}`)
  const calls = modelMessages('native', turnOf({ prompt: 'go' }), done).flatMap((message) =>
    message.role === 'assistant' ? message.calls.map(({ input }) => input) : [],
  )
  golden(t, calls[0])
})

test('earlier turns that take much of the window become a summary inside the turn, and their skills stay', async () => {
  const skill = entry({ type: 'guide', name: 'skill:pdf', text: 'read the pages' }, '1')
  const [asked, ...rest] = turn('1', 'a'.repeat(12_000))
  const history = [asked!, skill, ...rest]
  const model = scriptedModel([[{ say: 'They asked for 1, and it is done.' }]], { window: 4_000 })
  const frame = { system: 'Be brief.', tools: [] }
  const now = turnOf({ prompt: 'go', history })
  const kept = new TurnWindow({ name: 'native', model, frame, turn: now, window: () => 4_000 })
  const before = kept.request([]).messages
  const [summary, ...more] = await due(kept, [])
  assert.deepEqual(more, [])
  const { tokens, ...fact } = summary as Summary
  assert.deepEqual(fact, {
    type: 'summary',
    text: 'They asked for 1, and it is done.',
    through: rest.at(-1)!.id,
    shared: ['native'],
    guides: [{ type: 'guide', name: 'skill:pdf', text: 'read the pages', by: 'native' }],
  })
  assert.ok(tokens!.after < 200 && tokens!.before > 3_000, JSON.stringify(tokens))
  assert.deepEqual(
    model.requests[0]!.messages.slice(0, -1),
    before.slice(0, -1),
    'the request repeats the conversation',
  )
  assert.deepEqual(kept.request([summary!]).messages, [
    { role: 'user', text: '<summary>\nThey asked for 1, and it is done.\n</summary>' },
    { role: 'user', text: 'read the pages' },
    { role: 'user', text: 'go' },
  ])
  const later = [
    ...history,
    entry({ type: 'prompt', text: 'go' }, '2', 'user'),
    entry(summary!, '2'),
    entry({ type: 'reply', text: 'gone', step: 1 }, '2'),
    entry({ type: 'end', outcome: { ok: true, text: '' } }, '2'),
  ]
  const resumed = modelMessages('native', turnOf({ prompt: 'on', history: view(later) }), [])
  assert.deepEqual(resumed.slice(0, 3), kept.request([summary!]).messages)
})

test('a hook that forbids a summary is named, and old outputs leave instead', async (t) => {
  const model = scriptedModel([[{ say: 'never asked' }]], { window: 2_000 })
  const frame = { system: '', tools: [] }
  const forbids = async () => 'a hook forbids it: not now'
  const kept = new TurnWindow({
    name: 'native',
    model,
    frame,
    turn: turnOf({ prompt: 'go' }),
    window: () => 2_000,
    forbids,
  })
  const done: Fact[] = [1, 2, 3].flatMap((step): Fact[] => [
    { type: 'call', call: `s${step}`, tool: 'bash', input: {}, step },
    { type: 'result', call: `s${step}`, ok: true, text: 'x'.repeat(2_400) },
  ])
  const events: unknown[] = []
  for await (const event of kept.makeRoom(done)) {
    events.push(event)
    if (event.type === 'trim') done.push(event)
  }
  golden(t, events)
  assert.equal(model.requests.length, 0)
})
