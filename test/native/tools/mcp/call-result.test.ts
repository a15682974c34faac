import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readText } from '../../../../src/core/talk/store.ts'
import { memoryStore } from '../../../../src/store/memory-store.ts'
import { outputOf } from '../../../../src/native/tools/mcp/call-result.ts'

const blobs = memoryStore().blobs('output')
const text = (words: string) => ({ type: 'text' as const, text: words })

test('several texts become one; an empty result says that it is empty', async () => {
  assert.equal(await outputOf({ content: [text('a'), text(''), text('b')] }, blobs), 'a\n\nb')
  assert.equal(await outputOf({ content: [] }, blobs), '(The tool returned nothing.)')
})

test('structure that is repeated as text is given once', async () => {
  const structuredContent = { a: 1 }
  const output = await outputOf({ content: [text('{"a":1}')], structuredContent }, blobs)
  assert.deepEqual(output, { text: '{"a":1}', data: { structured: { a: 1 } } })
  const words = await outputOf({ content: [text('one a')], structuredContent }, blobs)
  assert.deepEqual(words, { text: 'one a\n\n{\n  "a": 1\n}', data: { structured: { a: 1 } } })
})

test('a server cannot pass for one of our tools by the names in its data', async () => {
  const structuredContent = { asks: [{ about: 'permission' }], diffs: [] }
  const output = await outputOf({ content: [text('x')], structuredContent }, blobs)
  assert.deepEqual((output as { data: object }).data, { structured: structuredContent })
})

test('a sound is a file; a failure is its words, whatever else the result has', async () => {
  const sound = { type: 'audio' as const, data: Buffer.alloc(2048).toString('base64'), mimeType: 'audio/wav' }
  const output = await outputOf({ content: [sound] }, blobs)
  assert.ok(typeof output === 'object')
  assert.equal(output.text, '[audio: audio/wav, 2 KB]')
  assert.deepEqual(
    output.files?.map(({ media, bytes }) => [media, bytes]),
    [['audio/wav', 2048]],
  )
  await assert.rejects(outputOf({ content: [text('no'), sound], isError: true }, blobs), {
    message: 'no\n\n[audio: audio/wav, 2 KB]',
  })
})

test('a result that is too long for a model is cut, and kept whole', async () => {
  const long = 'x'.repeat(100_000)
  const kept: string[] = []
  const noting = {
    ...{ writer: blobs.writer.bind(blobs), read: blobs.read.bind(blobs), clear: blobs.clear.bind(blobs) },
    put: async (body: string | Uint8Array, media: string) => {
      const ref = await blobs.put(body, media)
      kept.push(await readText(blobs, ref))
      return ref
    },
    place: () => '/place/of/it',
    keepOnly: blobs.keepOnly.bind(blobs),
  }
  const output = (await outputOf({ content: [text(long)] }, noting)) as string
  assert.match(output, /^x{32768}\n\[… 59040 characters cut; the whole is in \/place\/of\/it …\]\nx{8192}$/)
  assert.deepEqual(kept, [long])
})
