import type { Event } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ground, played } from './acp-rig.ts'
import { profileOf } from './pipe-rig.ts'

const text = (text: string, more = {}) => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more },
})
const thought = (text: string) => ({
  update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } },
})
const call = (more: object) => ({ update: { sessionUpdate: 'tool_call', ...more } })
const more = (more: object) => ({ update: { sessionUpdate: 'tool_call_update', ...more } })
const content = (text: string) => ({ type: 'content', content: { type: 'text', text } })

/** Live pieces of one kind in a row as one, whatever their sizes. */
function joined(events: Event[]): Event[] {
  const out: Event[] = []
  for (const event of events) {
    const last = out.at(-1)
    if (event.type === 'text' && last?.type === 'text') last.delta += event.delta
    else if (event.type === 'thought' && last?.type === 'thought') last.delta += event.delta
    else out.push({ ...event })
  }
  return out
}

test('words, thoughts, a plan and a tool with its diff are told in their order, and the words are the reply', async () => {
  await using it = await ground()
  const diff = { type: 'diff', path: '$CWD/src/a.ts', oldText: 'one\n', newText: 'two\n' }
  const made = { type: 'diff', path: '$CWD/new.txt', oldText: '', newText: 'new\n' }
  const events = await played(it, {
    steps: [
      thought('Let me see. '),
      thought('\u001b[31mRed\u001b[0m.'),
      text('I will '),
      text('change it.'),
      {
        update: {
          sessionUpdate: 'plan',
          entries: [
            { content: 'look', priority: 'high', status: 'completed' },
            { content: 'change', priority: 'low', status: 'in_progress' },
          ],
        },
      },
      call({
        toolCallId: 'c1',
        title: 'Edit a.ts',
        kind: 'edit',
        status: 'in_progress',
        rawInput: { path: 'src/a.ts' },
      }),
      more({ toolCallId: 'c1', content: [content('half')] }),
      more({ toolCallId: 'c1', content: [content('half and half')] }),
      more({ toolCallId: 'c1', status: 'completed', content: [content('done'), diff, made] }),
      text('It is \u001b]52;c;AAAA\u0007done.'),
    ],
  })
  assert.deepEqual(joined(events), [
    { type: 'thought', delta: 'Let me see. Red.' },
    { type: 'text', delta: 'I will change it.' },
    {
      type: 'plan',
      items: [
        { task: 'look', status: 'completed' },
        { task: 'change', status: 'in_progress' },
      ],
    },
    { type: 'call', call: 'c1', tool: 'edit', input: { path: 'src/a.ts' } },
    { type: 'progress', call: 'c1', delta: 'half' },
    { type: 'progress', call: 'c1', delta: ' and half' },
    {
      type: 'result',
      call: 'c1',
      ok: true,
      text: 'done',
      data: [
        { path: 'src/a.ts', before: 'one\n', after: 'two\n' },
        { path: 'new.txt', after: 'new\n' },
      ],
    },
    { type: 'text', delta: 'It is done.' },
    { type: 'reply', text: 'I will change it.\n\nIt is done.' },
    { type: 'usage', input: 10, output: 8, source: 'estimated' },
    { type: 'end', outcome: { ok: true, text: 'I will change it.\n\nIt is done.' } },
  ])
})

test('a call is reported once its input says what it does, and ends with its own result', async () => {
  await using it = await ground()
  const events = await played(it, {
    steps: [
      call({ toolCallId: 'c1', title: 'bash', kind: 'execute', status: 'pending', rawInput: { cwd: '$CWD' } }),
      more({
        toolCallId: 'c1',
        status: 'in_progress',
        title: 'npm test',
        rawInput: { command: 'npm test', cwd: '$CWD' },
      }),
      more({ toolCallId: 'c1', status: 'failed', rawOutput: { output: 'boom' } }),
      call({ toolCallId: 'c2', title: 'Search the web', status: 'pending' }),
      more({ toolCallId: 'c2', status: 'completed', content: [content('found')] }),
      more({ toolCallId: 'c2', status: 'completed', content: [content('found twice')] }),
      call({ toolCallId: 'c3', title: 'ls', kind: 'execute', status: 'completed' }),
      { say: 'So.' },
    ],
  })
  assert.deepEqual(
    events.filter(({ type }) => type === 'call' || type === 'result'),
    [
      { type: 'call', call: 'c1', tool: 'execute', input: { command: 'npm test', cwd: it.cwd } },
      { type: 'result', call: 'c1', ok: false, text: 'boom' },
      { type: 'call', call: 'c2', tool: 'tool', input: { title: 'Search the web' } },
      { type: 'result', call: 'c2', ok: true, text: 'found' },
      { type: 'call', call: 'c3', tool: 'execute', input: { command: 'ls' } },
      { type: 'result', call: 'c3', ok: true, text: '' },
    ],
  )
})

