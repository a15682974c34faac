import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { wholeFile } from '../../src/core/talk/question.ts'
import fc from '../cases.ts'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { applyHunks } from '../../src/native/tools/files/patch-hunks.ts'
import { parsePatch } from '../../src/native/tools/files/patch-text.ts'
import { sized } from '../full.ts'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const patch = (...lines: string[]) => ({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })

/** A seat whose files were all read. */
async function opened(t: TestContext, files: Record<string, string | Uint8Array>) {
  const here = seat(t)
  for (const [path, body] of Object.entries(files)) {
    here.write(path, body)
    await here.say('file_reader', { file_path: path })
  }
  return {
    ...here,
    apply: (...lines: string[]) => here.say('apply_patch', patch(...lines)),
    text: (path: string) => readFileSync(here.at(path), 'utf8'),
    names: () => readdirSync(here.root, { recursive: true }).sort(),
  }
}

const code = 'class A:\n  def one(self):\n    return 1\n\nclass B:\n  def one(self):\n    return 1\n'

test('one patch changes, adds, deletes and moves files, and comes out as one list of changes', async (t) => {
  const { whole, text, names, at } = await opened(t, { 'a.py': code, 'old.txt': 'gone\n', 'b.sh': 'echo 1\n' })
  chmodSync(at('b.sh'), 0o751)
  const output = await whole(
    'apply_patch',
    patch(
      '*** Update File: a.py',
      '@@ class B:',
      '@@   def one(self):',
      '-    return 1',
      '+    return 2',
      '*** Add File: src/new.txt',
      '+one',
      '+',
      '+three',
      '*** Delete File: old.txt',
      '*** Update File: b.sh',
      '*** Move to: bin/c.sh',
      '@@',
      '-echo 1',
      '+echo 2',
    ),
  )
  assert.deepEqual(output, {
    text: 'Changed a.py.\nAdded src/new.txt (3 lines).\nDeleted old.txt.\nMoved b.sh to bin/c.sh.',
    data: [
      { path: 'a.py', before: code, after: `${code.slice(0, -2)}2\n`, starts: wholeFile },
      { path: 'src/new.txt', after: 'one\n\nthree\n', starts: wholeFile },
      { path: 'old.txt', before: 'gone\n', after: '', starts: wholeFile, gone: true },
      { path: 'bin/c.sh', before: 'echo 1\n', after: 'echo 2\n', starts: wholeFile, from: 'b.sh' },
    ],
  })
  assert.deepEqual(names(), ['a.py', 'bin', 'bin/c.sh', 'src', 'src/new.txt'])
  assert.deepEqual(
    [text('a.py'), text('src/new.txt'), text('bin/c.sh')],
    [`${code.slice(0, -2)}2\n`, 'one\n\nthree\n', 'echo 2\n'],
  )
  assert.equal(statSync(at('bin/c.sh')).mode & 0o777, 0o751)
})

test('a file that was patched, added or moved can be patched again without being read', async (t) => {
  const { apply, text } = await opened(t, { a: 'one\n' })
  assert.equal(
    await apply('*** Update File: a', '*** Move to: b', '*** Add File: c', '+x'),
    'Moved a to b.\nAdded c (1 line).',
  )
  assert.equal(
    await apply('*** Update File: b', '@@', '-one', '+two', '*** Update File: c', '@@', '-x', '+y'),
    'Changed b.\nChanged c.',
  )
  assert.deepEqual([text('b'), text('c')], ['two\n', 'y\n'])
})

test('when one file does not fit, nothing is written and every file that does not fit is named', async (t) => {
  const body = 'function a() {\n  first()\n  second()\n  third()\n}\n'
  const { apply, names, text, write } = await opened(t, { 'a.js': body, 'b.js': 'x\n', 'c.js': 'x\n' })
  write('unread.js', 'x\n')
  golden(
    t,
    await apply(
      '*** Update File: b.js',
      '@@',
      '-x',
      '+y',
      '*** Add File: new.js',
      '+z',
      '*** Update File: a.js',
      '@@ function a() {',
      '   first()',
      '-  secnd()',
      '   third()',
      '+  fourth()',
      '*** Update File: unread.js',
      '@@',
      '-x',
      '+y',
      '*** Add File: c.js',
      '+x',
    ),
  )
  assert.deepEqual(names(), ['a.js', 'b.js', 'c.js', 'unread.js'])
  assert.deepEqual([text('a.js'), text('b.js')], [body, 'x\n'])
})

