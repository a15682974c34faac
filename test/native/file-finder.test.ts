import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HandClock, settled } from '../hand-clock.ts'
import { openFinder } from '../../src/native/tools/file-finder.ts'

const never = new AbortController().signal

/** A folder of its own with these files, and a home without settings for git. */
function folder(context: TestContext, files: Record<string, string>) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-finder-')))
  context.after(() => rmSync(home, { recursive: true, force: true }))
  const cwd = join(home, 'project')
  const write = (name: string, body = '') => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), body)
  }
  for (const [name, body] of Object.entries(files)) write(name, body)
  const env = { PATH: process.env.PATH, HOME: home, GIT_DIR: '/nowhere' }
  const git = (...args: string[]) => execFileSync('git', args, { cwd, env: { PATH: process.env.PATH, HOME: home } })
  return {
    home,
    cwd,
    env,
    write,
    git,
    all: (below = '.') => found(openFinder(join(cwd, below), { env, clock: new HandClock() })),
  }
}

const found = async (finder: ReturnType<typeof openFinder>, typed = '', most = 100) => finder.find(typed, most, never)

/** A finder over a list that needs no disk. */
function listed(paths: string[] | (() => Promise<string[]>), clock = new HandClock()) {
  const list = typeof paths === 'function' ? paths : async () => paths
  return openFinder('/', { env: {}, clock, list })
}

test('in a git project: tracked and new files, without ignored and deleted ones', async (t) => {
  const { git, write, cwd, all } = folder(t, {
    '.gitignore': 'out/\n*.log\n',
    'src/a.ts': '',
    'src/gone.ts': '',
    'x.log': '',
  })
  git('init', '-q')
  git('add', '.')
  rmSync(join(cwd, 'src/gone.ts'))
  write('src/new é.ts')
  write('out/built.js')
  assert.deepEqual(await all(), ['.gitignore', 'src/', 'src/a.ts', 'src/new é.ts'])
  assert.deepEqual(await all('src'), ['a.ts', 'new é.ts'], 'from where one stands')
  assert.deepEqual(await all('out'), ['built.js'], 'in a folder that git does not know, what lies there')
})

test('without git: ignore files hold where they lie, the nearer one wins, and links are not followed', async (t) => {
  const { cwd, all } = folder(t, {
    '.gitignore': '*.log\n/top.txt\nbuild/\n',
    'top.txt': '',
    'a.log': '',
    'src/top.txt': '',
    'src/.gitignore': '!keep.log\nlocal\n',
    'src/keep.log': '',
    'src/other.log': '',
    'src/local': '',
    local: '',
    'build/x.js': '',
    'node_modules/p/index.js': '',
    '.git-not/x': '',
  })
  symlinkSync(cwd, join(cwd, 'src/loop'))
  assert.deepEqual(await all(), [
    '.git-not/',
    '.gitignore',
    'local',
    'src/',
    '.git-not/x',
    'src/.gitignore',
    'src/keep.log',
    'src/loop',
    'src/top.txt',
  ])
})

test('paths that begin with the word come first, the nearer before the deeper, then names, then similar paths', async () => {
  const finder = listed([
    'core/talk/attach.ts',
    'attic.md',
    'wire/attach.ts',
    'docs/at.md',
    'a-t-t.ts',
    'zzz.ts',
    'att/x.ts',
  ])
  assert.deepEqual(await found(finder, 'att'), [
    'att/',
    'attic.md',
    'att/x.ts',
    'wire/attach.ts',
    'core/talk/attach.ts',
    'a-t-t.ts',
  ])
  assert.deepEqual(await found(finder, 'ATT', 2), ['att/', 'attic.md'])
  assert.deepEqual(await found(finder, 'wiratt'), ['wire/attach.ts'])
  assert.deepEqual(await found(finder, './wire/'), ['wire/attach.ts'])
  assert.deepEqual(await found(finder, '', 3), ['a-t-t.ts', 'att/', 'attic.md'])
  assert.deepEqual(await found(finder, 'talk att'), ['core/talk/attach.ts'])
  assert.deepEqual(await found(finder, 'nothing'), [])
})

