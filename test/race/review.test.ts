import type { TestContext } from 'node:test'
import type { EntryOf } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectGit } from '../../src/base/git/project-git.ts'
import { changedFiles, changesText } from '../../src/race/review/changed-files.ts'
import { checkedFindings, fixPrompt, pickedFindings } from '../../src/race/review/findings.ts'
import { branchNames, reviewScope } from '../../src/race/review/review-scope.ts'
import { Seat, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Runs git as the person does. */
function git(at: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: at, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...who, ...args], { cwd: at, env, stdio: 'pipe' })
    .toString()
    .trim()
}

function committed(at: string, files: Record<string, string>, message = 'one'): void {
  if (!existsSync(join(at, '.git'))) git(at, 'init', '-q')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(at, name, '..'), { recursive: true })
    writeFileSync(join(at, name), text)
  }
  git(at, 'add', '-A')
  git(at, 'commit', '-qm', message)
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

const project = async (context: TestContext) => (await seated(context, { agents: [] })).project

const changes = async (at: string, range = '') => {
  const run = projectGit({ PATH: process.env.PATH, HOME: at })
  const scope = await reviewScope(run, at, range)
  return { words: scope.words, files: await changedFiles(run, at, scope) }
}

const briefly = async (at: string, range?: string) =>
  (await changes(at, range)).files.map(({ path, how, added, removed, unread }) => [path, how, added, removed, unread])

test('staged, unstaged and new files are the uncommitted changes, with the number of each line', async (t) => {
  const at = await project(t)
  committed(at, { 'a.txt': numbers(12), 'b.txt': 'old\n' })
  writeFileSync(join(at, 'a.txt'), numbers(12).replace('line 6\n', 'six\nand more\n'))
  writeFileSync(join(at, 'b.txt'), 'staged\n')
  git(at, 'add', 'b.txt')
  writeFileSync(join(at, 'näu "x".txt'), 'one\r\ntwo\r\n')
  const { words, files } = await changes(at)
  assert.equal(words, 'the uncommitted changes')
  assert.equal(
    changesText(files, 10_000).text,
    [
      '=== a.txt (changed, +2 -1)',
      '@@ line 2',
      '    3  line 3',
      '    4  line 4',
      '    5  line 5',
      '      -line 6',
      '    6 +six',
      '    7 +and more',
      '    8  line 7',
      '    9  line 8',
      '   10  line 9',
      '',
      '=== b.txt (changed, +1 -1)',
      '@@',
      '      -old',
      '    1 +staged',
      '',
      '=== näu "x".txt (new, +2 -0)',
      '@@',
      '    1 +one',
      '    2 +two',
    ].join('\n'),
  )
})

