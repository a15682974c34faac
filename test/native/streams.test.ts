import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { readText } from '../../src/core/talk/store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { encodingOf } from '../../src/native/tools/files/text-encoding.ts'
import { FileLines } from '../../src/native/tools/files/file-lines.ts'
import { CommandOutput } from '../../src/native/tools/shell/command-output.ts'

/** Bytes as files have them: text, torn characters, marks, line ends. */
const bytes = fc
  .array(
    fc.constantFrom('a', 'é', '日', '\n', '\r\n', '\x00', '\ufeff').map((text) => Buffer.from(text)),
    { maxLength: 30 },
  )
  .chain((parts) =>
    fc
      .array(fc.uint8Array({ maxLength: 3 }), { maxLength: 3 })
      .map((torn) => Buffer.concat([...torn.slice(0, 1), ...parts, ...torn.slice(1)])),
  )

test('property: a file that was read as text is written as the same bytes', () => {
  fc.assert(
    fc.property(bytes, (body) => {
      const encoding = encodingOf(body)
      if (!encoding) return
      const draft = encoding.draft(body.subarray(encoding.mark.length))
      assert.deepEqual(Buffer.concat([encoding.mark, encoding.bytes(draft)]), body)
      assert.equal(encoding.word(encoding.shown(draft)) === undefined, false)
    }),
    { numRuns: 500 },
  )
})

/** A text cut anywhere. */
const cut = fc
  .tuple(fc.array(fc.constantFrom('x', 'yy', '\n', '\r\n', ' ', 'é'), { maxLength: 60 }), fc.array(fc.nat(60)))
  .map(([parts, at]) => {
    const text = parts.join('')
    const places = [...new Set(at.map((one) => Math.min(one, text.length)))].sort((a, b) => a - b)
    return { text, chunks: [...places, text.length].map((to, i) => text.slice(i === 0 ? 0 : places[i - 1]!, to)) }
  })

test('lines are the same wherever their text was cut, and are those of the file', () => {
  const range = fc.record({
    offset: fc.integer({ min: 1, max: 8 }),
    limit: fc.integer({ min: 1, max: 8 }),
    numbers: fc.boolean(),
  })
  fc.assert(
    fc.property(cut, range, ({ text, chunks }, { offset, limit, numbers }) => {
      const numbered = new FileLines({ offset, limit, numbers })
      for (const chunk of chunks) numbered.push(chunk)
      const bytewise = new FileLines({ offset, limit, numbers })
      for (const chunk of chunks) bytewise.push(bytewise.skip(Buffer.from(chunk)).toString())
      const all = text.replaceAll('\r\n', '\n').split('\n')
      if (all.at(-1) === '') all.pop()
      const wanted = all
        .slice(offset - 1, offset - 1 + limit)
        .map((line, i) => (numbers ? `${offset + i}:${line}` : line))
      const told = numbered.done(true)
      assert.equal(bytewise.done(true), told)
      if (wanted.length > 0) assert.equal(told.split('\n[lines ')[0], wanted.join('\n'))
      assert.equal(told.includes('go on with'), wanted.length > 0 && offset + limit <= all.length)
    }),
  )
})

test('the output of a command is told and kept the same, wherever it was cut', async () => {
  await fc.assert(
    fc.asyncProperty(cut, fc.integer({ min: 1, max: 4000 }), async ({ text, chunks }, times) => {
      const blobs = memoryStore().blobs('output')
      let whole = ''
      const place = blobs.place.bind(blobs)
      blobs.place = (ref) => (readText(blobs, ref).then((body) => (whole = body)), place(ref))
      const printed = new CommandOutput({ blobs })
      for (let i = 0; i < times; i++) for (const chunk of chunks) await printed.add(Buffer.from(chunk))
      const told = await printed.done()
      await new Promise((resolve) => setImmediate(resolve))
      const all = text.replaceAll('\r\n', '\n').repeat(times)
      const [head, tail] = [10 * 1024, 22 * 1024]
      if (all.length <= head + tail) return assert.equal(told, all)
      const missing = all.length - head - tail
      assert.equal(told, `${all.slice(0, head)}\n[… ${missing} characters cut …]\n${all.slice(-tail)}`)
      assert.equal(whole, all)
    }),
    { numRuns: 12 },
  )
})
