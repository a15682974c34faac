import type { Event } from '../../src/core/talk/entry.ts'
import type { Span } from '../../src/traces/span.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { SteadyTime } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { otlpBody } from '../../src/traces/otlp-client.ts'
import { TurnSpans } from '../../src/traces/turn-spans.ts'

const usage = { type: 'usage' as const, source: 'reported' as const }

/** Each event comes at the time beside it. */
function spansOf(events: [number, Event][], content = false): Span[] {
  let now = 0
  const mask = (text: string) => text.replaceAll('s3cret', '***')
  const model = (by: string) => (by === 'native' ? 'groq/openai/gpt-oss-120b' : undefined)
  const turn = new TurnSpans({ now: () => now, model, mask, content })
  for (const [at, event] of events) {
    now = at
    turn.see(event)
  }
  return turn.spans()
}

/** Without what is drawn by lot. */
const shape = (spans: Span[]) => {
  const order = new Map(spans.map(({ id, name }) => [id, name]))
  return spans.map(({ id: _, trace: __, parent, ...span }) => ({
    ...span,
    parent: parent === undefined ? undefined : order.get(parent),
  }))
}

test('a turn of our own is a span, and so is each of its model calls and tool calls', () => {
  const spans = spansOf([
    [0, { type: 'prompt', text: 'why?', id: 'p', at: 0, by: 'user', session: 's1', turn: 't1' } as Event],
    [30, { ...usage, input: 10, output: 2, cached: 4, by: 'native' }],
    [30, { type: 'call', call: 'c1', tool: 'bash', input: { command: 'echo s3cret' }, by: 'native' }],
    [45, { type: 'result', call: 'c1', ok: false, text: 'exit 1: s3cret\nmore', by: 'native' }],
    [60, { ...usage, input: 20, output: 3, by: 'native' }],
    [61, { type: 'end', outcome: { ok: true, text: 'because' }, by: 'native' }],
  ])
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'groq' }
  const asked = { ...chat, 'gen_ai.request.model': 'openai/gpt-oss-120b' }
  const parent = 'invoke_agent native'
  assert.deepEqual(shape(spans), [
    {
      name: 'chat openai/gpt-oss-120b',
      kind: 'client',
      from: 0,
      to: 30,
      attributes: {
        ...asked,
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 2,
        'gen_ai.usage.cache_read.input_tokens': 4,
      },
      parent,
    },
    {
      name: 'execute_tool bash',
      kind: 'internal',
      from: 30,
      to: 45,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'bash',
        'gen_ai.tool.call.id': 'c1',
      },
      error: 'exit 1: ***',
      parent,
    },
    {
      name: 'chat openai/gpt-oss-120b',
      kind: 'client',
      from: 45,
      to: 60,
      attributes: { ...asked, 'gen_ai.usage.input_tokens': 20, 'gen_ai.usage.output_tokens': 3 },
      parent,
    },
    {
      name: parent,
      kind: 'internal',
      from: 0,
      to: 61,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': 's1',
        'gen_ai.usage.input_tokens': 30,
        'gen_ai.usage.output_tokens': 5,
        'gen_ai.agent.name': 'native',
      },
      parent: undefined,
    },
  ])
  assert.equal(new Set(spans.map(({ trace }) => trace)).size, 1)
})

test('a failed attempt, a consulted agent and an unfinished call each have a span', () => {
  const crash = { kind: 'crash' as const, message: 'exit 3, key s3cret' }
  const spans = spansOf([
    [10, { type: 'attempt', failure: crash, ms: 8, by: 'gemini' }],
    [20, { type: 'inner', role: 'critic', event: { type: 'reply', text: 'no', by: 'codex' } }],
    [30, { type: 'call', call: 'c', tool: 'ls', input: {}, by: 'claude' }],
    [40, { type: 'end', outcome: { ok: false, failure: { kind: 'aborted', message: 'cancelled' } } }],
  ])
  assert.deepEqual(
    shape(spans).map(({ name, from, to, parent, error, attributes }) => [
      name,
      from,
      to,
      parent,
      error,
      attributes['error.type'] ?? attributes['termaite.role'],
    ]),
    [
      ['invoke_agent gemini', 2, 10, 'invoke_agent claude', 'exit 3, key ***', 'crash'],
      ['execute_tool ls', 30, 40, 'invoke_agent claude', 'it was not finished', undefined],
      ['invoke_agent claude', 0, 40, undefined, 'cancelled', 'aborted'],
      ['invoke_agent codex', 20, 20, 'invoke_agent claude', undefined, 'critic'],
    ],
  )
})

