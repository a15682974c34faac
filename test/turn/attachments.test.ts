import type { TestContext } from 'node:test'
import type { Ask } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { nobody } from '../../src/core/talk/question.ts'
import { mostBytes, pastedPaths, withAttachments } from '../../src/turn/attachments/attachments.ts'
import { plainPrompt } from '../../src/core/talk/plain-prompt.ts'
import { linkedPicture } from '../../src/core/talk/pictures.ts'
import { readText } from '../../src/core/talk/store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { png } from '../picture-bodies.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A git project in a folder of its own, with these files; the prompt is typed in `cwd`. */
function project(context: TestContext, files: Record<string, string | Buffer>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-attach-')))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'project')
  mkdirSync(join(root, '.git'), { recursive: true })
  for (const [name, body] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, body)
  }
  const typed = async (prompt: string, cwd = '.', ask: Ask = nobody) => {
    const person = { ask, signal: new AbortController().signal }
    const { pictures, files, ...words } = await withAttachments(prompt, join(root, cwd), folder, person)
    return files.length > 0 ? { ...words, files, pictures } : words
  }
  return { folder, root, typed }
}

const file = (path: string, body: string, lines = '') =>
  `<file path="${path}"${lines && ` lines="${lines}"`}>\n${body}\n</file>`

test('a file, a part of it and a folder are read from the working folder', async (t) => {
  const { typed } = project(t, { 'src/a.ts': 'one\ntwo\nthree\n', 'src/b c.ts': 'B', 'src/deep/x': '', 'top.md': 'T' })
  assert.deepEqual(await typed('Compare @a.ts and @"b c.ts", @a.ts:2-9 (and @../top.md).', 'src'), {
    prompt: [
      'Compare a.ts and b c.ts, a.ts:2-3 (and ../top.md).',
      file('a.ts', 'one\ntwo\nthree\n'),
      file('b c.ts', 'B'),
      file('a.ts', 'two\nthree', '2-3'),
      file('../top.md', 'T'),
    ].join('\n\n'),
    warnings: [],
  })
  assert.deepEqual(await typed('what is in @src and @src/deep/?'), {
    prompt: ['what is in src/ and src/deep/?', file('src/', 'a.ts\nb c.ts\ndeep/'), file('src/deep/', 'x')].join(
      '\n\n',
    ),
    warnings: [],
  })
})

test('a prompt that no person wrote attaches nothing', async (t) => {
  const { typed } = project(t, { 'a.ts': 'A' })
  const prompt = plainPrompt('print @a.ts and @/etc/hostname')
  assert.deepEqual(await typed(prompt), { prompt, warnings: [] })
})

test('an @ reference that does not resolve stays as it is; only a plain path brings a warning', async (t) => {
  const { typed } = project(t, { 'a.ts': 'A', 'v1.2': 'version' })
  const prompt = 'ask @alice at me@a.ts about @scope/package, @gone.ts and @gone/: `@a.ts`'
  golden(t, await typed(prompt))
  golden(t, await typed('@a.ts/'))
  assert.equal((await typed('since @v1.2.')).prompt, `since v1.2.\n\n${file('v1.2', 'version')}`)
})

test('a file whose name looks like a part of another one is meant itself', async (t) => {
  const { typed } = project(t, { 'a.ts:2': 'odd', 'a.ts': 'one\ntwo', 'b.ts': 'B1\nB2\nB3' })
  assert.equal((await typed('@a.ts:2')).prompt, `a.ts:2\n\n${file('a.ts:2', 'odd')}`)
  assert.equal((await typed('@b.ts#L2-L3')).prompt, `b.ts:2-3\n\n${file('b.ts', 'B2\nB3', '2-3')}`)
  assert.deepEqual(await typed('@b.ts:7'), { prompt: '@b.ts:7', warnings: ['@b.ts:7: the file has only 3 lines'] })
})

test('outside the project only paths are attached that the person names whole', async (t) => {
  const { folder, root, typed } = project(t, { 'a.ts': 'A' })
  writeFileSync(join(folder, 'letter'), 'S')
  symlinkSync(join(folder, 'letter'), join(root, 'link'))
  golden(t, await typed('@link and @../letter'), { [folder]: '<folder>' })
  assert.deepEqual(await typed(`@${folder}/letter and @~/letter`), {
    prompt: `${folder}/letter and ${folder}/letter\n\n${file(`${folder}/letter`, 'S')}`,
    warnings: [],
  })
})

