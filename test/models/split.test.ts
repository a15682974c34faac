import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { eventsOf, sse, still, hello, tap, tapped } from './tap.ts'
import { recorded } from './streams.ts'
import { sized } from '../full.ts'

const aside = { status: 500, headers: { 'content-type': 'application/json' }, chunks: ['{}'] }

/** The events of a stream that arrives in these chunks. */
function heard(model: string, chunks: readonly Uint8Array[]) {
  // Ollama's requests beside the turn have no answer here.
  const one = tap((url) => (/api\/(show|ps)/.test(url) ? aside : { chunks }))
  return eventsOf(tapped({ model }, one, { clock: still }), hello)
}

const cut = (bytes: Uint8Array, at: readonly number[]) => {
  const ends = [...new Set(at.map((one) => one % bytes.length))].sort((a, b) => a - b)
  return [0, ...ends].map((from, i) => bytes.subarray(from, ends[i] ?? bytes.length)).filter(({ length }) => length > 0)
}

for (const [wire, { model, stream, events }] of Object.entries(recorded)) {
  const bytes = new TextEncoder().encode(stream)

  test(`${wire}: a whole answer is heard as it was said`, async () => {
    assert.deepEqual(await heard(model, [bytes]), events)
  })

  test(`${wire}: cut in two anywhere, and byte by byte, it is the same answer`, async () => {
    for (let at = 1; at < bytes.length; at += sized(7, 1))
      assert.deepEqual(await heard(model, cut(bytes, [at])), events, `cut at ${at}`)
    assert.deepEqual(
      await heard(
        model,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
      events,
    )
  })

  test(`${wire}: however it is cut, it is the same answer`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length - 1), { maxLength: 40 }), async (at) => {
        assert.deepEqual(await heard(model, cut(bytes, at)), events)
      }),
      { numRuns: sized(30, 60) },
    )
  })

  test(`${wire}: an answer that is cut off is never taken for a whole one`, async () => {
    const whole = events.filter(({ type }) => type !== 'usage')
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10 || bytes[at] === 125)
    for (const end of ends) {
      const found = await heard(model, [bytes.subarray(0, end)])
      const last = found.at(-1)!
      if (last.type === 'end')
        assert.deepEqual(
          found.filter(({ type }) => type !== 'usage'),
          whole,
          `cut off at ${end}`,
        )
      else assert.equal(last.type === 'failure' && last.failure.kind, 'crash')
    }
  })
}

test('tokens that a provider had reported count when its answer is cut, and are marked as a part', async () => {
  const usageIn = async (model: string, stream: string) =>
    (await heard(model, [new TextEncoder().encode(stream)])).flatMap((event) =>
      event.type === 'usage' || event.type === 'failure' ? [event.type === 'usage' ? event.usage : 'failure'] : [],
    )
  const { model, stream } = recorded.anthropic!
  const broken = stream.slice(0, stream.indexOf('event: content_block_stop'))
  const part = { source: 'estimated', part: true }
  const told = { input: 1150, output: 1, cached: 1000, written: 50, cost: 0.0008025, ...part }
  assert.deepEqual(await usageIn(model, broken), [told, 'failure'])
  // The provider itself may end an answer in the middle.
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  assert.deepEqual(await usageIn(model, `${broken}event: error\n${sse(error)}`), [told, 'failure'])
  // Gemini counts in every chunk.
  const chunk = {
    candidates: [{ content: { parts: [{ text: 'Ich' }] } }],
    usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 3 },
  }
  assert.deepEqual(await usageIn('google/a-model', sse(chunk)), [{ input: 1200, output: 3, ...part }, 'failure'])
  // OpenAI's chat format counts only at the end.
  const words = { choices: [{ delta: { content: 'Ich' } }] }
  assert.deepEqual(await usageIn('groq/a-model', sse(words)), ['failure'])
})
