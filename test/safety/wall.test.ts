import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  readdirSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mount } from '../../src/safety/wall/mounts.ts'
import type { WallPlan } from '../../src/safety/wall/limits.ts'
import type { Walled } from '../../src/safety/wall/wall.ts'
import { remedyFor } from '../../src/safety/wall/availability.ts'
import { bubblewrap } from '../../src/safety/wall/bubblewrap.ts'
import { layerMounts } from '../../src/safety/wall/mounts.ts'
import { seatbelt } from '../../src/safety/wall/seatbelt.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { planOf } from '../../src/safety/wall/wall-plan.ts'
import { noSandbox as skip } from './no-sandbox.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const plan: WallPlan = {
  ...{ roots: ['/p'], network: false, sockets: false, terminal: false, nested: false, asRoot: false },
  settings: ['.mcp.json'],
  covered: [],
  mounts: [
    { path: '/tmp', as: 'write', from: '/s/tmp' },
    { path: '/p', as: 'write' },
    { path: '/h/.ssh', as: 'empty' },
    { path: '/h/.netrc', as: 'blank' },
    { path: '/p/.termaite', as: 'read' },
  ],
}

/** As much as a wall can open. */
const open = { project: 'write', git: 'write', sockets: true } as const

/** The flags of a command line, one each, without the shell that starts bubblewrap. */
const flags = (given: Partial<WallPlan>) =>
  bubblewrap(['sh', '-c', 'ls'], { ...plan, ...given }, { bwrap: '/usr/bin/bwrap', filter: '/f' })
    .slice(3)
    .join(' ')
    .split(' --')

test('bubblewrap: the root holds nothing but the mounts, and nothing beside them can be written or is shared', () => {
  assert.deepEqual(flags({}), [
    '/f /usr/bin/bwrap',
    'dev /dev',
    'proc /proc',
    'bind-try /s/tmp /tmp',
    'bind-try /p /p',
    'tmpfs /h/.ssh',
    'ro-bind /dev/null /h/.netrc',
    'ro-bind-try /p/.termaite /p/.termaite',
    'remount-ro /h/.ssh',
    'remount-ro /',
    'unshare-user',
    'cap-drop ALL',
    'unshare-pid',
    'unshare-ipc',
    'unshare-uts',
    'unshare-net',
    'new-session',
    'die-with-parent',
    'seccomp 9',
    ' sh -c ls',
  ])
  const without = (given: Partial<WallPlan>) => flags({}).filter((flag) => !flags(given).includes(flag))
  assert.deepEqual([without({ network: true }), without({ terminal: true })], [['unshare-net'], ['new-session']])
})

const noProc = process.platform === 'linux' ? false : 'only Linux has /proc'

