import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { AnsiStripper, cleanText, stripAnsi, terminalText } from '../../src/base/text/ansi.ts'

const cases: [string, string, string][] = [
  ['colours', '\x1b[1;31mred\x1b[0m and \x1b[38;5;200mpink\x1b[m', 'red and pink'],
  ['cursor and screen', '\x1b[2J\x1b[H\x1b[?25lhi\x1b[?25h\x1b[10;4Hthere', 'hithere'],
  ['a title, ended by BEL and by ST', '\x1b]0;title\x07a\x1b]2;other\x1b\\b', 'ab'],
  ['a link', '\x1b]8;;http://x.test\x1b\\name\x1b]8;;\x1b\\', 'name'],
  ['an unclosed title loses its line alone', '\x1b]0;title\nanswer', '\nanswer'],
  ['device strings', 'a\x1bPq#0;2\nsixel\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e', 'abcde'],
  ['two characters and charsets', '\x1b(Ba\x1b=b\x1b>c\x1bMd\x1b#8e', 'abcde'],
  ['eight-bit introducers', '\x9b31mred\x9b0m\x9d0;t\x9c!\x85', 'red!'],
  ['a sequence broken off by another', '\x1b[3\x1b[31mred', 'red'],
  ['a sequence broken off by a letter of another script', '\x1b[3é', 'é'],
  ['cancelled', '\x1b[3\x18red\x1b]0;x\x1ared', 'redred'],
  ['control characters', 'a\x00b\x07c\x0bd\x0ce\x7ff\tg\nh', 'abcdef\tg\nh'],
  ['line ends', 'a\r\nb\r\r\nc\rd\r', 'a\nb\nc\nd'],
  ['a redrawn line keeps each version', '10%\r\x1b[K20%\r\x1b[Kdone\n', '10%\n20%\ndone\n'],
  ['a return at the begin of a line is nothing', '\ra\n\rb', 'a\nb'],
  ['overstruck bold and underline', 'N\bNA\bA _\bx', 'NA x'],
  ['a backspace takes a whole emoji, and no line end', 'a😀\bb\n\b\bc', 'ab\nc'],
  ['a spinner', '|\b/\b-\b\\\b done', ' done'],
  ['plain text', 'nothing\tto do\n', 'nothing\tto do\n'],
]

for (const [name, raw, plain] of cases)
  test(`stripped: ${name}`, () => {
    assert.equal(stripAnsi(raw), plain)
  })

test('invalid UTF-8 becomes a replacement character', () => {
  const stripper = new AnsiStripper()
  assert.equal(stripper.push(Uint8Array.of(0x61, 0xff, 0x62, 0xe2, 0x82)) + stripper.end(), 'a\ufffdb\ufffd')
})

const piece = fc.oneof(
  fc.constantFrom(...cases.map(([, raw]) => raw)),
  fc.constantFrom(
    '\x1b',
    '\x1b[',
    '\x1b]',
    '\x1bP',
    '\x07',
    '\x9b',
    '\x9c',
    '\b',
    '\r',
    '\n',
    '\r\n',
    '😀',
    'é',
    ';1m',
  ),
  fc.string({ unit: 'grapheme' }),
)
const raw = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

test('any cut into chunks gives the result of the whole', () => {
  fc.assert(
    fc.property(raw, fc.array(fc.nat(200)), (text, cuts) => {
      const bytes = new TextEncoder().encode(text)
      const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
      const byBytes = new AnsiStripper()
      const pieces = at.slice(1).map((end, i) => byBytes.push(bytes.subarray(at[i], end)))
      const byUnits = new AnsiStripper()
      const units = text.split('').map((unit) => byUnits.push(unit))
      assert.equal(pieces.join('') + byBytes.end(), stripAnsi(text))
      assert.equal(units.join('') + byUnits.end(), stripAnsi(text))
    }),
    { numRuns: 500 },
  )
})

test('no control character but tab and line end is ever left, and stripping again changes nothing', () => {
  fc.assert(
    fc.property(fc.oneof(raw, fc.string({ unit: 'binary' })), (text) => {
      const plain = stripAnsi(text)
      assert.doesNotMatch(plain, /[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
      assert.equal(stripAnsi(plain), plain)
    }),
    { numRuns: 500 },
  )
})

test('for a terminal, characters that reorder a line are shown and unseen ones removed; joined letters and emoji stay', () => {
  const texts = {
    'a\u202eb\u2066c\u2069': 'a⟨U+202E⟩b⟨U+2066⟩c⟨U+2069⟩',
    'a\u200bb\u200ec\u200fd\u061ce\ufefff\u2060g': 'abcdefg',
    '👩\u200d👩\u200d👧 e\u0301 ❤\ufe0f می\u200cخواهم 🇩🇪': '👩\u200d👩\u200d👧 e\u0301 ❤\ufe0f می\u200cخواهم 🇩🇪',
    '\u001b]52;c;eA==\u0007x\u009b31my\n\tz': 'xy\n\tz',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(texts).map((text) => [text, terminalText(text)])), texts)
})

test('pasted text is plain: no control key, no sequence, and no mark that joins up when another is removed', () => {
  const texts = {
    'a\u0003b\u0004c\rd\r\ne\tf': 'abc\nd\ne\tf',
    'x\u001b[201~y\u001b]52;c;eA==\u0007z': 'xyz',
    '\u001b[20\u001b[201~1~rm': '[201~rm',
    '\u009b201~ls\u009d52;c;x\u0007': '201~ls52;c;x',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(texts).map((text) => [text, cleanText(text)])), texts)
})
