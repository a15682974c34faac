import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Walled } from '../../src/safety/wall/wall.ts'
import type { WallUser } from './behind-wall.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'
import { noSandbox } from './no-sandbox.ts'
import { sized } from '../full.ts'
import { until } from '../until.ts'

/** The things that a script finds outside: the folders, a process, and servers that the test has opened there. */
type Outside = { base: string; root: string; home: string; pid: number; port: number; abstract: string }

/** Levels of a leash that have a wall. */
const levels = {
  read: { project: 'read', git: 'read', sockets: false },
  edit: { project: 'write', git: 'write', sockets: true },
} as const
type Level = keyof typeof levels

/** A way out of the wall. The script prints OUT if it worked. */
type WayOut = {
  name: string
  script(outside: Outside): string
  /** Levels at which it must not work; all if there are none. */
  at?: readonly Level[]
  /** Whether the script works without a wall, harmlessly: that shows that it would find a hole. */
  control?: boolean
}

const out = (condition: string) => `if ${condition}; then echo OUT; fi`
const connects = (options: string) =>
  `node -e "require('node:net').connect(${options}).on('connect', () => { console.log('OUT'); process.exit() }).on('error', () => {})"`
/** A system call by its number; it works if it returns no error. */
const calls = (...args: (number | string)[]) => `perl -e 'print "OUT\\n" if syscall(${args.join(', ')}) >= 0'`
const secret = 'made-up-secret'
const reads = (path: string) => out(`grep -qs ${secret} ${path}`)
const inNamespace = (script: string) => `unshare -Urm sh -c '${script}'`

/** Settings of namespaces that belong to the command alone, and the measures of load, at which anybody may be woken. */
const ofNamespace = '^/proc/(sys/(fs/mqueue/|kernel/(auto_msgmni|msg|sem|shm|ns_last_pid|pid_max))|pressure/)'

const ways: readonly WayOut[] = [
  { name: 'writing beside the project', control: true, script: ({ base }) => out(`echo x > ${base}/beside`) },
  { name: 'writing the home', control: true, script: ({ home }) => out(`echo x > ${home}/written`) },
  { name: 'writing the project', at: ['read'], control: true, script: () => out('echo x > written') },
  { name: 'writing the git folder', at: ['read'], control: true, script: () => out('echo x > .git/written') },
  { name: 'a hook of git', control: true, script: () => out('echo x > .git/hooks/pre-commit') },
  { name: 'the settings of git', control: true, script: () => out('echo >> .git/config') },
  {
    name: 'a link out of the project',
    control: true,
    script: ({ base }) => out(`ln -s ${base}/target l && echo x >> l`),
  },
  { name: 'a hard link', control: true, script: ({ base }) => out(`ln ${base}/target h && echo x >> h`) },
  { name: 'the root of the first process', script: ({ base }) => out(`echo x > /proc/1/root${base}/beside`) },
  {
    name: 'the folder above the working folder',
    script: ({ base }) =>
      out(`cd /proc/self/cwd/.. && echo x > ./beside || cd ${base} && echo x > /proc/self/cwd/beside`),
  },
  {
    name: 'mounting the system writable',
    script: ({ base }) => out(`mount -o remount,rw / && echo x > ${base}/beside`),
  },
  {
    name: 'mounting in a user namespace',
    script: ({ base }) => inNamespace(out(`mount -o remount,rw,bind / && echo x > ${base}/beside`)),
  },
  {
    name: 'uncovering in a user namespace',
    script: ({ home }) => inNamespace(`umount ${home}/.ssh; umount -l /run; ${reads(`${home}/.ssh/id_rsa`)}`),
  },
  {
    name: 'mounting the system elsewhere',
    script: ({ home }) => inNamespace(`mount --bind / /mnt && ${reads(`/mnt${home}/.ssh/id_rsa`)}`),
  },
  {
    name: 'a /proc of its own',
    script: () =>
      `unshare -Urmpf sh -c 'mount -t proc proc /proc && ${out('cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern')}'`,
  },
  {
    name: 'control groups',
    script: () => `unshare -UrmC sh -c 'mount -t cgroup2 none /mnt && ${out('echo max > /mnt/cgroup.max.depth')}'`,
  },
  {
    name: 'a setting of the kernel',
    script: () => out('cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern'),
  },
  {
    name: 'anything writable in /proc and /sys',
    script: () =>
      `find /proc /sys -type f -writable -not -path '/proc/[0-9]*' -not -path '/proc/*self/*' 2>/dev/null | grep -vE '${ofNamespace}' | sed 's/^/OUT /'`,
  },
  { name: 'a device node', script: () => out('mknod /tmp/disk b 254 0') },
  { name: 'a disk in /dev', script: () => `find /dev -type b | sed 's/^/OUT /'` },
  {
    name: 'capabilities',
    script: () => `grep -E '^Cap(Prm|Eff|Bnd|Amb):' /proc/self/status | grep -v 0000000000000000 | sed 's/^/OUT /'`,
  },
  { name: 'new privileges', script: () => `grep -q '^NoNewPrivs:.1' /proc/self/status || echo OUT` },
  { name: 'the environment of another process', control: true, script: ({ pid }) => reads(`/proc/${pid}/environ`) },
  { name: 'a signal to another process', control: true, script: ({ pid }) => out(`kill -CONT ${pid} 2>/dev/null`) },
  { name: 'a file in shared memory', control: true, script: ({ base }) => out(`test -e /dev/shm/$(basename ${base})`) },
  { name: 'a key of ssh', control: true, script: ({ home }) => reads(`${home}/.ssh/id_rsa`) },
  {
    name: 'a folder of keys behind a link',
    control: true,
    script: ({ base, home }) => `${reads(`${home}/.aws/credentials`)}; ${reads(`${base}/elsewhere/credentials`)}`,
  },
  { name: 'our own home', control: true, script: ({ home }) => reads(`${home}/.termaite/hub.key`) },
  { name: 'the filter itself', script: ({ home }) => out(`ls ${home}/.termaite/wall/*`) },
  { name: 'a unix socket of the host', control: true, script: ({ base }) => connects(`'${base}/host.sock'`) },
  { name: 'a unix socket in the project', control: true, script: ({ root }) => connects(`'${root}/a project.sock'`) },
  {
    name: 'a unix socket in the temporary folder',
    control: true,
    script: ({ base }) => connects(`'/tmp/' + require('node:path').basename('${base}') + '.sock'`),
  },
  { name: 'an abstract socket', control: true, script: ({ abstract }) => connects(`'\\0${abstract}'`) },
  {
    name: 'any unix socket',
    at: ['read'],
    control: true,
    script: () => `perl -MSocket -e 'print "OUT\\n" if socket(my $s, AF_UNIX, SOCK_STREAM, 0)'`,
  },
  {
    name: 'a pair of datagram sockets',
    at: ['read'],
    control: true,
    script: () => `perl -MSocket -e 'print "OUT\\n" if socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0)'`,
  },
  {
    name: 'a socket to a virtual machine’s host',
    script: () => `perl -MSocket -e 'print "OUT\\n" if socket(my $s, 40, SOCK_STREAM, 0)'`,
  },
  {
    name: 'a socket of the kernel’s cipher',
    script: () => `perl -MSocket -e 'print "OUT\\n" if socket(my $s, 38, 5, 0)'`,
  },
  { name: 'io_uring', script: () => `perl -e 'my $p = "\\0" x 120; print "OUT\\n" if syscall(425, 1, $p) >= 0'` },
  {
    name: 'the x32 way of calling',
    script: () => (process.arch === 'x64' ? calls('0x40000000 + 41', 1, 1, 0) : 'true'),
  },
  { name: 'a keyring', script: () => calls(process.arch === 'x64' ? 250 : 219, 0, -3, 1) },
  { name: 'the network of the host', control: true, script: ({ port }) => connects(`${port}, '127.0.0.1'`) },
  {
    name: 'the programs of a container engine or the session',
    script: () =>
      `for s in /run/docker.sock /var/run/docker.sock /run/user/*/bus /run/dbus/system_bus_socket /run/WSL; do ${out('[ -e "$s" ]')}; done`,
  },
]