test('a hunk that does not fit is explained: the reason, the lines of the file there, and what to send', async (t) => {
  const { apply, text, at } = await opened(t, { 'a.py': code, 'end.txt': 'one\ntwo' })
  const cases: string[][] = [
    ['@@', '-    return 1', '+    return 2'],
    ['@@', ' class A:', '   def one(self):', '-  return 1', '+  return 2'],
    ['@@', '-\treturn 1', '+\treturn 2'],
    ['@@', '-nothing like this', '+x'],
    ['@@', '+only added'],
    ['@@ class C:', '+x = 1'],
    ['@@', '-class A:', '+class C:', '@@', ' class A:', '-  def one(self):', '+  def two(self):'],
    ['@@', '-class A:', '+class A:'],
  ]
  for (const lines of cases) golden(t, await apply('*** Update File: a.py', ...lines))
  assert.equal(text('a.py'), code)
  writeFileSync(at('a.py'), '# another was here\n')
  golden(t, await apply('*** Update File: a.py', '@@', '-class A:', '+class C:'))
})

test('places: anchors, the end of the file, hunks out of order, repeated context, unified headers', async (t) => {
  const cases: [string, string, string[], string][] = [
    ['an anchor above added lines', 'a\nb\nc\n', ['@@ b', '+x'], 'a\nb\nx\nc\n'],
    ['an anchor that is also the first line', 'a\nb\nc\n', ['@@ b', ' b', '+x'], 'a\nb\nx\nc\n'],
    [
      'a part of a line as an anchor',
      'def f(a, b):\n  1\ndef g(a):\n  1\n',
      ['@@ def g', '-  1', '+  2'],
      'def f(a, b):\n  1\ndef g(a):\n  2\n',
    ],
    ['the end of the file', 'x\ny\nx\n', ['@@', '-x', '+z', '*** End of File'], 'x\ny\nz\n'],
    ['added at the end', 'x\ny\n', ['@@', '+z', '*** End of File'], 'x\ny\nz\n'],
    ['into an empty file', '', ['@@', '+z'], 'z\n'],
    ['hunks out of order', 'a\nb\nc\n', ['@@', '-c', '+3', '@@', '-a', '+1'], '1\nb\n3\n'],
    ['repeated context', 'a\nb\nc\nd\n', ['@@', ' a', '-b', '+2', ' c', '@@', ' c', '-d', '+4'], 'a\n2\nc\n4\n'],
    ['the same lines twice, in order', 'x\nx\n', ['@@', ' x', '+1', ' x'], 'x\n1\nx\n'],
    ['a unified header', 'a\nb\n', ['@@ -1,2 +1,2 @@', ' a', '-b', '+c'], 'a\nc\n'],
    ['no header at first', 'a\nb\n', [' a', '-b', '+c'], 'a\nc\n'],
    ['an empty line without its space', 'a\n\nb\n', ['@@', ' a', '', '-b', '+c', ''], 'a\n\nc\n'],
    ['two sections of one file', 'a\nb\n', ['@@', '-a', '+1', '*** Update File: a.txt', '@@', '-b', '+2'], '1\n2\n'],
    ['no last line end, changed', 'a\nb', ['@@', '-b', '+c', '+d'], 'a\nc\nd'],
    ['no last line end, added', 'a\nb', ['@@', ' b', '+c'], 'a\nb\nc'],
    ['CRLF', 'a\r\nb\r\nc\r\n', ['@@', ' a', '-b', '+x', '+y', ' c'], 'a\r\nx\r\ny\r\nc\r\n'],
    ['mixed line ends', 'a\r\nb\nc\n', ['@@', ' a', '-b', '+x', ' c'], 'a\r\nx\nc\n'],
    ['a line that begins with the signs of a patch', '*** x\n', ['@@', '-*** x', '+*** End Patch'], '*** End Patch\n'],
  ]
  for (const [name, before, lines, after] of cases) {
    const { apply, text } = await opened(t, { 'a.txt': before })
    assert.equal(await apply('*** Update File: a.txt', ...lines), 'Changed a.txt.', name)
    assert.equal(text('a.txt'), after, name)
  }
})

test('white space at line ends is forgiven and named, and stays on lines that are not changed', async (t) => {
  const { apply, text } = await opened(t, { a: 'a {  \n  b\t\n}\n' })
  golden(t, await apply('*** Update File: a', '@@', ' a {', '-  b', '+  c', ' }'))
  assert.equal(text('a'), 'a {  \n  c\n}\n')
})