test('each consultation is a span of its own, and where a turn stands says nothing about who answered', () => {
  const inner = (event: Event): Event => ({ type: 'inner', role: 'judge', event })
  const spans = spansOf([
    [10, { type: 'reply', text: 'done', by: 'claude' }],
    [15, { type: 'phase', framework: 'reflect', words: 'judging', by: 'termaite' }],
    [20, inner({ type: 'reply', text: 'no', by: 'codex' })],
    [25, inner({ type: 'end', outcome: { ok: true, text: 'no' }, by: 'rotation' })],
    [30, inner({ type: 'state', state: 'busy', by: 'gemini' })],
    [35, inner({ type: 'end', outcome: { ok: false, failure: { kind: 'timeout', message: 'late' } }, by: 'rotation' })],
    [40, { type: 'end', outcome: { ok: true, text: 'done' }, by: 'rotation' }],
  ])
  assert.deepEqual(
    shape(spans).map(({ name, from, to, error }) => [name, from, to, error]),
    [
      ['invoke_agent claude', 0, 40, undefined],
      ['invoke_agent codex', 20, 25, undefined],
      ['invoke_agent gemini', 30, 35, 'late'],
    ],
  )
})

test('prompts and replies are part of the spans when they are asked for, masked', () => {
  const [call, turn] = spansOf(
    [
      [1, { type: 'prompt', text: 'my key is s3cret' }],
      [2, { type: 'call', call: 'c', tool: 'bash', input: { command: 'echo s3cret' }, by: 'native' }],
      [3, { type: 'result', call: 'c', ok: true, text: 's3cret', by: 'native' }],
      [4, { type: 'reply', text: 'it is s3cret', by: 'native' }],
      [5, { type: 'end', outcome: { ok: true, text: 'it is s3cret' } }],
    ],
    true,
  )
  assert.deepEqual(
    [
      call!.attributes['gen_ai.tool.call.arguments'],
      call!.attributes['gen_ai.tool.call.result'],
      turn!.attributes['gen_ai.input.messages'],
      turn!.attributes['gen_ai.output.messages'],
    ],
    ['{"command":"echo ***"}', '***', 'my key is ***', 'it is ***'],
  )
})

test('as OTLP has it: ids in hex, times in nanoseconds as strings, whole numbers as strings', () => {
  const attributes = { a: 'x', n: 3, f: 0.5, b: true }
  const span: Span = { trace: 't', id: 's', name: 'n', kind: 'client', from: 1.5, to: 2, attributes, error: 'why' }
  assert.deepEqual(JSON.parse(otlpBody('svc', '1.2.3', [span])), {
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: 'svc' } },
            { key: 'service.version', value: { stringValue: '1.2.3' } },
          ],
        },
        scopeSpans: [
          {
            scope: { name: 'termaite', version: '1.2.3' },
            spans: [
              {
                traceId: 't',
                spanId: 's',
                name: 'n',
                kind: 3,
                startTimeUnixNano: '1500000',
                endTimeUnixNano: '2000000',
                attributes: [
                  { key: 'a', value: { stringValue: 'x' } },
                  { key: 'n', value: { intValue: '3' } },
                  { key: 'f', value: { doubleValue: 0.5 } },
                  { key: 'b', value: { boolValue: true } },
                ],
                status: { code: 2, message: 'why' },
              },
            ],
          },
        ],
      },
    ],
  })
})

test('a span lasts as long as its work, also when the clock is set meanwhile', async () => {
  const clock = new HandClock()
  const began = clock.now()
  const time = new SteadyTime(clock)
  const turn = new TurnSpans({ now: () => time.now(), model: () => undefined, mask: (text) => text, content: false })
  turn.see({ type: 'call', call: 'c1', tool: 'bash', input: {}, by: 'claude' })
  clock.set(began + 31_536_000_000)
  await clock.turn(2_000)
  turn.see({ type: 'result', call: 'c1', ok: true, text: '', by: 'claude' })
  clock.set(began - 31_536_000_000)
  await clock.turn(1_000)
  turn.see({ type: 'end', outcome: { ok: true, text: 'done' }, by: 'claude' })
  assert.deepEqual(
    turn.spans().map(({ name, from, to }) => [name, from - began, to - began]),
    [
      ['execute_tool bash', 0, 2_000],
      ['invoke_agent claude', 0, 3_000],
    ],
  )
})