const refOf = (bytes: Buffer) => ({
  sha: createHash('sha256').update(bytes).digest('hex'),
  media: 'image/png',
  bytes: bytes.length,
})

test('a picture goes beside the words, once, and is mentioned in its place; a warning names one that cannot be sent', async (t) => {
  const bytes = png(64, 48)
  const { typed } = project(t, {
    'shot.png': bytes,
    'huge.png': png(4, 4, 20 * 1024 * 1024),
    'cut.png': bytes.subarray(0, -9),
    'a [b].png': png(2, 3),
  })
  assert.deepEqual(await typed('what is on @shot.png, and again @shot.png?'), {
    prompt: 'what is on [picture 1: shot.png, 64×48], and again [picture 1: shot.png, 64×48]?',
    warnings: [],
    files: [refOf(bytes)],
    pictures: [{ media: 'image/png', bytes, width: 64, height: 48 }],
  })
  assert.equal(
    (await typed('@"a [b].png" before @shot.png')).prompt,
    '[picture 1: a (b).png, 2×3] before [picture 2: shot.png, 64×48]',
  )
  golden(t, await typed('@huge.png @cut.png'))
})

test('a picture that the text carries goes with it, numbered with those that it names', async (t) => {
  const [kept, own] = [png(1, 2), png(3, 4)]
  const { typed } = project(t, { 'own.png': own, 'x.ts': 'X' })
  const link = (number: number) => linkedPicture({ number, name: 'a @x.ts', width: 1, height: 2 }, refOf(kept))
  assert.deepEqual(await typed(`${link(7)} and @own.png, ${link(9)}`), {
    prompt: '[picture 1: a @x.ts, 1×2] and [picture 2: own.png, 3×4], [picture 1: a @x.ts, 1×2]',
    warnings: [],
    files: [refOf(kept), refOf(own)],
    pictures: [{ media: 'image/png', bytes: own, width: 3, height: 4 }],
  })
})

test('pasted paths become pictures where they name some; everything else stays as it was pasted', async (t) => {
  const { folder, root } = project(t, {
    'in/shot.png': png(5, 6),
    'text.png': 'no picture',
    'cut.png': png(1, 1).subarray(0, -1),
  })
  const outside = join(folder, 'my shot\x1b[31m.png')
  writeFileSync(outside, png(7, 8))
  writeFileSync(join(folder, 'id_rsa'), png(1, 1))
  execFileSync('mkfifo', [join(root, 'pipe.png')])
  execFileSync('truncate', ['-s', '500M', join(root, 'vast.png')])
  execFileSync('sh', [
    '-c',
    `printf '\\211PNG\\r\\n\\032\\n' | dd of='${join(root, 'vast.png')}' conv=notrunc 2>/dev/null`,
  ])
  const blobs = memoryStore().blobs('pictures')
  const paste = (...readings: string[][]) => pastedPaths(readings, { cwd: root, home: folder }, blobs)
  const shot = join(root, 'in/shot.png')
  const inside = linkedPicture({ number: 1, name: 'in/shot.png', width: 5, height: 6 }, refOf(png(5, 6)))
  assert.deepEqual(await paste([`${shot} x`], [shot]), { texts: [inside], problems: [] })
  assert.deepEqual(await readText(blobs, refOf(png(5, 6))), png(5, 6).toString(), 'it is kept at once')
  assert.deepEqual(await paste([shot, join(root, 'text.png')]), {
    texts: [inside, join(root, 'text.png')],
    problems: [],
  })
  assert.deepEqual(await paste([outside]), {
    texts: [linkedPicture({ number: 1, name: '~/my shot_(31m.png', width: 7, height: 8 }, refOf(png(7, 8)))],
    problems: [],
  })
  for (const path of ['text.png', 'pipe.png', 'gone.png', 'in', '.'])
    assert.equal(await paste([join(root, path)]), undefined)
  golden(t, await paste([join(root, 'cut.png')]), { [folder]: '<folder>' })
  golden(t, await paste([join(root, 'vast.png')]), { [folder]: '<folder>' })
  golden(t, await paste([join(folder, 'id_rsa')]), { [folder]: '<folder>' })
})