/** Programs and folders outside that the ways out lead to. */
async function outsideOf(t: TestContext, user: WallUser): Promise<Outside> {
  const { base, root, home } = groundsOf(t, user)
  spawnSync('git', ['init', '-q', root])
  for (const folder of ['home/.ssh', 'home/.termaite', 'elsewhere']) mkdirSync(join(base, folder))
  for (const file of ['home/.ssh/id_rsa', 'home/.termaite/hub.key', 'elsewhere/credentials'])
    writeFileSync(join(base, file), secret)
  symlinkSync(join(base, 'elsewhere'), join(home, '.aws'))
  writeFileSync(join(base, 'target'), 'as it was')
  const name = base.split('/').at(-1)!
  const shared = `/dev/shm/${name}`
  writeFileSync(shared, '')
  if (user.id !== undefined) give(base, user.id)
  const sleep = spawn('sleep', ['1000'], { env: { ...process.env, SECRET: secret }, uid: user.id, gid: user.id })
  const abstract = `termaite-${name}`
  const sockets = [join(base, 'host.sock'), `/tmp/${name}.sock`, join(root, 'a project.sock')]
  const servers = [0, `\0${abstract}`, ...sockets].map((at) => createServer().listen(at))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  for (const socket of sockets) chmodSync(socket, 0o777)
  t.after(() => {
    sleep.kill('SIGKILL')
    for (const server of servers) server.close()
    spawnSync('rm', ['-f', shared])
  })
  const address = servers[0]!.address()
  assert.ok(address !== null && typeof address === 'object')
  return { base, root, home, pid: sleep.pid!, port: address.port, abstract }
}

const noPerl = spawnSync('perl', ['-v']).status === 0 ? false : 'perl is not installed'

