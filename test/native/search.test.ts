import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RipgrepParts } from '../../src/native/tools/file-search.ts'
import type { ToolParts } from '../../src/native/tools/shared/tool-parts.ts'
import { globFilter } from '../../src/native/tools/file-search.ts'
import { folder, seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Both ways of searching give the same where no file is ignored. */
const ways: [string, Partial<ToolParts & RipgrepParts>][] = [
  ['with ripgrep', {}],
  ['without ripgrep', { ripgrep: async () => undefined }],
]

for (const [way, parts] of ways) {
  test(`${way}: text is found in files, in the order of their paths`, async (t) => {
    const { write, say, at } = seat(t, parts)
    write('src/b.ts', 'let x = 1\nfoo(x)\n')
    write('src/a.ts', 'foo(1)\n')
    write('.github/ci.yml', 'run: foo(2)\n')
    write('notes.md', 'Foo\n')
    write('node_modules/.git/x', 'foo(3)')
    write('.git/config', 'foo(4)')
    const grep = (input: object) => say('grep_search', input)
    assert.equal(await grep({ pattern: 'foo\\(', path: 'src' }), 'src/a.ts\n1:foo(1)\n\nsrc/b.ts\n2:foo(x)')
    assert.equal(await grep({ pattern: 'foo\\(', glob: '*.yml' }), '.github/ci.yml\n1:run: foo(2)')
    assert.equal(await grep({ pattern: '(?i)^foo$' }), 'notes.md\n1:Foo')
    assert.equal(await grep({ pattern: 'foo', path: 'src/b.ts' }), '2:foo(x)')
    assert.equal(await grep({ pattern: 'foo', path: at('src/b.ts') }), '2:foo(x)')
    golden(t, await grep({ pattern: 'bar', path: 'src', glob: '*.ts' }))
    assert.match(await grep({ pattern: 'foo(' }), /^! /)
    assert.equal(await grep({ pattern: 'x', path: 'scr' }), `! scr does not exist. Did you mean ${at('src')}?`)
  })

  test(`${way}: files are found by name, the newest first`, async (t) => {
    const { write, say, at } = seat(t, parts)
    for (const [age, path] of ['a.md', 'docs/b.md', 'docs/deep/c.md', 'app/[id]/page.tsx', 'x.ts'].entries()) {
      write(path, '')
      utimesSync(at(path), 1000 - age, 1000 - age)
    }
    const glob = (input: object) => say('glob', input)
    assert.equal(await glob({ pattern: '*.md' }), 'a.md\ndocs/b.md\ndocs/deep/c.md')
    assert.equal(await glob({ pattern: 'docs/*.md' }), 'docs/b.md')
    assert.equal(await glob({ pattern: '**/*.{ts,tsx}' }), 'app/[id]/page.tsx\nx.ts')
    assert.equal(await glob({ pattern: 'app/[id]/*' }), 'app/[id]/page.tsx')
    assert.equal(await glob({ pattern: 'deep/*', path: 'docs' }), 'docs/deep/c.md')
    assert.equal(await glob({ pattern: at('docs/**') }), 'docs/b.md\ndocs/deep/c.md')
    golden(t, await glob({ pattern: '*', path: 'a.md' }))
    golden(t, await glob({ pattern: '*.rs' }))
  })

  test(`${way}: files with keys are left out of a folder's matches, and found when they are named`, async (t) => {
    const { write, say } = seat(t, { ...parts, isSecret: (path) => path.endsWith('/.env') })
    write('.env', 'TOKEN=abc')
    write('a.ts', 'env.TOKEN')
    golden(t, await say('grep_search', { pattern: 'TOKEN' }))
    for (const pattern of ['abc', 'abcd']) golden(t, await say('grep_search', { pattern }))
    assert.equal(await say('grep_search', { pattern: 'abc', path: '.env' }), '1:TOKEN=abc')
    write('b\nc/.env', 'TOKEN=abc')
    write('[d]/.env', 'TOKEN=abc')
    const around = await say('grep_search', { pattern: 'TOKEN' })
    assert.equal(around.includes('abc'), false, 'no folder name hides what a file is called')
  })

  test(`${way}: a search that is cancelled says so`, async (t) => {
    const { write, say } = seat(t, parts)
    write('a', 'x')
    assert.equal(await say('grep_search', { pattern: 'x' }, { signal: AbortSignal.abort() }), '! cancelled.')
  })
}

test('ignored files are left out, and settings of the person do not count', async (t) => {
  const rc = join(folder(t), 'rc')
  writeFileSync(rc, '--files-with-matches\n')
  const { write, say } = seat(t, { env: { PATH: process.env.PATH, RIPGREP_CONFIG_PATH: rc } })
  write('.gitignore', 'dist/\n*.log\n')
  write('dist/a.js', 'needle')
  write('a.log', 'needle')
  write('a.js', 'needle')
  assert.equal(await say('grep_search', { pattern: 'needle' }), 'a.js\n1:needle')
  assert.equal(await say('glob', { pattern: '*.{js,log}' }), 'a.js')
})

test('a pattern may go over lines; a broken pattern, and a broken glob, are refused with words', async (t) => {
  const { write, say } = seat(t)
  write('a.ts', 'one\ntwo\nthree\n')
  assert.equal(await say('grep_search', { pattern: 'one\\ntwo' }), 'a.ts\n1:one\n2:two')
  golden(t, await say('grep_search', { pattern: 'foo(' }))
  assert.match(
    await say('grep_search', { pattern: 'x', glob: '{a' }),
    /^! ripgrep could not search: .*unclosed alternate/,
  )
})

test('many matches and long lines are cut, with what to do', async (t) => {
  const { write, say } = seat(t)
  write('many', 'hit\n'.repeat(1000))
  const lines = (await say('grep_search', { pattern: 'hit' })).split('\n')
  golden(t, [lines.length, lines.at(-1)])
  write('long', `hit${'x'.repeat(10_000)}`)
  assert.ok((await say('grep_search', { pattern: 'hit', path: 'long' })).length < 400)
  for (let i = 0; i < 120; i++) write(`f/${i}.txt`, '')
  const names = (await say('glob', { pattern: 'f/*' })).split('\n')
  golden(t, [names.length, names.at(-1)])
})

test('a glob never matches another name than it says', () => {
  const name = fc
    .array(fc.constantFrom('a', 'b', '.', '[', '(', '+'), { minLength: 1, maxLength: 5 })
    .map((p) => p.join(''))
  fc.assert(
    fc.property(name, name, (one, other) => {
      assert.equal(globFilter(one)(other), one === other)
      assert.ok(globFilter(`**/${one}`)(`x/y/${one}`))
      assert.equal(globFilter(`*/${one}`)(`x/y/${one}`), false)
    }),
  )
})

test('a folder is listed: folders first, links with where they lead, large files with their size', async (t) => {
  const { write, say, at, place } = seat(t)
  assert.equal(await say('ls', {}), '[the folder is empty]')
  write('b.txt', '')
  write('.hidden', '')
  write('src/x', '')
  write('big', Buffer.alloc(300 * 1024))
  mkdirSync(join(place, 'else'))
  symlinkSync('b.txt', at('inner'))
  symlinkSync('../else', at('outer'))
  symlinkSync('nowhere', at('dead'))
  golden(t, await say('ls', {}))
  golden(t, await say('ls', { path: 'b.txt' }))
})

test('a folder that leads elsewhere since it was judged is neither searched nor listed', async (t) => {
  const { say, write, at, place } = seat(t)
  write('src/a.txt', 'inside\n')
  mkdirSync(join(place, 'outside'))
  writeFileSync(join(place, 'outside', 'a.txt'), 'secret\n')
  const places = [{ path: at('src'), real: at('src') }]
  const calls = [
    ['grep_search', { pattern: '.', path: 'src' }],
    ['glob', { pattern: '*', path: 'src' }],
    ['ls', { path: 'src' }],
  ] as const
  for (const [tool, input] of calls) assert.doesNotMatch(await say(tool, input, { places }), /^! /)
  renameSync(at('src'), at('moved'))
  symlinkSync(join(place, 'outside'), at('src'))
  for (const [tool, input] of calls) golden(t, await say(tool, input, { places }), { [place]: '<place>' })
})
