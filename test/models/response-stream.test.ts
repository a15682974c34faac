import { test } from 'node:test'
import assert from 'node:assert/strict'
import { eventData } from '../../src/models/http/response-stream.ts'
import { eventsOf, hello, sse, tap, tapped } from './tap.ts'

async function dataOf(...chunks: string[]): Promise<string[]> {
  async function* bytes() {
    for (const chunk of chunks) yield new TextEncoder().encode(chunk)
  }
  const found: string[] = []
  for await (const data of eventData(bytes())) found.push(data)
  return found
}

test('lines end with LF, CRLF or CR, and the data of one event may have several', async () => {
  for (const end of ['\n', '\r\n', '\r'])
    assert.deepEqual(await dataOf(['event: x', 'data: a', 'data:b', ': note', '', 'data: c', '', ''].join(end) + 'x'), [
      'a\nb',
      'c',
    ])
  assert.deepEqual(await dataOf('data: a\r', '\n\r', '\ndata: b\r\n\r\n'), ['a', 'b'])
})

test('a last event without its blank line counts, half a line never does', async () => {
  assert.deepEqual(await dataOf('data: a\n'), ['a'])
  assert.deepEqual(await dataOf('data: a'), [])
})

test('words that were not streamed come with the item that has them whole', async () => {
  const item = { type: 'message', content: [{ type: 'output_text', text: 'all of it' }] }
  const chunks = [
    sse(
      { type: 'response.output_text.delta', output_index: 0, delta: 'all' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: {} },
    ),
  ]
  assert.deepEqual(await eventsOf(tapped({ model: 'openai/gpt-4o' }, tap([{ chunks }])), hello), [
    { type: 'text', delta: 'all' },
    { type: 'text', delta: ' of it' },
    { type: 'end', stop: 'done' },
  ])
})
