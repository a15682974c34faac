import type { Tool } from '../../src/core/work/tool.ts'
import type { ToolParts } from '../../src/native/tools/shared/tool-parts.ts'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isPlanTool } from '../../src/core/work/tool.ts'
import { toolIndex } from '../../src/native/tools/tool-index.ts'
import { replTool } from '../../src/native/tools/repl.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { toolContract } from '../contract/tool.ts'
import { callIn, seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const parts: Partial<ToolParts> = {
  skills: [{ name: 'paint', description: 'Paints.', body: () => 'Paint it black.' }],
  consult: async (task) => `did ${task}`,
  thinking: { advise: async ({ framework, question }) => `${framework}: ${question}`, available: () => true },
  sandboxed: async (language, code) => `${language}: ${code}`,
  web: {
    search: 'http://search.test',
    fetch: async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"results":[]}'),
      cut: false,
    }),
  },
}

const inputs: Record<string, { good: unknown; bad: unknown[] }> = {
  file_reader: {
    good: { file_path: 'a.txt' },
    bad: [undefined, {}, { file_path: '' }, { file_path: 'a.txt', offset: 0 }],
  },
  file_editor: {
    good: { file_path: 'a.txt', edits: [{ old_string: 'one', new_string: 'two' }] },
    bad: [{ file_path: 'a.txt' }, { file_path: 'a.txt', edits: [] }, { file_path: 'a.txt', edits: ['x'] }],
  },
  apply_patch: {
    good: { input: '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch' },
    bad: [{}, { input: '' }, { input: '--- a.txt' }, { input: '*** Begin Patch\n*** End Patch' }],
  },
  file_creator: { good: { file_path: 'b/c.txt', content: '' }, bad: [{ file_path: 'b.txt' }, { content: 'x' }] },
  bash: { good: { command: 'true' }, bad: [{}, { command: 'x', timeout_seconds: 601 }, { command: 'x', cwd: '/' }] },
  jobs: { good: {}, bad: [{ job: 0 }, { job: 'first' }, { id: 1 }] },
  grep_search: { good: { pattern: 'one' }, bad: [{}, { pattern: '' }, 'one'] },
  glob: { good: { pattern: '*.txt' }, bad: [{}, { pattern: 3 }] },
  ls: { good: {}, bad: [[], { path: 1 }, { folder: '.' }] },
  web_search: { good: { query: 'x' }, bad: [{}, { query: '' }] },
  web_fetch: { good: { url: 'https://example.test/' }, bad: [{}] },
  todo_write: {
    good: { items: [{ task: 'x', status: 'pending' }] },
    bad: [{}, { items: [] }, { items: [{ task: 'x', status: 'done' }] }],
  },
  todo_read: { good: {}, bad: [{ all: true }] },
  todo_update: { good: { items: [{ task: 'one', status: 'in_progress' }] }, bad: [{ items: {} }] },
  ask_question: {
    good: { questions: [{ question: 'Which?', options: ['a', 'b', 'c'] }] },
    bad: [{ questions: [] }, { questions: [{ question: 'Which?', options: ['a', 'b'] }] }],
  },
  send_notification: {
    good: { status: 'progress', summary: 'The first half is done.' },
    bad: [{ summary: 'x' }, { status: 'done', summary: '' }, { status: 'happy', summary: 'x' }],
  },
  load_skill: { good: { name: 'paint' }, bad: [{}] },
  subagent: { good: { task: 'look' }, bad: [{ task: '' }] },
  think: {
    good: { framework: 'consensus', question: 'Which way?' },
    bad: [{}, { framework: 'direct', question: 'Which way?' }, { framework: 'reflect', question: '' }],
  },
  sandbox: { good: { language: 'bash', code: 'true' }, bad: [{ code: 'true' }] },
}

for (const [name, { good, bad }] of Object.entries(inputs))
  toolContract(name, {
    async make() {
      const { root, tool, write, say } = seat({ after: (end) => after(() => (end as () => void)()) }, parts)
      write('a.txt', 'one\n')
      if (name === 'file_editor' || name === 'apply_patch') await say('file_reader', { file_path: 'a.txt' })
      if (name === 'todo_update') write('.todos.json', '{"items":[{"task":"one","status":"pending"}]}')
      return { tool: tool(name), cwd: root }
    },
    good,
    bad,
  })

test('the tools come in one order; a tool without its part is left out; plan mode has those that only read', (t) => {
  const full = seat(t, parts).tools.map(({ name, risk }) => `${name} ${risk}`)
  assert.deepEqual(full, [
    'file_reader read',
    'file_editor write',
    'apply_patch write',
    'file_creator write',
    'bash run',
    'jobs run',
    'grep_search read',
    'glob read',
    'ls read',
    'web_search read',
    'web_fetch run',
    'todo_write read',
    'todo_read read',
    'todo_update read',
    'ask_question read',
    'send_notification run',
    'load_skill read',
    'subagent read',
    'think read',
    'sandbox run',
  ])
  // Every tool has an example call, with which it passes its contract.
  assert.deepEqual(
    full.map((line) => line.split(' ')[0]),
    Object.keys(inputs),
  )
  const bare = seat(t).tools.map(({ name }) => name)
  assert.deepEqual(
    full.map((line) => line.split(' ')[0]).filter((name) => !bare.includes(name!)),
    ['load_skill', 'subagent', 'think', 'sandbox'],
  )
  assert.deepEqual(
    seat(t, parts)
      .tools.filter(isPlanTool)
      .map(({ name }) => name),
    [
      'file_reader',
      'grep_search',
      'glob',
      'ls',
      'web_search',
      'todo_write',
      'todo_read',
      'todo_update',
      'ask_question',
      'load_skill',
    ],
  )
})

