import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from '../../cases.ts'
import { changesBetween } from '../../../src/page/browser/diff/diff-between.ts'
import { DiffDocument } from '../../../src/page/browser/diff/diff-document.ts'
import { sized } from '../../full.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const folder = mkdtempSync(join(tmpdir(), 'diff-between-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function git(cwd: string, args: string[], input?: Uint8Array): Buffer {
  const options = { cwd, env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }, maxBuffer: 1e9 }
  return execFileSync('git', args, input === undefined ? options : { ...options, input })
}

/** The bytes of each file; a file that is missing does not exist. */
type Tree = Map<string, Buffer>

function write(cwd: string, tree: Tree): void {
  for (const name of readdirSync(cwd)) if (name !== '.git') rmSync(join(cwd, name), { recursive: true })
  for (const [name, bytes] of tree) writeFileSync(join(cwd, name), bytes)
}

let made = 0

/** The diffs that git makes of two results of one project. */
function diffsOf(base: Tree, first: Tree, second: Tree, options: string[] = []): [Buffer, Buffer] {
  const cwd = join(folder, String(made++))
  mkdirSync(cwd)
  git(cwd, ['init', '-q'])
  const diff = (tree: Tree) => {
    write(cwd, tree)
    git(cwd, ['add', '-A'])
    return git(cwd, ['diff', '--cached', ...options])
  }
  diff(base)
  git(cwd, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'base', '--allow-empty'])
  return [diff(first), diff(second)]
}

function documentOf(bytes: Uint8Array): DiffDocument {
  const read = new DiffDocument()
  read.push(bytes)
  read.end()
  return read
}

const between = (first: Uint8Array, second: Uint8Array) => [...changesBetween(documentOf(first), documentOf(second))]

/** The lines of a file; only the last one may end without a newline. */
const linesOf = (bytes: Buffer): string[] => bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []

/**
 * A tree after the changes of a diff. Every hunk is applied at the lines that it names and nowhere else:
 * git looks for a hunk without context by its bytes, and may take the line before a last one that has no newline
 * (`git apply --unidiff-zero` then makes another file even of git's own diff).
 */
function applied(tree: Tree, changes: Buffer): Tree {
  const result = new Map(tree)
  const lines = linesOf(changes)
  let at = 0
  const next = () => lines[at++] ?? assert.fail('the diff ends within a file')
  while (at < lines.length) {
    const path =
      /^diff --git a\/(\w+) b\/\1\n$/.exec(next())?.[1] ?? assert.fail(`no file begins with ${lines[at - 1]}`)
    const before = linesOf(result.get(path) ?? Buffer.of())
    let isGone = false
    while (at < lines.length && !/^(@@|diff --git) /.test(lines[at]!))
      isGone = next().startsWith('deleted file') || isGone
    const after: string[] = []
    let taken = 0
    while (lines[at]?.startsWith('@@ ')) {
      const [, oldStart = '', oldCount = '1', newStart = '', newCount = '1'] =
        /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(next()) ?? []
      const start = (from: string, count: string) => Number(from) - (count === '0' ? 0 : 1)
      after.push(...before.slice(taken, start(oldStart, oldCount)))
      taken = start(oldStart, oldCount)
      assert.equal(after.length, start(newStart, newCount), 'a hunk names its place in the result')
      const ends = [taken + Number(oldCount), after.length + Number(newCount)]
      while (taken < ends[0]! || after.length < ends[1]!) {
        const marked = next()
        const text = lines[at]?.startsWith('\\') && next() ? marked.slice(1, -1) : marked.slice(1)
        if (marked[0] !== '+') assert.equal(before[taken++], text, 'a hunk holds the lines that are there')
        if (marked[0] !== '-') after.push(text)
      }
      assert.deepEqual([taken, after.length], ends, 'a hunk holds as many lines as it says')
    }
    after.push(...before.slice(taken))
    if (isGone) result.delete(path)
    else result.set(path, Buffer.from(after.join(''), 'latin1'))
  }
  return new Map([...result].toSorted())
}