test('files that are binary, special or unreadable each have a warning', async (t) => {
  const { root, typed } = project(t, { 'a.bin': Buffer.from([80, 0, 75]), 'shut/a.ts': 'A' })
  execFileSync('mkfifo', [join(root, 'pipe')])
  const prompt = '@a.bin @pipe @/dev/zero @shut:3'
  golden(t, await typed(prompt))
})

test(
  'a folder that may not be looked into says so',
  { skip: process.getuid?.() === 0 && 'root may look into everything' },
  async (t) => {
    const { root, typed } = project(t, { 'shut/a.ts': 'A' })
    chmodSync(join(root, 'shut'), 0)
    const answer = await typed('@shut/a.ts')
    chmodSync(join(root, 'shut'), 0o700)
    assert.deepEqual(answer, { prompt: '@shut/a.ts', warnings: ['@shut/a.ts: you have no permission to read it'] })
  },
)

test('a long file is cut between characters, and so are all files together', async (t) => {
  const long = 'ä'.repeat(mostBytes.file)
  const { typed } = project(t, { 'long.md': `x${long}`, ...many(), 'short.md': 'S', 'lines.md': `1\n${long}\n3` })
  const cut = await typed('@long.md')
  assert.deepEqual(cut.warnings, ['@long.md: only its first 256 KB of 513 KB are attached'])
  assert.equal(cut.prompt, `long.md\n\n${file('long.md', `x${'ä'.repeat(mostBytes.file / 2 - 1)}`)}`)
  const lines = await typed('@lines.md:2-3')
  golden(t, lines.warnings)
  assert.equal(lines.prompt, `lines.md:2\n\n${file('lines.md', 'ä'.repeat(mostBytes.file / 2), '2-2')}`)
  const all = await typed('@0.md @1.md @2.md @3.md @short.md @0.md')
  golden(t, all.warnings)
  assert.match(all.prompt, /^0\.md 1\.md 2\.md 3\.md @short\.md 0\.md\n\n/)
})

const many = () =>
  Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`${i}.md`, String(i).repeat(mostBytes.file)]))

test('a long folder is cut', async (t) => {
  const name = (i: number) => `f${String(i).padStart(3, '0')}`
  const names = Array.from({ length: 503 }, (_, i) => name(i))
  const { typed } = project(t, Object.fromEntries(names.map((one) => [`many/${one}`, ''])))
  assert.deepEqual(await typed('@many/'), {
    prompt: `many/\n\n${file('many/', [...names.slice(0, 500), '… 3 more'].join('\n'))}`,
    warnings: ['@many/: only the first 500 of its names are attached'],
  })
})

test('a file that may hold keys is attached only after a yes, under any name that leads to it', async (t) => {
  const { root, folder, typed } = project(t, { '.env': 'TOKEN=1', '.env.example': 'TOKEN=', 'a.ts': 'A' })
  symlinkSync('.env', join(root, 'notes.txt'))
  mkdirSync(join(folder, '.ssh'))
  writeFileSync(join(folder, '.ssh', 'config'), 'Host x')
  const prompt = 'see @.env @notes.txt @~/.ssh/config @.env.example @a.ts'
  golden(t, await typed(prompt))
  const asked: string[] = []
  const ask: Ask = async ({ text }) => {
    asked.push(text)
    return [text.startsWith('.env') ? 'once' : 'no']
  }
  assert.deepEqual(await typed('@.env @.env', '.', ask), {
    prompt: `.env .env\n\n${file('.env', 'TOKEN=1')}`,
    warnings: [],
  })
  golden(t, await typed('@notes.txt', '.', ask))
  // A yes is for the file, whatever name leads to it.
  assert.deepEqual(await typed('@.env @notes.txt', '.', ask), {
    prompt: `.env notes.txt\n\n${file('.env', 'TOKEN=1')}\n\n${file('notes.txt', 'TOKEN=1')}`,
    warnings: [],
  })
  golden(t, asked)
})
