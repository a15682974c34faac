import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { pictureFacts, pictureMedia } from '../../src/base/picture.ts'
import { gif, jpeg, png, webp } from '../picture-bodies.ts'

const size = fc.integer({ min: 1, max: 16_000 })
const cut = 'it is damaged: its end is missing'

test('the bytes of a picture give its type and its size', () => {
  fc.assert(
    fc.property(size, size, (width, height) => {
      const small = [Math.min(width, 60), Math.min(height, 60)] as const
      assert.deepEqual(pictureFacts(png(...small)), { media: 'image/png', width: small[0], height: small[1] })
      assert.deepEqual(pictureFacts(jpeg(width, height)), { media: 'image/jpeg', width, height })
      assert.deepEqual(pictureFacts(gif(width, height)), { media: 'image/gif', width, height })
      for (const form of ['VP8 ', 'VP8L', 'VP8X'] as const)
        assert.deepEqual(pictureFacts(webp(width, height, form)), { media: 'image/webp', width, height })
    }),
  )
})

test('a picture that was cut anywhere is damaged or no picture, and nothing is read beyond its end', () => {
  for (const whole of [png(3, 4, 20), jpeg(3, 4), gif(3, 4), webp(3, 4), webp(3, 4, 'VP8L'), webp(3, 4, 'VP8 ')])
    for (let length = 0; length < whole.length; length++) {
      const facts = pictureFacts(whole.subarray(0, length))
      assert.equal(facts?.fault, pictureMedia(whole.subarray(0, length)) ? cut : undefined, `${length}`)
    }
})

test('property: any bytes have a media type or none, and nothing throws', () => {
  const begins = [png(1, 1), jpeg(1, 1), gif(1, 1), webp(1, 1)].map((body) => body.subarray(0, 16))
  fc.assert(
    fc.property(fc.constantFrom(...begins, Buffer.alloc(0)), fc.uint8Array({ maxLength: 200 }), (begin, rest) => {
      const body = Buffer.concat([begin, rest])
      assert.equal(pictureFacts(body)?.media, pictureMedia(body))
    }),
  )
  assert.deepEqual(pictureFacts(png(0, 5)), { media: 'image/png', width: 0, height: 5, fault: 'it is empty' })
})