/** Git reads the changes, and finds a place for each of them in the first result. */
function assertGitReads(first: Tree, changes: Buffer): void {
  const cwd = join(folder, String(made++))
  mkdirSync(cwd)
  git(cwd, ['init', '-q'])
  write(cwd, first)
  // The lines around a change may be unknown at the edges of the diffs, so that a hunk may begin or end without context.
  if (changes.length > 0) git(cwd, ['apply', '--check', '--unidiff-zero', '--whitespace=nowarn', '-'], changes)
}

const line = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'c',
    '',
    '  x',
    '-- a',
    '++ b',
    '@@ -1 +1 @@',
    'diff --git a/x b/x',
    '\\ No newline at end of file',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.replaceAll(/[\n\0]/g, '?')),
)
const content = fc
  .tuple(fc.array(line, { maxLength: 24 }), fc.boolean())
  .map(([lines, ends]) => Buffer.from(lines.join('\n') + (ends && lines.length > 0 ? '\n' : '')))

/** A base, and two results that are made from it by edits, so that much of it stays. */
const edits = fc.array(fc.tuple(fc.nat(40), fc.constantFrom('put', 'cut', 'swap'), line), { maxLength: 6 })
const edited = (base: Buffer, changes: [number, string, string][]): Buffer => {
  const lines = base.toString('latin1').split('\n')
  for (const [at, how, text] of changes) {
    const place = at % (lines.length + 1)
    lines.splice(place, how === 'put' ? 0 : 1, ...(how === 'cut' ? [] : [Buffer.from(text).toString('latin1')]))
  }
  return Buffer.from(lines.join('\n'), 'latin1')
}
const versions = fc
  .tuple(content, edits, edits, fc.constantFrom('edit', 'edit', 'edit', 'new', 'gone', 'rare'), content, content)
  .map(([base, one, two, kind, other, third]): [Buffer | undefined, Buffer | undefined, Buffer | undefined] => {
    if (kind === 'new') return [undefined, other, edited(other, two)]
    if (kind === 'gone') return [base, undefined, edited(base, two)]
    if (kind === 'rare') return [base, other, third]
    return [base, edited(base, one), edited(base, two)]
  })

const treeOf = (files: readonly (Buffer | undefined)[]): Tree =>
  new Map(files.flatMap((bytes, at) => (bytes === undefined ? [] : [[`f${String(at).padStart(2, '0')}`, bytes]])))

test('applied to the first result, the changes between two tries make the second one, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(versions, { minLength: 10, maxLength: 40 }), fc.constantFrom(0, 1, 3, 5), (files, context) => {
      const [base, first, second] = [0, 1, 2].map((at) => treeOf(files.map((file) => file[at]))) as [Tree, Tree, Tree]
      const diffs = diffsOf(base, first, second, [`-U${context}`, '--no-renames'])
      for (const [at, tree] of [first, second].entries())
        assert.deepEqual(applied(base, diffs[at]!), new Map([...tree].toSorted()), "git's own diff makes the result")
      const changes = between(...diffs)
      assert.deepEqual(
        changes.flatMap(({ path, note = '' }) =>
          /different contents|damaged|more than once/.test(note) ? [[path, note]] : [],
        ),
        [],
      )
      const isEqual = (name: string) =>
        first.get(name)?.equals(second.get(name) ?? Buffer.from('?')) ?? !second.has(name)
      const names = [...new Set([...first.keys(), ...second.keys()])]
      assert.deepEqual(
        changes.map(({ path }) => path).toSorted(),
        names.filter((name) => !isEqual(name)).toSorted(),
        'only the files whose results differ are named',
      )
      const part = Buffer.concat(changes.map((change) => change.part))
      assertGitReads(first, part)
      assert.deepEqual(applied(first, part), new Map([...second].toSorted()))
    }),
    { numRuns: sized(6, 150) },
  )
})

const text = (...lines: string[]) => new TextEncoder().encode(lines.map((each) => `${each}\n`).join(''))
const parts = (first: Uint8Array, second: Uint8Array) =>
  between(first, second).map(({ path, part, note }) => [path, new TextDecoder().decode(part), note])

const header = ['diff --git a/s b/s', 'index 1111111..2222222 100644', '--- a/s', '+++ b/s']