test('files that cannot be shown are named with the reason: binary, submodule, secret, generated, link, large', async (t) => {
  const at = await project(t)
  const inner = join(at, '..', 'inner')
  mkdirSync(inner)
  committed(inner, { 'x.txt': 'x\n' })
  committed(at, { 'gone.txt': 'a\n', 'old-name.txt': numbers(20), 'pic.bin': 'a\0b', 'ünïcode.txt': 'a\n' })
  git(at, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub')
  git(at, 'commit', '-qm', 'sub')
  const before = git(join(at, 'sub'), 'rev-parse', 'HEAD')
  committed(join(at, 'sub'), { 'x.txt': 'y\n' }, 'two')
  const after = git(join(at, 'sub'), 'rev-parse', 'HEAD')
  rmSync(join(at, 'gone.txt'))
  git(at, 'mv', 'old-name.txt', 'new-name.txt')
  writeFileSync(join(at, 'pic.bin'), 'a\0c')
  writeFileSync(join(at, 'ünïcode.txt'), 'b\n')
  writeFileSync(join(at, '.env'), 'KEY=secret\n')
  writeFileSync(join(at, 'package-lock.json'), '{}\n')
  writeFileSync(join(at, 'big.txt'), numbers(4_000))
  symlinkSync('/etc/passwd', join(at, 'link'))
  assert.deepEqual(await briefly(at), [
    ['gone.txt', 'deleted', 0, 1, undefined],
    ['new-name.txt', 'renamed', 0, 0, undefined],
    ['pic.bin', 'changed', 0, 0, 'a binary file'],
    ['sub', 'changed', 1, 1, `a submodule, from ${before.slice(0, 12)} to ${after.slice(0, 12)}`],
    ['ünïcode.txt', 'changed', 1, 1, undefined],
    ['.env', 'new', 0, 0, 'its name says that it holds keys, so its lines are not shown'],
    ['big.txt', 'new', 4_000, 0, '4000 lines are too many to be shown'],
    ['link', 'new', 0, 0, 'a link, or a file that cannot be read'],
    ['package-lock.json', 'new', 0, 0, 'a generated file'],
  ])
  const { text } = changesText((await changes(at)).files, 10_000)
  assert.ok(!text.includes('secret'), 'the key is in no prompt')
  assert.ok(!text.includes('root:'), 'and no file outside of the project')
})

test('a range, a commit, a branch and the first commit are each compared with the right side', async (t) => {
  const at = await project(t)
  committed(at, { 'a.txt': 'a\n' }, 'first')
  git(at, 'checkout', '-qb', 'feature')
  committed(at, { 'feature.txt': 'f\n' }, 'feature')
  git(at, 'checkout', '-q', 'main')
  committed(at, { 'main.txt': 'm\n' }, 'main')
  const paths = async (range: string) => (await briefly(at, range)).map(([path]) => path)
  assert.deepEqual(await paths('main~1'), ['a.txt'], 'the first commit is compared with nothing')
  assert.deepEqual(await paths('main'), [], 'a branch against itself')
  assert.deepEqual(await paths('feature'), ['feature.txt'], 'on the main branch: the branch that would come in')
  assert.deepEqual(await paths('main..feature'), ['feature.txt', 'main.txt'], 'two dots compare the two ends')
  assert.deepEqual(await paths('main...feature'), ['feature.txt'], 'three dots compare with the merge base')
  git(at, 'checkout', '-q', 'feature')
  writeFileSync(join(at, 'new.txt'), 'n\n')
  assert.deepEqual(await paths('main'), ['feature.txt', 'new.txt'], 'on the branch: everything since main')
  assert.deepEqual(await paths('HEAD'), ['feature.txt'], 'a commit: its own changes')
  assert.equal((await changes(at, 'main')).words, 'the changes since main, uncommitted ones included')
  const run = projectGit({ PATH: process.env.PATH, HOME: at })
  assert.deepEqual((await branchNames(run, at)).sort(), ['feature', 'main'])
  await golden.rejects(t, changes(at, 'mian'))
  const out = join(at, '..', 'written')
  await assert.rejects(changes(at, `--output=${out}`), /is not a range/)
  assert.equal(existsSync(out), false)
})

test('a repository without a commit, and a folder without a repository', async (t) => {
  const at = await project(t)
  await assert.rejects(changes(at), /is not a git repository.*git init/)
  git(at, 'init', '-q')
  writeFileSync(join(at, 'a.txt'), 'a\n')
  git(at, 'add', '-A')
  assert.deepEqual(await briefly(at), [['a.txt', 'new', 1, 0, undefined]])
  await golden.rejects(t, changes(at, 'HEAD'))
})

test('programs of the repository do not run when it is compared', async (t) => {
  const at = await project(t)
  committed(at, { 'a.txt': 'a\n', '.gitattributes': '*.txt diff=evil filter=evil\n' })
  const run = `sh -c 'touch ${join(at, '..', 'ran')}; cat'`
  for (const key of ['diff.evil.textconv', 'diff.evil.command', 'filter.evil.clean', 'diff.external', 'core.fsmonitor'])
    git(at, 'config', key, run)
  writeFileSync(join(at, 'a.txt'), 'b\n')
  assert.deepEqual(await briefly(at), [['a.txt', 'changed', 1, 1, undefined]])
  assert.equal(existsSync(join(at, '..', 'ran')), false)
})

test('a large diff is bounded by the room, file by file and part by part, and says so', async (t) => {
  const at = await project(t)
  const long = Array.from({ length: 400 }, (_, at) => `a rather long line with the number ${at}\n`)
  committed(at, { 'a.txt': long.join(''), 'b.txt': 'b\n', 'c.txt': long.join('') })
  const every = long.map((line, at) => (at % 20 === 0 ? `changed ${line}` : line)).join('')
  for (const name of ['a.txt', 'c.txt']) writeFileSync(join(at, name), every)
  writeFileSync(join(at, 'b.txt'), 'bb\n')
  const { files } = await changes(at)
  const { text, unshown } = changesText(files, 4_000)
  assert.equal(unshown, 2)
  assert.ok(text.length < 5_000, String(text.length))
  golden(t, text)
  assert.match(text, /=== b\.txt \(changed, \+1 -1\)\n@@\n {6}-b\n {4}1 \+bb/)
  const found = checkedFindings(
    [{ file: 'c.txt', line: 381, severity: 'low', problem: 'p', why: '', fix: '' }],
    files,
    at,
  )
  assert.deepEqual(found.findings[0]?.unchanged, undefined, 'lines that were not shown are known too')
})

const finding = (file: string, line: number, severity: 'high' | 'medium' | 'low' = 'medium') => ({
  file,
  line,
  severity,
  problem: `${file} is wrong`,
  why: 'because',
  fix: 'mend it',
})

test('findings are checked: other files are dropped, unchanged lines marked, names and doubles settled', async (t) => {
  const at = await project(t)
  committed(at, { 'a.txt': numbers(40), 'sub/old.txt': numbers(9) })
  writeFileSync(join(at, 'a.txt'), numbers(40).replace('line 20\n', 'twenty\n'))
  renameSync(join(at, 'sub/old.txt'), join(at, 'sub/new.txt'))
  git(at, 'add', '-A')
  const { files } = await changes(at)
  const { findings, dropped } = checkedFindings(
    [
      finding('a.txt', 20, 'low'),
      { ...finding('a.txt', 20, 'low'), file: './a.txt' },
      finding(join(at, 'a.txt'), 1),
      finding('b/a.txt', 23, 'high'),
      finding('other.txt', 1),
      finding('../outside.txt', 1),
      finding('sub/old.txt', 3),
    ],
    files,
    at,
  )
  assert.equal(dropped, 2)
  assert.deepEqual(
    findings.map(({ file, line, severity, unchanged }) => [file, line, severity, unchanged]),
    [
      ['a.txt', 23, 'high', undefined],
      ['a.txt', 1, 'medium', true],
      ['sub/new.txt', 3, 'medium', true],
      ['a.txt', 20, 'low', undefined],
    ],
  )
})

test('numbers of findings are read as people type them', (t) => {
  const findings = [1, 2, 3, 4].map((line) => finding('a.txt', line))
  const review = { type: 'review', of: 'the changes', findings, dropped: 0, reviewer: 'amber' } as const
  const picked = (typed: string) => pickedFindings(typed, { ...review, findings })
  assert.deepEqual(['1, 3', '3 1', '2-4', 'all', '', '1-2,2'].map(picked), [
    [1, 3],
    [1, 3],
    [2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2],
  ])
  for (const typed of ['5', '0', 'first'] as const) golden.throws(t, () => picked(typed))
  golden(t, fixPrompt({ ...review, findings }, [2]))
})

const answer = JSON.stringify({ findings: [finding('a.txt', 1, 'high'), finding('elsewhere.txt', 1)] })

/** An agent that only reads by its settings; it keeps what it was asked outside of the project. */
const reader = (command: string, name = 'amber') => ({
  name,
  command: `cat > "$HOME/asked-${name}"; ${command}`,
  wall: false,
  leash: 'read',
  contextWindowTokens: 100_000,
})

const says = (text: string) => `printf '%s' '${text}'`

async function reviewing(context: TestContext, ...agents: object[]): Promise<Seat> {
  const seat = new Seat(context, { agents })
  committed(seat.project, { 'a.txt': 'a\n' })
  writeFileSync(join(seat.project, 'a.txt'), 'b\n')
  await seat.open()
  return seat
}

test('/review asks a reader, keeps the checked findings, and /review fix sends them as the next prompt', async (t) => {
  const seat = await reviewing(t, reader(says(answer)))
  await seat.type('/review -- the locking')
  const { entries } = await seat.app.conversation.read()
  assert.deepEqual(
    entries.map(({ type, by }) => [type, by]),
    [
      ['prompt', 'user'],
      ['usage', 'amber'],
      ['words', 'amber'],
      ['review', 'termaite'],
      ['reply', 'termaite'],
      ['end', 'termaite'],
    ],
  )
  const review = entries.find((entry): entry is EntryOf<'review'> => entry.type === 'review')!
  assert.deepEqual(
    [review.of, review.reviewer, review.dropped, review.findings],
    ['the uncommitted changes', 'amber', 1, [finding('a.txt', 1, 'high')]],
  )
  golden(
    t,
    entries.flatMap((entry) => (entry.type === 'prompt' || entry.type === 'reply' ? [entry.text] : [])),
  )
  const asked = readFileSync(join(seat.folder, 'asked-amber'), 'utf8')
  for (const words of [
    'Review the uncommitted changes of the project in this folder. You only read',
    'Look above all at this: the locking',
    '=== a.txt (changed, +1 -1)\n@@\n      -a\n    1 +b',
    '"enum":["high","medium","low"]',
  ])
    assert.ok(asked.includes(words), words)
  await seat.type('/review fix 1')
  golden(t, seat.turned)
})

test('an answer that has no findings is asked for again, and then the review fails', async (t) => {
  const seat = await reviewing(t, reader('echo It looks fine.'))
  await seat.type('/review')
  const { entries } = await seat.app.conversation.read()
  assert.equal(
    entries.some(({ type }) => type === 'review'),
    false,
  )
  golden(t, seat.said.at(-1)![1])
})

test('a review without changes spends nothing, and bad scopes are refused', async (t) => {
  const seat = await reviewing(t, reader(says(answer)), { ...reader('cat', 'birch'), leash: 'all' })
  git(seat.project, 'commit', '-qam', 'two')
  const typed = async (line: string) => (await seat.type(line)).at(-1)
  golden(t, await typed('/review'))
  assert.deepEqual((await seat.app.conversation.read()).entries, [])
  assert.equal(existsSync(join(seat.folder, 'asked-amber')), false)
  for (const line of [
    '/review -a',
    '/review -a ambr',
    '/review HEAD -a birch',
    '/review the locking',
    '/review fix',
  ] as const)
    golden(t, await typed(line))
})

test('the named agent reviews, and a reviewer that tries to change a file cannot', async (t) => {
  const seat = new Seat(t, {
    agents: [reader(says(answer)), { ...reader(`echo no > stolen; ${says('{"findings":[]}')}`, 'birch'), wall: true }],
  })
  committed(seat.project, { 'a.txt': 'a\n' })
  writeFileSync(join(seat.project, 'a.txt'), 'b\n')
  await seat.open()
  const { machineWall } = await import('../../src/native/agent-wall.ts')
  const none = await (await machineWall(seat.io.env, seat.project)).none()
  if (none !== undefined) return t.skip(`this machine has no sandbox: ${none}`)
  await seat.type('/review -a birch')
  const { entries } = await seat.app.conversation.read()
  golden(
    t,
    entries.flatMap((entry) => (entry.type === 'reply' ? [entry.text] : [])),
  )
  assert.equal(existsSync(join(seat.project, 'stolen')), false)
  assert.equal(git(seat.project, 'status', '--porcelain'), 'M a.txt')
})

test('completion offers the branches, the agents after -a, and fix', async (t) => {
  const seat = await reviewing(t, reader(says(answer)))
  git(seat.project, 'branch', 'feature/one')
  assert.deepEqual(await seat.complete('review', 'fe'), ['feature/one'])
  assert.deepEqual(await seat.complete('review', 'main -a a'), ['main -a amber'])
  assert.deepEqual(await seat.complete('review', 'fi'), ['fix all'])
})