test('a patch that was wrapped for a shell or for Markdown is read; text around it is not', async (t) => {
  const { say, text } = await opened(t, { a: '1\n' })
  const body = (from: string, to: string) => patch('*** Update File: a', '@@', `-${from}`, `+${to}`).input
  assert.equal(await say('apply_patch', { input: `<<'EOF'\n${body('1', '2')}\nEOF\n` }), 'Changed a.')
  assert.equal(await say('apply_patch', { input: `\`\`\`diff\n${body('2', '3')}\n\`\`\`` }), 'Changed a.')
  assert.equal(await say('apply_patch', { input: body('3', '4').replaceAll('\n', '\r\n') }), 'Changed a.')
  assert.equal(text('a'), '4\n')
  golden(t, await say('apply_patch', { input: `Here it is:\n${body('4', '5')}` }))
})

test('a patch that cannot be read says which line is wrong', (t) => {
  const { tool } = seat(t)
  const cases: string[][] = [
    [],
    ['hello'],
    ['*** Update File: a'],
    ['*** Update File: a', '@@'],
    ['*** Update File: a', '@@', ' x'],
    ['*** Update File: a', '@@', 'x'],
    ['*** Update File: '],
    ['*** Add File: a\0b', '+x'],
    ['*** Add File: a', 'x'],
    ['*** Delete File: a', '-x'],
    ['*** Delete File: a', '*** Add File: a', '+x'],
    ['*** Update File: a', '@@', '-x', '*** Move to: b'],
    ['*** Update File: a', '*** End of File'],
  ]
  for (const lines of cases) golden.throws(t, () => tool('apply_patch').parse(patch(...lines)))
  golden.throws(t, () => tool('apply_patch').parse({ input: '*** Begin Patch\n*** Add File: a\n+x' }))
  golden.throws(t, () => tool('apply_patch').parse({ input: '--- a\n+++ b' }))
})