test('no file is listed before the first search; then one list serves, renewed in the background when it is old', async () => {
  const clock = new HandClock()
  const lists = [['a.ts'], ['b.ts'], ['c.ts']]
  let made = 0
  const finder = listed(async () => lists[made++]!, clock)
  assert.equal(made, 0)
  assert.deepEqual(await Promise.all([found(finder), found(finder)]), [['a.ts'], ['a.ts']])
  await clock.turn(2_999)
  assert.deepEqual([await found(finder), made], [['a.ts'], 1])
  await clock.turn(1)
  assert.deepEqual(await Promise.all([found(finder), found(finder)]), [['a.ts'], ['a.ts']], 'the old one until then')
  await settled()
  assert.deepEqual([await found(finder), made], [['b.ts'], 2])
})

test('a search that is called off gives nothing, also while the list is made; the list serves the next', async () => {
  let give: (paths: string[]) => void = () => {}
  const finder = listed(() => new Promise((resolve) => (give = resolve)))
  const abort = new AbortController()
  const first = finder.find('a', 10, abort.signal)
  await settled()
  abort.abort()
  assert.deepEqual(await first, [])
  const second = finder.find('a', 10, never)
  give(['a.ts'])
  assert.deepEqual(await second, ['a.ts'])
  assert.deepEqual(await finder.find('a', 10, abort.signal), [])
})

test('a list that cannot be made is empty; one that is given up while it is made stays unfinished', async () => {
  assert.deepEqual(await found(listed(() => Promise.reject(new Error('no')))), [])
  const end = new AbortController()
  const finder = openFinder('/', {
    env: {},
    clock: new HandClock(),
    signal: end.signal,
    list: async () => (end.abort(), ['a']),
  })
  assert.deepEqual(await found(finder), [])
})

test('60,000 files are searched in small steps: whatever else there is to do goes on between them', async () => {
  const paths = Array.from({ length: 60_000 }, (_, i) => `src/part${i % 300}/deep${i % 7}/file-${i}.ts`)
  const finder = listed(paths)
  const during = async (typed: string) => {
    let steps = 0
    let searching = true
    const step = () => searching && (steps++, setImmediate(step))
    setImmediate(step)
    const best = await found(finder, typed, 2)
    searching = false
    return { best, many: steps >= 60_000 / 256 }
  }
  assert.deepEqual(await during('file-59999'), { best: ['src/part299/deep2/file-59999.ts'], many: true })
  assert.deepEqual(await during('p7d0f7.ts'), {
    best: ['src/part7/deep0/file-7.ts', 'src/part7/deep0/file-2107.ts'],
    many: true,
  })
  const abort = new AbortController()
  const left = finder.find('file', 10, abort.signal)
  setImmediate(() => abort.abort())
  assert.deepEqual(await left, [])
})

test('a path from the root, from home or upwards is completed from its folder', async (t) => {
  const { home, cwd, env } = folder(t, { 'src/a.ts': '' })
  mkdirSync(join(home, 'other'))
  writeFileSync(join(home, 'Open.md'), '')
  writeFileSync(join(home, '.hidden'), '')
  const finder = openFinder(join(cwd, 'src'), { env, clock: new HandClock() })
  assert.deepEqual(
    [
      await found(finder, '../'),
      await found(finder, '../../o'),
      await found(finder, '~/'),
      await found(finder, '~/.h'),
      await found(finder, `${home}/proj`),
      await found(finder, '/no/such/folder/'),
      await found(openFinder(cwd, { env: {}, clock: new HandClock() }), '~/'),
    ],
    [
      ['../src/'],
      ['../../Open.md', '../../other/'],
      ['~/Open.md', '~/other/', '~/project/'],
      ['~/.hidden'],
      [`${home}/project/`],
      [],
      [],
    ],
  )
})
