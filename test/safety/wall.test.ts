import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Walled } from '../../src/safety/wall/wall.ts'
import { wallOf, bubblewrap, seatbelt } from '../../src/safety/wall/wall.ts'

const walls = {
  root: '/p',
  writable: ['/w'],
  network: false,
  hidden: { folders: ['/h/.ssh'], files: ['/h/.netrc'] },
  programs: ['/tmp/bin'],
  kept: ['/p/.git/hooks', '/p/.termaite'],
}

/** As much as a wall can open. */
const open = { project: 'write', git: 'write', sockets: true } as const

test('bubblewrap: the project lies on top of a system that can only be read', () => {
  assert.deepEqual(bubblewrap(['sh', '-c', 'ls'], walls).join(' ').split(' --'), [
    'bwrap',
    'ro-bind / /',
    'dev /dev',
    'proc /proc',
    'tmpfs /tmp',
    'ro-bind-try /tmp/bin /tmp/bin',
    'tmpfs /h/.ssh',
    'ro-bind /dev/null /h/.netrc',
    'bind /p /p',
    'bind /w /w',
    'ro-bind-try /p/.git/hooks /p/.git/hooks',
    'ro-bind-try /p/.termaite /p/.termaite',
    'unshare-pid',
    'unshare-ipc',
    'unshare-uts',
    'unshare-net',
    'die-with-parent',
    ' sh -c ls',
  ])
  assert.ok(!bubblewrap(['ls'], { ...walls, network: true }).includes('--unshare-net'))
})

test('seatbelt: the last rule that fits counts, and quotes in names stay names', () => {
  const [program, flag, profile, ...command] = seatbelt(['ls'], { ...walls, root: '/h/.ssh/p"q' })
  assert.deepEqual([program, flag, command], ['/usr/bin/sandbox-exec', '-p', ['ls']])
  assert.deepEqual(profile!.split('\n'), [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (subpath "/h/.ssh/p\\"q") (subpath "/w") (subpath "/private/tmp") (subpath "/private/var/folders") (subpath "/dev"))',
    '(deny file-read* file-write* (subpath "/h/.ssh") (subpath "/h/.netrc"))',
    '(allow file-read* file-write* (subpath "/h/.ssh/p\\"q"))',
    '(deny file-write* (subpath "/p/.git/hooks") (subpath "/p/.termaite"))',
    '(deny network*)',
    '(allow network* (local unix-socket))',
  ])
})

test('where there is none, the reason is said', async () => {
  const fence = { root: '/', network: false, home: '/nowhere', ...open }
  assert.deepEqual(await wallOf({ platform: 'linux', env: { PATH: '/nowhere' } }).wrap(['ls'], fence), {
    none: 'bubblewrap (bwrap) is not installed',
  })
  assert.deepEqual(await wallOf({ platform: 'win32', env: {} }).wrap(['ls'], fence), {
    none: 'termaite has no sandbox for win32',
  })
})

test('a program that is there and does not work says why', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'termaite-bwrap-'))
  try {
    writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n', {
      mode: 0o755,
    })
    assert.deepEqual(
      await wallOf({ platform: 'linux', env: { PATH: bin } }).wrap(['ls'], {
        ...{ root: '/', network: false, home: '/nowhere' },
        ...open,
      }),
      {
        none: 'bubblewrap does not work here: bwrap: No permissions to create new namespace',
      },
    )
  } finally {
    rmSync(bin, { recursive: true })
  }
})

const { wrap } = wallOf({ platform: process.platform, env: process.env })
const trial = await wrap(['true'], { root: '/', network: false, home: '/nowhere', ...open })
const skip = 'none' in trial ? trial.none : false

test('the project can be written to, and nothing else', { skip }, async () => {
  // Beside the temporary folder, which is private in there.
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-sandbox-')))
  try {
    const [root, home] = [join(base, 'project'), join(base, 'home')]
    for (const folder of [join(root, 'src'), join(home, '.ssh')]) mkdirSync(folder, { recursive: true })
    execFileSync('git', ['init', '-q'], { cwd: root })
    writeFileSync(join(home, '.ssh', 'id_rsa'), 'secret')
    writeFileSync(join(home, '.netrc'), 'secret')
    const script = [
      'echo a > new.txt',
      `echo b > ${join(base, 'outside.txt')}`,
      'echo c > .git/hooks/pre-commit',
      'echo d > /tmp/private.txt && cat /tmp/private.txt',
      `cat ${join(home, '.ssh', 'id_rsa')} ${join(home, '.netrc')}`,
      'pwd',
    ].join('\n')
    const { argv } = (await wrap(['/bin/sh', '-c', script], { root, network: false, home, ...open })) as Walled
    const ran = spawnSync(argv[0], argv.slice(1), { cwd: join(root, 'src'), encoding: 'utf8' })
    assert.equal(ran.stdout, `d\n${join(root, 'src')}\n`)
    assert.equal(readFileSync(join(root, 'src', 'new.txt'), 'utf8'), 'a\n')
    assert.deepEqual(
      [
        existsSync(join(base, 'outside.txt')),
        existsSync(join(root, '.git', 'hooks', 'pre-commit')),
        existsSync('/tmp/private.txt'),
      ],
      [false, false, false],
    )
  } finally {
    rmSync(base, { recursive: true })
  }
})

test('a worktree among our own files can be worked in, and what lies beside it is hidden', { skip }, async () => {
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-sandbox-')))
  try {
    const [project, home] = [join(base, 'project'), join(base, 'home')]
    const root = join(home, '.termaite', 'worktrees', 'p', 'agent')
    mkdirSync(join(home, '.termaite'), { recursive: true })
    writeFileSync(join(home, '.termaite', 'hub.key'), 'secret')
    const who = ['-c', 'user.name=x', '-c', 'user.email=x@y']
    execFileSync('git', ['init', '-q', project])
    execFileSync('git', [...who, 'commit', '-q', '--allow-empty', '-m', 'first'], { cwd: project })
    execFileSync('git', ['worktree', 'add', '-q', root], { cwd: project })
    const link = readFileSync(join(root, '.git'), 'utf8')
    const script = 'echo a > new.txt; echo "gitdir: /elsewhere" > .git; cat ../../../hub.key; git status --porcelain'
    const { argv } = (await wrap(['/bin/sh', '-c', script], { root, network: false, home, ...open })) as Walled
    const ran = spawnSync(argv[0], argv.slice(1), { cwd: root, encoding: 'utf8' })
    assert.equal(ran.stdout, '?? new.txt\n')
    assert.deepEqual(
      [readFileSync(join(root, 'new.txt'), 'utf8'), readFileSync(join(root, '.git'), 'utf8')],
      ['a\n', link],
    )
  } finally {
    rmSync(base, { recursive: true })
  }
})

test('the network is there by rule alone', { skip }, async () => {
  const script = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"
  const { argv } = (await wrap(['/bin/sh', '-c', script], {
    root: tmpdir(),
    network: false,
    home: '/nowhere',
    ...open,
  })) as Walled
  assert.deepEqual(spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' }).stdout, 'lo\n')
})