test('hostile places: links, folders, targets that exist, one file by two names', async (t) => {
  const { apply, at, names, text, place, tool, say } = await opened(t, { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  mkdirSync(at('folder'))
  symlinkSync('a.txt', at('link'))
  symlinkSync('/nowhere/at/all', at('dangling'))
  await say('file_reader', { file_path: 'link' })
  const before = names()
  const refused = async (words: string, ...lines: string[]) =>
    assert.equal(await apply(...lines), `! ${words}\nNothing was written.`)
  const linked = 'link is a link. Delete or move it with bash, or name the file that it leads to.'
  await refused(linked, '*** Delete File: link')
  await refused(linked, '*** Update File: link', '*** Move to: c')
  await refused('folder is a folder: use ls to see what is in it.', '*** Delete File: folder')
  await refused(
    'a.txt: b.txt exists already. Read it with file_reader, then edit it.',
    '*** Update File: a.txt',
    '*** Move to: b.txt',
  )
  await refused('dangling exists already. Read it with file_reader, then edit it.', '*** Add File: dangling', '+x')
  await refused(
    'link and a.txt are the same file. Give each file one section.',
    ...['*** Update File: a.txt', '@@', '-a', '+1', '*** Update File: link', '@@', '-a', '+2'],
  )
  await refused(
    './new and new are the same file. Give each file one section.',
    ...['*** Add File: new', '+1', '*** Add File: ./new', '+2'],
  )
  await refused(
    './c and c are the same file. Give each file one section.',
    ...['*** Update File: a.txt', '*** Move to: c', '*** Update File: b.txt', '*** Move to: ./c'],
  )
  golden(
    t,
    await apply('*** Add File: one', '+1', '*** Update File: b.txt', '@@', '-b', '+c', '*** Add File: a.txt/x', '+2'),
    { [place]: '<place>' },
  )
  assert.deepEqual([names(), text('a.txt'), text('b.txt')], [before, 'a\n', 'b\n'])
  assert.equal(existsSync(join(place, 'out')), false)
  // Every path of a patch is named to the policy, wherever it leads.
  const paths = ['*** Delete File: b.txt', '*** Update File: ../x', '*** Move to: /etc/y', '*** Add File: n', '+']
  assert.deepEqual(tool('apply_patch').effect!(patch(...paths), at('sub')), {
    does: 'access',
    paths: [
      { access: 'remove', path: at('sub/b.txt') },
      { access: 'write', path: at('x') },
      { access: 'write', path: '/etc/y' },
      { access: 'write', path: at('sub/n') },
    ],
  })
})

test('when a write fails in the middle, the files before it are put back', async (t) => {
  const { at, names, text, write, say } = await opened(t, { a: 'a\n', b: 'b\n' })
  write('deep/c', 'c\n')
  await say('file_reader', { file_path: 'deep/c' })
  // The folder of the last file is replaced by a link after the policy looked at it: the write refuses to follow it.
  const places = [{ path: at('deep/new'), real: '/elsewhere/new' }]
  const output = await say(
    'apply_patch',
    patch('*** Add File: new', '+n', '*** Update File: a', '@@', '-a', '+A', '*** Add File: deep/new', '+x'),
    { places },
  )
  golden(t, output, { [at('.')]: '<folder>' })
  assert.deepEqual([names(), text('a')], [['a', 'b', 'deep', 'deep/c'], 'a\n'])
})

test('encodings stay as they are, and a character that an encoding lacks is refused', async (t) => {
  const { apply, at } = await opened(t, {
    w: Buffer.from('caf\xe9\nx\n', 'latin1'),
    u: Buffer.from('\ufeffé\r\nx\r\n', 'utf16le'),
  })
  assert.equal(
    await apply('*** Update File: w', '@@ café', '-x', '+ü', '*** Update File: u', '@@', ' é', '-x', '+ü'),
    'Changed w.\nChanged u.',
  )
  assert.deepEqual(readFileSync(at('w')), Buffer.from('caf\xe9\n\xfc\n', 'latin1'))
  assert.deepEqual(readFileSync(at('u')), Buffer.from('\ufeffé\r\nü\r\n', 'utf16le'))
  golden(t, await apply('*** Update File: w', '@@', '-ü', '+日本'))
})

const line = fc.constantFrom('a', 'b', 'a ', '  a', '', '*** x', '@@ y', '+z', '-w', '\tq')
const lines = fc.array(line, { maxLength: 12 })
const ending = fc.constantFrom('\n', '\r\n')

test('a patch made of two texts turns the one into the other, whatever the line ends', () => {
  fc.assert(
    fc.property(lines, lines, ending, fc.boolean(), (before, after, end, open) => {
      fc.pre(before.length > 0 && before.join('\n') !== after.join('\n'))
      const file = before.join(end) + (open ? '' : end)
      fc.pre(!open || (before.at(-1) !== '' && file.includes('\n')))
      const sections = [...before.map((one) => `-${one}`), ...after.map((one) => `+${one}`)]
      const [section] = parsePatch(patch('*** Update File: f', '@@', ...sections).input)
      assert.ok(section?.does === 'update')
      const { text, forgiven } = applyHunks(file, section.hunks)
      assert.deepEqual([text, forgiven], [after.length === 0 ? '' : after.join(end) + (open ? '' : end), []])
    }),
  )
})

test('property: lines that a hunk only names, and those between hunks, keep every byte', () => {
  const numbered = fc.array(fc.tuple(fc.constantFrom('', ' ', '\t'), ending), { minLength: 3, maxLength: 12 })
  fc.assert(
    fc.property(numbered, fc.nat(11), fc.nat(11), (kinds, first, second) => {
      const bodies = kinds.map(([space, end], i) => `line ${i}${space}${end}`)
      const [low, high] = [first % kinds.length, second % kinds.length].sort((a, b) => a - b) as [number, number]
      fc.pre(low !== high)
      const hunk = (at: number) => [
        '@@',
        ...(at > 0 ? [` line ${at - 1}`] : []),
        `-line ${at}`,
        `+new ${at}`,
        ...(at + 1 < kinds.length ? [` line ${at + 1}`] : []),
      ]
      fc.pre(high - low > 1)
      const [section] = parsePatch(patch('*** Update File: f', ...hunk(high), ...hunk(low)).input)
      assert.ok(section?.does === 'update')
      const { text } = applyHunks(bodies.join(''), section.hunks)
      const expected = bodies.map((body, i) =>
        i === low || i === high ? `new ${i}${body.endsWith('\r\n') ? '\r\n' : '\n'}` : body,
      )
      assert.equal(text, expected.join(''))
    }),
  )
})

test('any text is read as a patch or refused in words, and never anything else', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        '*** Begin Patch',
        '*** End Patch',
        '*** Add File: a',
        '*** Update File: a',
        '*** Delete File: b',
        '*** Move to: c',
      ],
      ...[
        '*** End of File',
        '@@',
        '@@ x',
        '@@ -1 +1 @@',
        '+x',
        '-x',
        ' x',
        '',
        'x',
        '*** Update File:',
        '***',
        '\0',
        '\r',
      ],
    ),
    fc.string({ maxLength: 6 }),
  )
  const words = fc.array(piece, { maxLength: 14 })
  const whole = fc.oneof(
    words,
    words.map((some) => ['*** Begin Patch', ...some, '*** End Patch']),
  )
  fc.assert(
    fc.property(whole, lines, (all, file) => {
      try {
        for (const section of parsePatch(all.join('\n')))
          if (section.does === 'update' && section.hunks.length > 0) applyHunks(file.join('\n'), section.hunks)
      } catch (error) {
        assert.equal((error as Error).constructor, Error)
        assert.match((error as Error).message, /[.:")]|\d$/)
      }
    }),
    { numRuns: sized(500, 20_000) },
  )
})
