import { test } from 'node:test'
import assert from 'node:assert/strict'
import { eventsOf, still, hello, sse, tap, tapped } from './tap.ts'

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
/** OpenRouter keeps a connection open with comments. */
const waiting = ': OPENROUTER PROCESSING\n\n'

const said = (...chunks: (object | string)[]) =>
  eventsOf(tapped({ model: 'openrouter/a/b' }, tap([{ chunks: [waiting, sse(...chunks)] }]), { clock: still }), hello)

test('calls without numbers, or all with one number, are told apart by their ids', async () => {
  const call = (id: string, path: string, more: object = {}) => ({
    ...more,
    id,
    function: { name: 'ls', arguments: { path } },
  })
  for (const index of [{}, { index: 0 }])
    assert.deepEqual(
      await said(
        chunk({ tool_calls: [call('a', 'x', index)] }),
        chunk({ tool_calls: [call('b', 'y', index)] }, 'stop'),
      ),
      [
        { type: 'call', id: 'a', tool: 'ls', input: { path: 'x' } },
        { type: 'call', id: 'b', tool: 'ls', input: { path: 'y' } },
        { type: 'end', stop: 'calls' },
      ],
    )
})

test('thoughts that come in parts are kept joined, and the cost is what was billed', async () => {
  const part = (text: string, more: object = {}) => ({ type: 'reasoning.text', index: 0, text, ...more })
  const call = { index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } }
  assert.deepEqual(
    await said(
      chunk({ reasoning: 'Wo ', reasoning_details: [part('Wo ', { format: 'x' })] }),
      chunk({ reasoning: 'ist es?', reasoning_details: [part('ist es?', { signature: null })] }),
      chunk({
        reasoning_details: [part('', { signature: 'c2ln' }), { type: 'reasoning.encrypted', index: 1, data: 'c2Vh' }],
      }),
      chunk({ tool_calls: [call] }, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.0123 } },
      '[DONE]',
    ),
    [
      { type: 'thought', delta: 'Wo ' },
      { type: 'thought', delta: 'ist es?' },
      { type: 'call', id: 'a', tool: 'ls', input: {} },
      { type: 'usage', usage: { input: 10, output: 5, cost: 0.0123, source: 'reported' } },
      {
        type: 'end',
        stop: 'calls',
        opaque: {
          of: 'openrouter/a/b',
          pieces: [
            {
              item: {
                reasoning_details: [
                  { type: 'reasoning.text', index: 0, text: 'Wo ist es?', format: 'x', signature: 'c2ln' },
                  { type: 'reasoning.encrypted', index: 1, data: 'c2Vh' },
                ],
              },
            },
            { call: 'a' },
          ],
        },
      },
    ],
  )
})