test('one field is described once: its schema and its parser say the same', (t) => {
  const { tool } = seat(t)
  assert.deepEqual(tool('grep_search').schema, {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'the regular expression; (?i) in front of it ignores case' },
      path: { type: 'string', description: 'the file or folder to search; the project if left out' },
      glob: { type: 'string', description: 'searches only files with such names, for example src/**/*.{js,ts}' },
    },
    additionalProperties: false,
    required: ['pattern'],
  })
  assert.throws(() => tool('file_editor').parse({ file_path: 'a', edits: [{ old_string: 'x' }] }), {
    message: 'edits[0].new_string is missing.',
  })
  assert.throws(() => tool('file_reader').parse({ file_path: 'a', limt: 3 }), {
    message: 'there is no field limt; the fields are file_path, offset, limit.',
  })
  golden.throws(t, () => tool('ask_question').parse({ questions: [{ question: 'x', options: ['a'] }] }))
})

test('small mistakes that models often make are understood', (t) => {
  const { tool } = seat(t)
  assert.deepEqual(tool('file_reader').parse({ file_path: 'a', offset: '7', limit: null }), {
    file_path: 'a',
    offset: 7,
  })
  assert.deepEqual(tool('bash').parse({ command: 'x', background: 'true' }), { command: 'x', background: true })
  assert.deepEqual(tool('todo_write').parse({ items: '[{"task":"x","status":"pending"}]' }), {
    items: [{ task: 'x', status: 'pending' }],
  })
  assert.deepEqual(tool('ls').parse(undefined), {})
})

/** The tools and the index of those that are described on demand. */
const indexed = (tools: readonly Tool[]) => [
  ...tools,
  ...toolIndex(
    tools.filter(({ onDemand }) => !onDemand),
    tools.filter(({ onDemand }) => onDemand),
    undefined,
  ),
]

test('each description is written by one template, in its order', (t) => {
  const order = ['Use this tool to ', 'Do not use it ', 'Returns: ', 'After calling: ', 'Tools: ']
  for (const { name, description } of indexed(seat(t, parts).tools)) {
    const heads = description.split('\n').map((line) => order.findIndex((head) => line.startsWith(head)))
    assert.equal(heads[0], 0, name)
    assert.deepEqual(
      heads,
      [...new Set(heads)].sort((a, b) => a - b),
      `${name}: ${description}`,
    )
  }
})

test('every field of every input has a description, and no other field may be sent', (t) => {
  type Schema = { type?: string; description?: string; properties?: Record<string, Schema>; items?: Schema }
  const faults = (schema: Schema, at: string): string[] => {
    const closed = !schema.properties || 'additionalProperties' in schema ? [] : [`${at}: open`]
    const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
      ...(field.description ? [] : [`${at}.${name}: no description`]),
      ...faults(field, `${at}.${name}`),
    ])
    return [...closed, ...fields, ...(schema.items ? faults(schema.items, at) : [])]
  }
  const tools = indexed([...seat(t, parts).tools, replTool({ env: {}, clock: realClock, blobs: seat(t).blobs }).tool])
  assert.deepEqual(
    tools.flatMap(({ name, schema }) => faults(schema as Schema, name)),
    [],
  )
})

test('a tool that is described on demand is listed with its inputs, described by name, and called in its own name', async (t) => {
  const { tools, root } = seat(t, parts)
  const [frame, rest] = [tools.filter(({ onDemand }) => !onDemand), tools.filter(({ onDemand }) => onDemand)]
  const [more, ...others] = toolIndex(frame, rest, undefined)
  const run = (input: unknown) => more!.run(more!.parse(input), callIn(root))
  assert.deepEqual(others, [])
  assert.equal(
    more!.description.split('\n').at(-1),
    'Tools: jobs(), grep_search(pattern), glob(pattern), ls(), web_search(query), web_fetch(url), ask_question(questions: [{question, options}]), send_notification(status, summary), subagent(task), sandbox(language, code).',
  )
  assert.deepEqual(
    ((await run({})) as string).split('\n')[4],
    '- web_search: Use this tool to look up what is not in the project or is newer than your knowledge.',
  )
  golden(t, await Promise.all(['web_fetch', 'file_editor', 'web_serch', 'nothing'].map((name) => run({ name }))))
  assert.deepEqual(
    [
      { name: 'web_fetch', input: { url: 'x' } },
      // There is nothing that its input could say.
      { name: 'todo_read' },
      '{"name":"ls","input":{}}',
      { name: 'ls' },
      {},
      3,
    ].map((input) => more!.standsFor!(input)),
    [
      { tool: 'web_fetch', input: { url: 'x' } },
      { tool: 'todo_read', input: {} },
      { tool: 'ls', input: {} },
      undefined,
      undefined,
      undefined,
    ],
  )
  assert.deepEqual(toolIndex(frame, [], undefined), [])
})