test('two tries show only the lines that the second one changed', () => {
  const first = text(...header, '@@ -10,3 +10,3 @@ f', ' a', '-b', '+b1', ' c', '@@ -30 +30,2 @@', ' x', '+y')
  const second = text(...header, '@@ -10,3 +10,3 @@ f', ' a', '-b', '+b2', ' c', '@@ -30 +30,2 @@', ' x', '+y')
  const changed = ['diff --git a/s b/s', '--- a/s', '+++ b/s', '@@ -10,3 +10,3 @@', ' a', '-b1', '+b2', ' c', '']
  assert.deepEqual(parts(first, second), [['s', changed.join('\n'), undefined]])
  assert.deepEqual(parts(first, first), [])
})

test('a file with another base is shown whole, and says so', () => {
  const first = text(...header, '@@ -1 +1 @@', '-a', '+b')
  const second = text(...header.with(1, 'index 3333333..2222222 100644'), '@@ -1 +1 @@', '-z', '+c')
  const [[path, part, note]] = parts(first, second) as [[string, string, string]]
  assert.deepEqual([path, part], ['s', new TextDecoder().decode(second)])
  assert.match(note, /began with different contents/)
  // Without the names of git's objects, the lines themselves tell.
  const bare = (...lines: string[]) => text(...header.toSpliced(1, 1), ...lines)
  assert.match(
    String(parts(bare('@@ -1 +1 @@', '-a', '+b'), bare('@@ -1 +1 @@', '-z', '+c'))[0]?.[2]),
    /began with different contents/,
  )
})

test('a change that the later try took back is shown as such, and one that is new is whole', (t) => {
  const first = text(...header, '@@ -1 +1 @@', '-a', '+b')
  const other = text('diff --git a/t b/t', '--- a/t', '+++ b/t', '@@ -1 +1 @@', '-a', '+b')
  golden(t, parts(first, other))
})

test('renames, modes, binary files and torn diffs between tries', (t) => {
  const rename = (to: string) => ['diff --git a/x b/' + to, 'similarity index 90%', 'rename from x', 'rename to ' + to]
  assert.deepEqual(parts(text(...rename('y')), text(...rename('z'))), [
    ['z', 'diff --git a/y b/z\nrename from y\nrename to z\n', undefined],
  ])
  const mode = (to: string) => text('diff --git a/x b/x', 'old mode 100644', `new mode ${to}`)
  assert.deepEqual(parts(mode('100755'), mode('100644')), [
    ['x', 'diff --git a/x b/x\nold mode 100755\nnew mode 100644\n', undefined],
  ])
  const binary = (blob: string) =>
    text('diff --git a/p b/p', `index 1111111..${blob}`, 'Binary files a/p and b/p differ')
  assert.deepEqual(parts(binary('2222222'), binary('2222222')), [])
  golden(t, parts(binary('2222222'), binary('3333333'))[0]?.[2])
  const torn = text(...header, '@@ -1,9 +1,9 @@', '-a', '+b')
  assert.match(String(parts(torn, text(...header, '@@ -1 +1 @@', '-a', '+b'))[0]?.[2]), /damaged/)
})

test('comparing any two texts ends', () => {
  const piece = fc.constantFrom(
    ...[
      'diff --git a/x b/x\n',
      '--- a/x\n',
      '+++ b/x\n',
      '--- /dev/null\n',
      '@@ -1,2 +1,2 @@\n',
      '@@ -0,0 +1 @@\n',
      '@@@ -1 -1 +1 @@@\n',
    ],
    ...[
      ' a\n',
      '+b\n',
      '-c\n',
      '\\ No newline\n',
      '\n',
      'index 1111111..2222222\n',
      'rename from x\n',
      'copy to q\n',
      '@@ -9999999999 +1 @@\n',
      '\r\n',
      '\0',
    ],
  )
  const any = fc.array(piece, { maxLength: 30 }).map((pieces) => new TextEncoder().encode(pieces.join('')))
  fc.assert(
    fc.property(any, any, (a, b) => void between(a, b)),
    { numRuns: sized(500, 20_000) },
  )
})
