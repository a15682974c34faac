import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import {
  linkedPicture,
  pictureLabel,
  pictureMention,
  pictureName,
  steerFact,
  takePictures,
  withPictures,
  withoutPictureLinks,
} from '../../src/core/talk/pictures.ts'

const ref = (byte: string) => ({ sha: byte.repeat(64), media: 'image/png', bytes: 9 })
const [a, b] = [ref('a'), ref('b')]
const told = (number: number, name = 'shot.png') => ({ number, name, width: 640, height: 480 })

test('a text carries its pictures, loses them to its files, and gets them back', () => {
  const typed = `see ${linkedPicture(told(4), a)}, ${linkedPicture(told(2, 'b.png'), b)} and ${linkedPicture(told(4), a)}`
  const kept = 'see [picture 1: shot.png, 640×480], [picture 2: b.png, 640×480] and [picture 1: shot.png, 640×480]'
  assert.deepEqual(takePictures(typed), { text: kept, files: [a, b] })
  assert.deepEqual(takePictures(withPictures(kept, [a, b])), { text: kept, files: [a, b] })
  assert.equal(
    withoutPictureLinks(typed),
    'see [picture 4: shot.png, 640×480], [picture 2: b.png, 640×480] and [picture 4: shot.png, 640×480]',
  )
  assert.deepEqual(steerFact(typed), { type: 'steer', text: kept, files: [a, b] })
  assert.deepEqual(steerFact('plain'), { type: 'steer', text: 'plain' })
})

test('a mention that a person typed stands for no picture', () => {
  const typed = '[picture 3: x.png, 1×1] and [picture 1: y.png, 1×1](kept:image/png,1,abc)'
  assert.deepEqual(takePictures(typed), { text: typed, files: [] })
  assert.equal(withPictures('[picture 2: x.png, 1×1]', [a, b]), '[picture 2: x.png, 1×1]')
  assert.equal(withPictures('[picture 1: x.png, 1×1]'), '[picture 1: x.png, 1×1]')
})

test('any text around any names survives the way there and back', () => {
  const word = fc.string({ unit: 'grapheme' })
  const byte = fc.constantFrom('a', 'b', 'c', 'd')
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word, byte)), word, (pieces, end) => {
      const typed =
        pieces.map(([text, name, of]) => text + linkedPicture(told(1, pictureName(name)), ref(of))).join('') + end
      const { text, files } = takePictures(typed)
      assert.deepEqual(
        files.map(({ sha }) => sha[0]),
        [...new Set(pieces.map(([, , of]) => of))],
      )
      assert.deepEqual(takePictures(withPictures(text, files)), { text, files })
      assert.equal(withoutPictureLinks(withPictures(text, files)), text)
    }),
  )
})

test('a name is shown without invisible characters, and shortened in the input alone', () => {
  assert.equal(pictureName('a\u001b[31m\u202e\nb[1].png'), 'a_(31m__b(1).png')
  assert.equal(pictureName(''), 'picture')
  assert.equal(
    pictureMention(told(1, 'deep/in/the project/shot.png')),
    '[picture 1: deep/in/the project/shot.png, 640×480]',
  )
  assert.equal(pictureLabel(told(1, 'deep/in/the project/shot.png')), '[picture 1: shot.png, 640×480]')
  assert.equal(
    pictureLabel(told(2, 'Screenshot from 2026-11-16 10-04-05.png')),
    '[picture 2: Screenshot from…4-05.png, 640×480]',
  )
})