test('messages of their own are paragraphs of their own', async () => {
  await using it = await ground()
  const steps = [text('One.', { messageId: 'a' }), text('Two', { messageId: 'b' }), text('.', { messageId: 'b' })]
  assert.deepEqual((await played(it, { steps })).at(-1), { type: 'end', outcome: { ok: true, text: 'One.\n\nTwo.' } })
})

test('the usage is read where agents report it, and cached tokens count once', async () => {
  const usageOf = async (script: object) => {
    await using it = await ground()
    const events = await played(it, { steps: [{ say: 'So.' }], ...script })
    return events.find(({ type }) => type === 'usage')
  }
  const usage = { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' }
  const inside = { inputTokens: 1200, outputTokens: 34, totalTokens: 1234, cachedReadTokens: 1000 }
  const beside = { ...inside, inputTokens: 200 }
  assert.deepEqual(await usageOf({ reply: { usage: inside } }), usage)
  assert.deepEqual(await usageOf({ reply: { usage: beside } }), usage)
  const quota = { token_count: { input_tokens: 1200, output_tokens: 34 } }
  assert.deepEqual(await usageOf({ reply: { _meta: { quota } } }), { ...usage, cached: 0 })
  const steps = [text('', { _meta: { usage: inside } }), text('So.'), text('', { _meta: { usage: inside } })]
  assert.deepEqual(await usageOf({ steps }), { ...usage, input: 2400, output: 68, cached: 2000 })
})

test('lines between the messages are passed over, and noted once', async () => {
  await using it = await ground()
  const steps = [
    { raw: 'Welcome to Sayer!' },
    { raw: '{"level":"info"}' },
    { raw: '{"jsonrpc":"2.0","id":99,"result":{}}' },
    { raw: '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}' },
    { raw: '{"jsonrpc":"2.0","method":"own/notification","params":{}}' },
    { say: 'Hello.' },
  ]
  assert.deepEqual(await played(it, { steps }), [
    { type: 'note', text: 'sayer printed a line that could not be read: Welcome to Sayer!' },
    { type: 'text', delta: 'Hello' },
    { type: 'text', delta: '.' },
    { type: 'reply', text: 'Hello.' },
    { type: 'usage', input: 10, output: 2, source: 'estimated' },
    { type: 'end', outcome: { ok: true, text: 'Hello.' } },
  ])
})

test("a CLI's own remarks are no part of the answer, and a failure in its last remark is the failure", async () => {
  const acp = {
    command: () => '',
    leashes: { ask: 'asks' },
    aside: /^Info: /,
    fault: /^Error: /,
    failure: (message: string) => (message.includes('429') ? { kind: 'busy' as const, message } : undefined),
  }
  const end = async (...pieces: string[]) => {
    await using it = await ground()
    const steps = pieces.map((piece) => ({ say: piece }))
    return (await played(it, { steps }, { over: { profile: profileOf({ acp }) } })).at(-1)
  }
  const busy = { ok: false, failure: { kind: 'busy', message: 'Error: 429' } }
  assert.deepEqual(await end('Info: retrying', 'Yes.'), { type: 'end', outcome: { ok: true, text: 'Yes.' } })
  assert.deepEqual(await end('Half. ', 'Error: 429'), { type: 'end', outcome: busy })
  assert.deepEqual(await end('Error: 429', 'But then.'), { type: 'end', outcome: { ok: true, text: 'But then.' } })
  assert.deepEqual(await end('Error: is a word.'), { type: 'end', outcome: { ok: true, text: 'Error: is a word.' } })
})