for (const user of wallUsers) {
  for (const level of ['read', 'edit'] as const)
    // Both are tried at every level by FULL=1; the narrowest and the widest wall always.
    for (const nested of sized([level === 'edit'], [false, true]))
      test(
        `no way leads out at ${level}, as ${user.name}, ${nested ? 'where a sandbox may stand inside' : 'where none may'}`,
        { skip: user.skip || noPerl },
        async (t) => {
          const outside = await outsideOf(t, user)
          const { root, home, base } = outside
          const tried = ways.filter(({ at }) => at?.includes(level) ?? true)
          const scripts = tried.map(({ script }) => script(outside))
          const results = await runBehindWall(user, { root, home, ...levels[level], nested }, scripts)
          const found = tried.flatMap(({ name }, i) =>
            results[i]!.out.includes('OUT') ? [`${name}: ${results[i]!.out}`] : [],
          )
          assert.deepEqual(found, [])
          assert.ok(tried.length > 35, `${tried.length} ways were tried`)
          assert.deepEqual(
            [
              readFileSync(join(base, 'target'), 'utf8'),
              existsSync(join(base, 'beside')),
              existsSync(join(home, 'written')),
            ],
            ['as it was', false, false],
          )
        },
      )

  test(
    `without a wall the harmless ones of these ways work, as ${user.name}`,
    { skip: user.skip || noPerl },
    async (t) => {
      const outside = await outsideOf(t, user)
      const tried = ways.filter(({ control }) => control)
      const failed = tried.flatMap(({ name, script }) => {
        const as =
          user.id === undefined ? [] : ['setpriv', `--reuid=${user.id}`, `--regid=${user.id}`, '--clear-groups']
        const [program = '', ...args] = [...as, 'bash', '-c', script(outside)]
        const ran = spawnSync(program, args, { cwd: outside.root, encoding: 'utf8' })
        return ran.stdout.includes('OUT') ? [] : [`${name}: ${ran.stderr}`]
      })
      assert.deepEqual(failed, [])
    },
  )

  test(`a command cannot replace the program that builds the wall, as ${user.name}`, { skip: user.skip }, async (t) => {
    const { root, home, base } = groundsOf(t, user)
    const programs = join(root, 'node_modules', '.bin')
    mkdirSync(programs, { recursive: true })
    if (user.id) give(root, user.id)
    const plant = `for p in bwrap sh bash nsenter; do printf '#!/bin/sh\\necho x > ${base}/planted\\n' > ${programs}/$p; chmod +x ${programs}/$p; done`
    const env = { PATH: `${programs}:${process.env.PATH}` }
    const results = await runBehindWall(user, { root, home }, [plant, '/bin/echo inside'], { env })
    assert.deepEqual([results[0]!.code, existsSync(join(programs, 'bwrap'))], [0, true])
    assert.equal(existsSync(join(base, 'planted')), false)
  })
}

test('a folder of the host that was left open is closed before the command starts', { skip: noSandbox }, async (t) => {
  const { base, root, home } = groundsOf(t, wallUsers[0]!)
  const { argv } = (await wallOf({ platform: process.platform, env: process.env }).wrap(
    [
      'bash',
      '-c',
      'for fd in 3 4 5 12 23; do echo x > /proc/self/fd/$fd/beside; done 2>/dev/null; ls /proc/self/fd | wc -l',
    ],
    { root, home, project: 'read', git: 'read', network: false, sockets: false },
  )) as Walled
  const folder = openSync(base, 'r')
  t.after(() => closeSync(folder))
  const stdio = ['ignore', 'pipe', 'ignore', ...Array.from({ length: 21 }, () => folder)] as const
  const ran = spawnSync(argv[0], argv.slice(1), { cwd: root, stdio: [...stdio], encoding: 'utf8' })
  // Three of every program, and the folder that ls looks at.
  assert.deepEqual([ran.stdout, existsSync(join(base, 'beside'))], ['4\n', false])
})

const noMounts = spawnSync('unshare', ['-m', 'true']).status === 0 ? noSandbox : 'only root can mount a socket'

test('a socket that was mounted at another path is covered', { skip: noMounts }, async (t) => {
  const outside = await outsideOf(t, wallUsers[0]!)
  const { base, root, home } = outside
  writeFileSync(join(root, 'the engine.sock'), '')
  const mount = `mount --bind '${base}/host.sock' '${root}/the engine.sock' && exec "$@"`
  const script = connects(`'${root}/the engine.sock'`)
  const before = ['unshare', '-m', 'sh', '-c', mount, 'sh']
  assert.equal(spawnSync(before[0]!, [...before.slice(1), 'sh', '-c', script], { encoding: 'utf8' }).stdout, 'OUT\n')
  const [ran] = await runBehindWall(wallUsers[0]!, { root, home, ...levels.edit }, [script], { before })
  assert.equal(ran!.out, '')
})

test('processes that a command leaves running end with it', { skip: noSandbox }, async (t) => {
  const user = wallUsers[0]!
  const { root, home } = groundsOf(t, user)
  const label = `1${Date.now()}`
  const [ran] = await runBehindWall(user, { root, home }, [`setsid sleep ${label} & sleep 0 & kill -9 -1; echo on`])
  assert.deepEqual([ran!.code, ran!.out], [0, 'on\n'])
  await until(() => !spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.includes(`sleep ${label}`))
})