test('bubblewrap: root becomes another user, who cannot change the kernel', { skip: noProc }, () => {
  const added = flags({ asRoot: true }).filter((flag) => !flags({}).includes(flag))
  const folders = readdirSync('/proc', { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !/^\d+$/.test(entry.name),
  )
  assert.deepEqual(
    folders.filter(({ name }) => !added.includes(`ro-bind-try /proc/${name} /proc/${name}`)),
    [],
  )
  assert.ok(added.includes('ro-bind-try /proc/sys /proc/sys'))
  assert.deepEqual(added.slice(-2), ['uid 1000', 'gid 1000'])
})

test('bubblewrap: a closed network that a turn shares is entered, an open one is not', () => {
  const network = { nsenter: '/usr/bin/nsenter', user: '/u', net: '/n' }
  const scratch = { folder: '/s', network, close: async () => {} }
  const closed = flags({ scratch })
  assert.deepEqual(closed.slice(0, 4), [
    '/f /usr/bin/nsenter',
    'user=/u',
    'preserve-credentials',
    'net=/n /usr/bin/bwrap',
  ])
  assert.ok(!closed.includes('unshare-net'))
  assert.equal(flags({ scratch, network: true })[0], '/f /usr/bin/bwrap')
})

test('mounts: the innermost place decides, and nothing is hidden where nothing is shown', () => {
  const mounts: Mount[] = [
    { path: '/home/x/.termaite', as: 'empty' },
    { path: '/home/x/.ssh', as: 'empty' },
    { path: '/tmp', as: 'temporary' },
    { path: '/tmp/home/.ssh', as: 'empty' },
    { path: '/home/x/.termaite/worktrees/p', as: 'write' },
    { path: '/home/x', as: 'write' },
    { path: '/home/x/.ssh', as: 'read' },
    { path: '/home/y/.netrc', as: 'blank' },
    { path: '/home/x/l', as: 'link', from: 'k' },
    { path: '/l', as: 'link', from: 'home' },
  ]
  const words = (bare: boolean) => layerMounts(mounts, { bare }).map(({ path, as }) => `${as} ${path}`)
  const bare = [
    'link /l',
    'temporary /tmp',
    'write /home/x',
    'read /home/x/.ssh',
    'empty /home/x/.termaite',
    'write /home/x/.termaite/worktrees/p',
  ]
  assert.deepEqual(words(true), bare)
  // On macOS the system is seen around the mounts.
  assert.deepEqual(
    words(false).filter((one) => !bare.includes(one)),
    ['blank /home/y/.netrc'],
  )
})

/** The rules of a profile from the first one about a mount on. */
const profileOf = (given: Partial<WallPlan>) => {
  const [program, flag, profile, ...command] = seatbelt(['ls'], { ...plan, ...given })
  assert.deepEqual([program, flag, command], ['/usr/bin/sandbox-exec', '-p', ['ls']])
  const lines = profile!.split('\n')
  assert.deepEqual(lines.slice(0, 2), ['(version 1)', '(deny default)'])
  return lines.slice(lines.findIndex((line) => line.includes('/private/tmp')) + 1)
}

test('seatbelt: the last rule that fits counts, and quotes in names stay names', () => {
  const mounts: Mount[] = [...plan.mounts, { path: '/h/.ssh/p"q', as: 'write' }]
  assert.deepEqual(profileOf({ roots: ['/h/.ssh/p"q'], mounts }), [
    '(allow file-write* (subpath "/s/tmp"))',
    '(allow file-read* (subpath "/p"))',
    '(allow file-write* (subpath "/p"))',
    '(deny file-read* file-write* (subpath "/h/.ssh"))',
    '(allow file-read-metadata (literal "/h/.ssh"))',
    '(deny file-read* file-write* (subpath "/h/.netrc"))',
    '(allow file-read* (subpath "/p/.termaite"))',
    '(deny file-write* (subpath "/p/.termaite"))',
    '(allow file-read* (subpath "/h/.ssh/p\\"q"))',
    '(allow file-write* (subpath "/h/.ssh/p\\"q"))',
    '(deny file-write* (regex "^/h/\\\\.ssh/p\\"q/(.*/)?\\\\.[mM][cC][pP]\\\\.[jJ][sS][oO][nN](/.*)?$"))',
    '(allow network-bind (local ip "*:*"))',
    '(allow network-inbound (local ip "*:*"))',
    '(allow network-outbound (remote ip "localhost:*"))',
    '(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))',
  ])
})

test('seatbelt: a home is denied but for toolchains without their logins, the folders of the PATH and what is shown', async (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-mac-')))
  t.after(() => rmSync(base, { recursive: true }))
  const [root, home] = [join(base, 'home/src/project'), join(base, 'home')]
  const own = join(home, '.termaite/projects/p/home')
  const folders = [
    '.ssh',
    '.cargo/bin',
    '.pyenv/versions/3',
    '.nvm/versions/node/v1/etc',
    '.local/bin',
    'notes',
    'Library/Android/sdk',
  ]
  for (const folder of [root, own, ...folders.map((name) => join(home, name))]) mkdirSync(folder, { recursive: true })
  for (const name of ['.nvm/versions/node/v1/etc/npmrc', '.cargo/credentials.toml'])
    writeFileSync(join(home, name), 'secret')
  const env = { PATH: `${join(home, '.local/bin')}:/usr/bin` }
  const limits = { root, home, network: false, ...open, writable: [own], readable: [join(home, 'notes')] }
  const { plan: planned } = await planOf(limits, { platform: 'darwin', env })
  const [, , profile] = seatbelt(['ls'], planned)
  const lines = profile!.split('\n').filter((line) => line.includes(base) || line.includes('/Users'))
  golden(t, lines.filter((line) => !line.includes('regex') && !line.includes('unix-socket')).join('\n'), {
    [base]: '<base>',
  })
})

test('seatbelt: unix sockets work in folders that may be written', () => {
  assert.deepEqual(profileOf({ sockets: true }).slice(-5), [
    '(allow system-socket (socket-domain AF_UNIX))',
    '(allow network-bind (local unix-socket (subpath "/s/tmp")))',
    '(allow network-outbound (remote unix-socket (subpath "/s/tmp")))',
    '(allow network-bind (local unix-socket (subpath "/p")))',
    '(allow network-outbound (remote unix-socket (subpath "/p")))',
  ])
})

test('without a sandbox, the wall says why', async (t) => {
  const fence = { root: '/', network: false, home: '/nowhere', ...open }
  golden(t, await wallOf({ platform: 'linux', env: { PATH: '/nowhere' } }).wrap(['ls'], fence))
  golden(t, await wallOf({ platform: 'win32', env: {} }).wrap(['ls'], fence))
})

test('a program that is there and does not work says why', async (t) => {
  const bin = mkdtempSync(join(tmpdir(), 'termaite-bwrap-'))
  t.after(() => rmSync(bin, { recursive: true }))
  writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho "bwrap: it rains" >&2\nexit 1\n', { mode: 0o755 })
  const limits = { root: '/', network: false, home: '/nowhere', ...open }
  golden(t, await wallOf({ platform: 'linux', env: { PATH: bin } }).wrap(['ls'], limits))
})

test('settings that forbid namespaces are named with their remedy', async (t) => {
  const system = (settings: Record<string, string>, files: string[] = []) => ({
    setting: async (name: string) => settings[name],
    exists: async (path: string) => files.includes(path),
  })
  const apparmor = 'kernel/apparmor_restrict_unprivileged_userns'
  const refused = 'bwrap: No permissions to create new namespace'
  const firstWords = async (failure: string, one: ReturnType<typeof system>) =>
    (await remedyFor(failure, one)).map((words) => words.split(':')[0])
  golden(t, [
    await firstWords('bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', system({ [apparmor]: '1' })),
    await firstWords(refused, system({ 'kernel/unprivileged_userns_clone': '0' })),
    await firstWords(refused, system({ 'user/max_user_namespaces': '0' })),
    await firstWords(refused, system({ [apparmor]: '1' }, ['/.dockerenv'])),
    await firstWords(refused, system({})),
    await firstWords('bwrap: Unknown option --seccomp', system({ [apparmor]: '1' })),
  ])
})

const { wrap } = wallOf({ platform: process.platform, env: process.env })

test('the project can be written to, and nothing else', { skip }, async () => {
  // Beside the temporary folder, which is private in there.
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-sandbox-')))
  try {
    const [root, home] = [join(base, 'project'), join(base, 'home')]
    for (const folder of [join(root, 'src'), join(home, '.ssh')]) mkdirSync(folder, { recursive: true })
    execFileSync('git', ['init', '-q'], { cwd: root })
    writeFileSync(join(home, '.ssh', 'id_rsa'), 'secret')
    writeFileSync(join(home, '.netrc'), 'secret')
    mkdirSync(join(home, '.cargo'))
    for (const name of ['.cargo/credentials.toml', '.bash_history']) writeFileSync(join(home, name), 'secret')
    const script = [
      'echo a > new.txt',
      `echo b > ${join(base, 'outside.txt')}`,
      'echo c > .git/hooks/pre-commit',
      'echo d > /tmp/private.txt && cat /tmp/private.txt',
      `cat ${['.ssh/id_rsa', '.netrc', '.cargo/credentials.toml', '.bash_history'].map((name) => join(home, name)).join(' ')}`,
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

test('a worktree among our own files can be worked in, and everything beside it is hidden', { skip }, async () => {
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

test('a command finds its own control group, by which Java tells how large the machine is', { skip }, async (t) => {
  const [root, home] = [mkdtempSync(join(tmpdir(), 'termaite-root-')), mkdtempSync(join(tmpdir(), 'termaite-home-'))]
  t.after(() => [root, home].forEach((folder) => rmSync(folder, { recursive: true })))
  const script = "cat /proc/self/cgroup; grep -c ' /[.][.]' /proc/self/mountinfo"
  const { argv } = (await wrap(['/bin/sh', '-c', script], { root, network: false, home, ...open })) as Walled
  const { stdout, stderr } = spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' })
  assert.deepEqual([stdout, stderr], [`${readFileSync('/proc/self/cgroup', 'utf8')}0\n`, ''])
})

test('behind the wall the network is reached only by a rule', { skip }, async (t) => {
  const [root, home] = [mkdtempSync(join(tmpdir(), 'termaite-root-')), mkdtempSync(join(tmpdir(), 'termaite-home-'))]
  t.after(() => [root, home].forEach((folder) => rmSync(folder, { recursive: true })))
  const script = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"
  const { argv } = (await wrap(['/bin/sh', '-c', script], { root, network: false, home, ...open })) as Walled
  const { stdout, stderr } = spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' })
  assert.deepEqual([stdout, stderr], ['lo\n', ''])
})
