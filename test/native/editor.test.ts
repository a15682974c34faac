import { test } from 'node:test'
import assert from 'node:assert/strict'
import { wholeFile } from '../../src/core/talk/question.ts'
import fc from '../cases.ts'
import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { applyEdit } from '../../src/native/tools/files/text-edit.ts'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Edit = [string, string]
const edits = (...list: Edit[]) => list.map(([old_string, new_string]) => ({ old_string, new_string }))

/** A seat with one file that was read. */
async function opened(t: Parameters<typeof seat>[0], body: string | Uint8Array) {
  const here = seat(t)
  here.write('a.txt', body)
  await here.say('file_reader', { file_path: 'a.txt' })
  return {
    ...here,
    edit: (...list: Edit[]) => here.say('file_editor', { file_path: 'a.txt', edits: edits(...list) }),
    now: () => readFileSync(here.at('a.txt')),
    text: () => readFileSync(here.at('a.txt'), 'utf8'),
  }
}

test('edits are made in order, and come out as a change that can be shown', async (t) => {
  const { whole, text } = await opened(t, 'let a = 1\nlet b = 2\n')
  const output = await whole('file_editor', {
    file_path: 'a.txt',
    edits: edits(['let a = 1', 'const a = 1'], ['const a = 1\nlet b', 'const a = 1\nconst b']),
  })
  assert.deepEqual(output, {
    text: 'Made 2 edits in a.txt.',
    data: [{ path: 'a.txt', before: 'let a = 1\nlet b = 2\n', after: 'const a = 1\nconst b = 2\n', starts: wholeFile }],
  })
  assert.equal(text(), 'const a = 1\nconst b = 2\n')
})

test('an edit that does not fit says how, and then none is made', async (t) => {
  const body = 'if (x) {\n\treturn total + 1\n}\nfoo()\nfoo()\n'
  const { edit, text } = await opened(t, body)
  golden(t, await edit(['foo', 'bar']))
  golden(t, await edit(['if (x) {\n  return total + 1\n}', 'y']))
  golden(t, await edit(['return totals + 1', 'y']))
  golden(t, await edit(['something else entirely', 'y']))
  golden(t, await edit(['', 'y']))
  golden(t, await edit(['foo', 'foo']))
  golden(t, await edit(['if (x)', 'if (y)'], ['foo()\nfoo()', 'foo()'], ['gone', 'y']))
  assert.equal(text(), body)
})

test('only a file that was read, and is unchanged since, is edited', async (t) => {
  const { say, edit, write, at, text } = await opened(t, 'one\n')
  write('b.txt', 'one\n')
  golden(t, await say('file_editor', { file_path: 'b.txt', edits: edits(['one', 'two']) }))
  assert.equal(await edit(['one', 'two']), 'Made 1 edit in a.txt.')
  assert.equal(await edit(['two', 'three']), 'Made 1 edit in a.txt.')
  writeFileSync(at('a.txt'), 'three, says another')
  golden(t, await edit(['three', 'four']))
  await say('file_reader', { file_path: 'a.txt' })
  utimesSync(at('a.txt'), 1, 1)
  golden(t, await edit(['three', 'four']))
  await say('file_reader', { file_path: 'a.txt' })
  assert.equal(await edit(['three', 'four']), 'Made 1 edit in a.txt.')
  assert.equal(text(), 'four, says another')
  assert.equal(
    await say('file_editor', { file_path: 'c.txt', edits: edits(['a', 'b']) }),
    `! c.txt does not exist. Did you mean ${at('a.txt')}?`,
  )
})

test('line endings, marks and encodings stay as they are, byte for byte where nothing changed', async (t) => {
  const cases: [string, Buffer, Edit, Buffer][] = [
    ['CRLF', Buffer.from('a\r\nb\r\nc\r\n'), ['a\nb', 'x\ny\nz'], Buffer.from('x\r\ny\r\nz\r\nc\r\n')],
    ['mixed', Buffer.from('a\r\nb\nc\nd\n'), ['b\nc', 'x\ny'], Buffer.from('a\r\nx\ny\nd\n')],
    ['no line end in the old', Buffer.from('a\r\nb\r\n'), ['b', 'x\ny'], Buffer.from('a\r\nx\r\ny\r\n')],
    ['a mark', Buffer.from('\ufeffone\n'), ['one', 'two'], Buffer.from('\ufefftwo\n')],
    ['UTF-16', Buffer.from('\ufeffé\r\n', 'utf16le'), ['é', 'ü'], Buffer.from('\ufeffü\r\n', 'utf16le')],
    [
      'UTF-16 BE',
      Buffer.from('\ufeffé\n', 'utf16le').swap16(),
      ['é', 'ü'],
      Buffer.from('\ufeffü\n', 'utf16le').swap16(),
    ],
    [
      'Windows-1252',
      Buffer.from('caf\xe9 \x80\x81', 'latin1'),
      ['é €', 'é ü'],
      Buffer.from('caf\xe9 \xfc\x81', 'latin1'),
    ],
    [
      'torn UTF-8',
      Buffer.from('\xff h\xc3\xa9 \xc3', 'latin1'),
      ['hé', 'hü'],
      Buffer.from('\xff h\xc3\xbc \xc3', 'latin1'),
    ],
  ]
  for (const [name, before, edit, after] of cases) {
    const file = await opened(t, before)
    assert.equal(await file.edit(edit), 'Made 1 edit in a.txt.', name)
    assert.deepEqual(file.now(), after, name)
  }
  const western = await opened(t, Buffer.from('caf\xe9', 'latin1'))
  golden(t, await western.edit(['caf', '日本']))
})

test('the mode of a file, its other names and links to it stay', async (t) => {
  const { at, say, edit, text } = await opened(t, 'one\n')
  chmodSync(at('a.txt'), 0o751)
  await edit(['one', 'two'])
  assert.equal(statSync(at('a.txt')).mode & 0o7777, 0o751)
  symlinkSync('a.txt', at('link'))
  await say('file_reader', { file_path: 'link' })
  assert.equal(await say('file_editor', { file_path: 'link', edits: edits(['two', 'three']) }), 'Made 1 edit in link.')
  assert.deepEqual([readlinkSync(at('link')), text()], ['a.txt', 'three\n'])
  linkSync(at('a.txt'), at('other'))
  await say('file_reader', { file_path: 'other' })
  await edit(['three', 'four'])
  assert.equal(readFileSync(at('other'), 'utf8'), 'four\n')
  assert.deepEqual(readdirSync(at('.')).sort(), ['a.txt', 'link', 'other'])
})

test('a result keeps only the lines around the change of a long file', async (t) => {
  const line = (i: number) => `line ${i} ${'.'.repeat(40)}`
  const lines = Array.from({ length: 2000 }, (_, i) => line(i))
  const { whole } = await opened(t, lines.join('\n'))
  const { data } = await whole('file_editor', { file_path: 'a.txt', edits: edits([line(1000), 'changed']) })
  const around = (middle: string) =>
    ['⋮', line(997), line(998), line(999), middle, line(1001), line(1002), line(1003), '⋮'].join('\n')
  const starts = [
    [1, 1],
    [998, 998],
  ]
  assert.deepEqual(data, [{ path: 'a.txt', before: around(line(1000)), after: around('changed'), starts }])
})

test('a unique text is replaced and nothing else, whatever the line endings', () => {
  const piece = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', ' '), { maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(piece, piece, piece, (before, after, fresh) => {
      const text = `${before}<old>${after}`
      const { text: got } = applyEdit(text, { old_string: '<old>', new_string: `[${fresh}]` })
      const plain = (one: string) => one.replaceAll('\r\n', '\n')
      assert.equal(plain(got), plain(`${before}[${fresh}]${after}`))
      assert.ok(got.startsWith(before) && got.endsWith(after))
    }),
  )
})

test('a new file is written with its folders; one that exists is refused', async (t) => {
  const { whole, say, at } = seat(t)
  assert.deepEqual(await whole('file_creator', { file_path: 'src/deep/a.ts', content: 'one\ntwo\n' }), {
    text: 'Wrote src/deep/a.ts (2 lines).',
    data: [{ path: 'src/deep/a.ts', after: 'one\ntwo\n', starts: wholeFile }],
  })
  assert.equal(readFileSync(at('src/deep/a.ts'), 'utf8'), 'one\ntwo\n')
  golden(t, await say('file_creator', { file_path: 'src/deep/a.ts', content: '' }))
  symlinkSync('/nowhere/at/all', at('link'))
  golden(t, await say('file_creator', { file_path: 'link', content: 'x' }))
  assert.equal(existsSync('/nowhere/at'), false)
  golden(t, await say('file_creator', { file_path: 'src/deep/a.ts/b', content: 'x' }), { [at('.')]: '<folder>' })
  assert.equal(
    await say('file_editor', { file_path: 'src/deep/a.ts', edits: edits(['one', 'three']) }),
    'Made 1 edit in src/deep/a.ts.',
  )
})

test('replace_all changes every place that does not overlap the one before, and says how many', async (t) => {
  const { say, text } = await opened(t, 'aaa b aa\r\nb\r\n')
  const all = (old_string: string, new_string: string) => ({ old_string, new_string, replace_all: true })
  assert.equal(
    await say('file_editor', { file_path: 'a.txt', edits: [all('aa', 'c\nc'), all('b', 'd')] }),
    'Made 2 edits (4 places) in a.txt.',
  )
  assert.equal(text(), 'c\r\nca d c\r\nc\r\nd\r\n')
  golden(t, await say('file_editor', { file_path: 'a.txt', edits: [all('zz', 'y')] }))
})

test('white space at line ends is forgiven and named; white space elsewhere is not', async (t) => {
  const cases: [string, string, Edit, string][] = [
    ['in the file', 'a {  \n  b\t\n}\n', ['a {\n  b\n}', 'c'], 'c\n'],
    ['in what was sent', 'a {\n  b\n}\n', ['a { \n  b \n} ', 'c'], 'c\n'],
    ['a last line without its end', 'a\nb', ['a\nb\n', 'c\n'], 'c\n'],
    ['in a file with CRLF', 'a  \r\nb\r\n', ['a\nb', 'c\nd'], 'c\r\nd\r\n'],
    ['from the middle of a line', 'x(1); \ny(2); \nz', ['(1);\ny(2);\n', '(3);\n'], 'x(3);\nz'],
  ]
  for (const [name, before, edit, after] of cases) {
    const file = await opened(t, before)
    golden(t, await file.edit(edit))
    assert.equal(file.text(), after, name)
  }
  const twice = await opened(t, 'a \nb\na  \nb\n')
  golden(t, await twice.edit(['a\nb', 'c']))
  const inner = await opened(t, 'foobar\n')
  golden(t, await inner.edit(['foo ', 'x']))
})

test('a text that occurs as it is is never matched more loosely', () => {
  const lines = fc.array(fc.constantFrom('a', 'a ', 'b', ' b', '', '\t'), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(lines, fc.nat(7), fc.nat(7), (all, from, count) => {
      const text = all.join('\n')
      const old = all.slice(from, from + count + 1).join('\n')
      fc.pre(old !== '' && text.indexOf(old) === text.lastIndexOf(old))
      assert.deepEqual(applyEdit(text, { old_string: old, new_string: '<new>' }), {
        text: text.replace(old, () => '<new>'),
        places: 1,
        forgiven: [],
      })
    }),
  )
})
