import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { showingGit } from '../../src/base/git/project-git.ts'
import { gitRows, plainReader, readerRows, splitWords } from '../../src/safety/rules/plain-readers.ts'
import { quotedWord } from '../../src/base/text/shell-word.ts'
import { isSecretName } from '../../src/safety/secret-files.ts'
import { canary, layHostileProject, Tripwire } from './corpus/hostile-project.ts'
import { hostileCommands } from './corpus/hostile-commands.ts'
import { readerAttacks } from './corpus/reader-attacks.ts'
import { sized } from '../full.ts'

const wire = new Tripwire(layHostileProject())
const { root, home, away } = wire.project
after(() => wire.gone())

const bin = join(root, 'node_modules', '.bin')
const path = `${bin}:/usr/local/bin:/usr/bin:/bin`
const world = { root, home, cwd: root, path }
const reader = (command: string) => plainReader(command, world)

/** A generator of pseudo-random numbers, so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Words of the table's own grammar: programs, flags that fit the rows, files of the project, and what lies beside each of them. */
const programs = [...Object.keys(readerRows), ...Object.keys(gitRows).map((sub) => `git ${sub}`)]
const flags = [
  ...[...'laAhtrS1RdFipscugGonmxCUvBQbeETwLPIkZzfDHN'].map((letter) => `-${letter}`),
  ...[
    '-la',
    '-lah',
    '-n 5',
    '-n5',
    '-5',
    '-c 3',
    '-n +2',
    '--lines=2',
    '--color=never',
    '--all',
    '--recursive',
    '-d 1',
  ],
  ...[
    '--max-depth=1',
    '--format=%n',
    '-c %s',
    '--terse',
    '--brief',
    '--mime-type',
    '-Iseconds',
    '--utc',
    '+%F',
    "'+%F %T'",
  ],
  ...[
    '--oneline',
    '--stat',
    '-p',
    '--patch',
    '--name-only',
    '-n 3',
    '--all',
    '--graph',
    '--pretty=oneline',
    '--cached',
  ],
  ...[
    "--format=format:'%h %s'",
    '--since=yesterday',
    '--author=x',
    '-U1',
    '-w',
    '--porcelain',
    '-sb',
    '-uno',
    '--word-diff',
  ],
]
const files = [
  ...['README.md', 'src/a.ts', 'src', '.', './src/b.ts', 'two/one.txt', "'README.md'", '"src/a.ts"', 'big.txt'],
  ...['flags/ax', 'package.json', '-- README.md', '-- src'],
]
const operands = [...files, 'HEAD', 'main', 'v1', 'HEAD~1', 'HEAD^', 'main..HEAD', 'old...main']
const traps = [
  ...[
    '.env',
    'innocent.txt',
    'link/secret.txt',
    '../away/secret.txt',
    'outlinks/x.txt',
    'proclink',
    'kept/secret.env',
    '~/.ssh/id_rsa',
  ],
  ...[
    '-s 10:00',
    '--set=x',
    '-C',
    '-f',
    '--follow',
    '--output=out.txt',
    '--ext-diff',
    '--textconv',
    '-m README.md',
    '--files0-from=list0',
  ],
  ...[
    '--format=%G?',
    "--format=format:'%GG'",
    'HEAD:.env',
    '-L1,1:.env',
    '--no-index',
    '-c core.pager=./evil',
    '-- .env',
    '--show-signature',
  ],
  ...[
    '$(./evil)',
    '`./evil`',
    '; ./evil',
    '&& ./evil',
    '| ./evil',
    '> out.txt',
    '< list.txt',
    '$HOME',
    '*',
    '{a,b}',
    '\\\n./evil',
    '# x',
    '\n./evil',
  ],
  ...[
    '&',
    '"$(./evil)"',
    "'",
    '"',
    '!!',
    '~',
    '(./evil)',
    '<(./evil)',
    '\t./evil',
    '--',
    '-',
    '-x',
    '--help',
    '--version',
    '-T',
    '--time=x',
  ],
]
const before = ['', '', '', '', 'X=1 ', './', '/bin/', '\\', 'env ', 'command ', '"', ' ', '\t', './evil;']

/** The flags that each program's row has, so that more than half of the lines pass. */
async function fittingFlags(): Promise<ReadonlyMap<string, readonly string[]>> {
  const fitting = new Map<string, readonly string[]>()
  for (const program of programs) {
    const isFitting = await Promise.all(
      flags.map(async (flag) => (await reader(`${program} ${flag} README.md`)) ?? (await reader(`${program} ${flag}`))),
    )
    fitting.set(
      program,
      flags.filter((_, i) => isFitting[i]),
    )
  }
  return fitting
}

function randomLine(pick: (below: number) => number, fitting: ReadonlyMap<string, readonly string[]>): string {
  const one = (list: readonly string[]) => list[pick(list.length)]!
  const program = one(programs)
  const words = [program]
  const own = fitting.get(program)!
  for (let i = pick(5); i > 0; i--) words.push(one(pick(8) === 0 || own.length === 0 ? flags : own))
  for (let i = pick(4); i > 0; i--) words.push(one(program.startsWith('git') || pick(8) === 0 ? operands : files))
  if (pick(6) === 0) words.splice(1 + pick(words.length), 0, one(traps))
  const line = (pick(12) === 0 ? one(before) : '') + words.join(pick(20) === 0 ? '  ' : ' ')
  if (pick(10) !== 0) return line
  // A letter is taken away, doubled, or replaced by one of another word.
  const at = pick(line.length)
  const letter = one(["'", '"', '$', '-', ' ', '/', '.', ';', '=', '\\', line[pick(line.length)]!, ''])
  return line.slice(0, at) + letter + line.slice(at + pick(2))
}

const readerEnv = { LANG: 'C' }

/** Starts a reader as the agent does, without a shell. */
async function started(
  command: string,
): Promise<{ argv: readonly string[]; env: Record<string, string | undefined>; remove(): void }> {
  const found = (await reader(command))!
  if (!found.git) return { argv: [found.program, ...found.args], env: readerEnv, remove() {} }
  const git = await showingGit(root, found.args, { PATH: path, HOME: home })
  return git!
}

const noStrace =
  spawnSync('strace', ['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', 'true']).status === 0
    ? false
    : 'strace does not work here'

/** What lines did, each with the line that did it. */
type Deeds = { leaks: string[]; starts: string[]; changes: string[]; reaches: string[]; keys: string[] }

/** System calls by which a program starts another one, changes a file, or reaches another process; and those that open a file. */
const watched = [
  'execve,execveat,clone,clone3,fork,vfork,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,link,linkat',
  'symlink,symlinkat,mkdir,mkdirat,rmdir,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate',
  'utimensat,utimes,futimesat,setxattr,lsetxattr,fsetxattr,socket,connect,bind,sendto,sendmsg,kill,tkill,tgkill,ptrace,mount',
].join()

/** Names of the files that hold the canary, and of the links that lead to them. */
const canaryFiles = /(?:^|\/)(?:\.env|innocent\.txt|secret\.env|secret\.txt|x\.txt|id_rsa|environ|proclink)$/

/**
 * Runs readers one after another, each as a process of its own without a shell around its words, and adds what they did. One shell
 * starts them all, and one strace watches them all: a strace for each line would take most of the time.
 */
async function runAll(
  lines: readonly { line: string; argv: readonly string[] }[],
  env: Record<string, string | undefined>,
  deeds: Deeds,
  traced: boolean,
): Promise<void> {
  const script = `${wire.project.base}-lines`
  const log = `${wire.project.base}-trace`
  const mark = '\x01\x02'
  writeFileSync(
    script,
    lines.map(({ argv }) => `printf '\\001\\002'\n${argv.map(quotedWord).join(' ')} < /dev/null\n`).join(''),
  )
  const shell = ['/bin/sh', script]
  const words = traced ? ['strace', '-f', '--seccomp-bpf', '-qq', '-o', log, '-e', `trace=${watched}`, ...shell] : shell
  const printed = (await output(words[0]!, words.slice(1), env)).split(mark).slice(1)
  rmSync(script)
  assert.equal(printed.length, lines.length)
  for (const [i, text] of printed.entries()) if (text.includes(canary)) deeds.leaks.push(lines[i]!.line)
  if (!traced) return
  const calls = readFileSync(log, 'utf8').split('\n').slice(0, -1)
  rmSync(log)
  const first = calls[0]!.split(' ', 1)[0]!
  // The shell starts one process for each line, in their order.
  const processes = new Map<string, { line: string; began: number }>()
  for (const call of calls) {
    const [, pid = '', name = '', rest = ''] = /^(\d+) +(\w+)\((.*)$/.exec(call) ?? []
    if (name === '' || pid === first) continue
    if (!processes.has(pid)) processes.set(pid, { line: lines[processes.size]?.line ?? 'no line', began: 0 })
    const one = processes.get(pid)!
    const failed = / = -1 E/.test(rest)
    const deed = `${one.line}: ${name}(${rest}`
    if (name.startsWith('execve')) {
      if (!failed && ++one.began > 1) deeds.starts.push(deed)
    } else if (/^(?:clone3?|v?fork)$/.test(name)) deeds.starts.push(deed)
    else if (/^(?:open|openat|openat2)$/.test(name)) {
      const path = /"((?:[^"\\]|\\.)*)"/.exec(rest)?.[1] ?? ''
      if (/O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)/.test(rest) && path !== '/dev/null') deeds.changes.push(deed)
      if (!failed && canaryFiles.test(path)) deeds.keys.push(deed)
    } else if (/^(?:socket|connect|bind|send|kill|t)/.test(name) && !/^truncate/.test(name)) {
      // The C library asks for the cache of user names by its socket.
      if (!/nscd|socket\(AF_UNIX/.test(call)) deeds.reaches.push(deed)
    } else deeds.changes.push(deed)
  }
  assert.deepEqual(
    [...processes.values()].map(({ line }) => line),
    lines.map(({ line }) => line),
  )
}

/** Lines that were run: each is run once in all parts. */
const seen = new Set<string>()

// A full run takes longer than one test may take.
for (const part of [1, 2, 3, 4])
  test(`lines of the table’s own grammar that are readers change no file, start no program and show no key (${part} of 4)`, async () => {
    const wanted = seen.size + sized(375, 25_000)
    const batch = 500
    const pick = randomOf(Number(process.env.SEED ?? 7) * part)
    const fitting = await fittingFlags()
    const deeds: Deeds = { leaks: [], starts: [], changes: [], reaches: [], keys: [] }
    let made = 0
    while (seen.size < wanted) {
      const plain: { line: string; argv: readonly string[] }[] = []
      const ofGit: { line: string; argv: readonly string[] }[] = []
      while (plain.length + ofGit.length < batch && seen.size < wanted) {
        const line = randomLine(pick, fitting)
        assert.ok(++made < wanted * 20, `${seen.size} of ${made} lines are readers`)
        const found = seen.has(line) ? undefined : await reader(line)
        if (!found) continue
        seen.add(line)
        ;(found.git ? ofGit : plain).push({ line, argv: [found.program, ...found.args] })
      }
      await runAll(plain, readerEnv, deeds, !noStrace)
      const git = (await showingGit(root, [], { PATH: path, HOME: home }))!
      await runAll(ofGit, git.env, deeds, !noStrace)
      git.remove()
      const { writes, runs } = await wire.run(['true'])
      const last = [...plain, ...ofGit].map(({ line }) => line)
      assert.deepEqual({ ...deeds, writes, runs }, { ...noDeeds, writes: [], runs: false }, last.join('\n'))
    }
    console.log(
      `${seen.size} different lines were readers and were run, ${made} were made for this part, ${noStrace || 'watched by strace'}`,
    )
  })

test('the watch over the lines sees a program, a change, a socket and a key', { skip: noStrace }, async () => {
  const deeds: Deeds = { leaks: [], starts: [], changes: [], reaches: [], keys: [] }
  const connect = "require('node:net').connect(9, '127.0.0.1').on('error', () => {})"
  const bad = [
    ['cat', '.env'],
    ['env', 'cat', 'README.md'],
    ['touch', 'made'],
    ['mv', 'README.md', 'moved'],
    [process.execPath, '-e', connect],
    ['cat', 'README.md'],
  ].map((argv) => ({ line: argv[0] === process.execPath ? 'node' : argv.join(' '), argv }))
  await runAll(bad, { ...readerEnv, PATH: path }, deeds, true)
  const { writes } = await wire.run(['true'])
  const lines = (list: readonly string[]) => [...new Set(list.map((deed) => deed.split(': ')[0]))]
  assert.deepEqual(
    {
      ...{ leaks: deeds.leaks, keys: lines(deeds.keys), reaches: lines(deeds.reaches) },
      starts: lines(deeds.starts).filter((line) => line !== 'node'),
      changes: lines(deeds.changes).filter((line) => line !== 'node'),
      writes: writes.map((file) => file.slice(root.length + 1)).toSorted(),
    },
    {
      ...{ leaks: ['cat .env'], keys: ['cat .env'], reaches: ['node'] },
      starts: ['env cat README.md'],
      changes: ['touch made', 'mv README.md moved'],
      writes: ['README.md', 'made', 'moved'],
    },
  )
})

const noDeeds: Deeds = { leaks: [], starts: [], changes: [], reaches: [], keys: [] }

function output(program: string, args: readonly string[], env: Record<string, string | undefined>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })
    let text = ''
    child.stdout.on('data', (data: Buffer) => (text += data.toString('latin1')))
    child.stderr.on('data', (data: Buffer) => (text += data.toString('latin1')))
    child.on('close', () => resolve(text))
    child.on('error', reject)
  })
}

test('no hostile command is a reader', async () => {
  const all = [...Object.values(hostileCommands).flat(), ...readerAttacks].map((one) => one.replaceAll('{away}', away))
  const wrong: string[] = []
  for (const command of all) if (await reader(command)) wrong.push(command)
  assert.deepEqual(wrong, [])
})

test('ordinary ways to look are readers, and print what the program prints', async () => {
  const lines = [
    'ls',
    'ls -la src',
    'cat README.md',
    'head -n 1 README.md',
    'tail -1 src/a.ts',
    'wc -l src/a.ts src/b.ts',
    'pwd',
  ]
  lines.push(
    'stat -c %s README.md',
    'file README.md',
    'du -sh src',
    'df -h .',
    "date '+%Y'",
    'git status --short',
    'git log --oneline',
  )
  lines.push(
    'git diff --stat',
    'git show HEAD~1 --stat',
    'git diff main -- README.md',
    'git log -n 1 -p',
    'cat "src/a.ts"',
  )
  const missing: string[] = []
  for (const line of lines) if (!(await reader(line))) missing.push(line)
  assert.deepEqual(missing, spawnSync('file', ['--version']).error ? ['file README.md'] : [])
  const shown = async (line: string) => {
    const { argv, env, remove } = await started(line)
    const [program = '', ...args] = argv
    const text = await output(program, args, env)
    remove()
    return text
  }
  assert.equal(await shown('cat src/a.ts'), 'let a = 1\n')
  assert.match(await shown('git log --oneline'), /^[0-9a-f]+ two\n[0-9a-f]+ one\n$/)
  assert.match(await shown('git show HEAD'), /-there\n\+you/)
})

test('git shows the content of no file that holds keys by its name, and of every other file', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-keys-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const keys = [
    ...['.env', '.env.local', '.env-prod', '.env_x', '.env~', '.envrc', '.envrc.old', 'prod.env', 'prod.ENV', '.Env'],
    ...[
      'id_rsa',
      'id_x',
      'id_xy',
      'id_xyz',
      'id_wxyz',
      'id_deploy-key_2',
      'ID_RSA',
      'id_rsa.bak',
      'id_rsa.1',
      'id_rsa.12',
    ],
    ...[
      'a.pem',
      'a.key',
      'a.p8',
      'a.p12',
      'a.pkcs12',
      'a.keytab',
      'a.ovpn',
      'a.kubeconfig',
      'a.KEY',
      'ca.pem.bak',
      'a.age.old',
    ],
    ...[
      'kubeconfig',
      'kubeconfig.yaml',
      'kubeconfig-prod',
      '.npmrc',
      '.NPMRC',
      '.s3cfg',
      '.boto',
      '.authinfo',
      '.rclone.conf',
    ],
    ...[
      '_netrc',
      '.netrc',
      '.pgpass',
      '.my.cnf',
      'credentials',
      'credentials.toml',
      'secret.txt',
      'secrets.yml',
      'SECRETS.json',
    ],
    ...[
      'service_account_1.json',
      'client-secret.json',
      'x.tfstate',
      'terraform.tfstate.backup',
      'master.key',
      'deep/a/.env-prod',
    ],
  ]
  const others = [
    'id_map.ts',
    'id_a.js',
    'id_x.test.ts',
    'secrets.ts',
    'credentials.go',
    'keys.ts',
    'environment.ts',
    'a.pub',
  ]
  assert.deepEqual([keys.filter((name) => !isSecretName(name)), others.filter((name) => isSecretName(name))], [[], []])
  mkdirSync(join(folder, 'deep/a'), { recursive: true })
  for (const name of [...keys, ...others]) writeFileSync(join(folder, name), `content of ${name}\n`)
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, encoding: 'utf8' })
  for (const args of [
    ['init', '-q'],
    ['add', '-A', '-f'],
    ['commit', '-qm', 'one'],
  ])
    assert.equal(git(...args).status, 0)
  const there = { root: folder, home, cwd: folder, path }
  for (const line of ['git show', 'git log -p', 'git log -U1 --all']) {
    const found = await plainReader(line, there)
    assert.ok(found?.git, line)
    const { argv, env, remove } = (await showingGit(folder, found.args, { PATH: path, HOME: home }))!
    const shown = spawnSync(argv[0], argv.slice(1), { cwd: folder, env, encoding: 'utf8' }).stdout
    remove()
    assert.deepEqual(
      [...shown.matchAll(/^\+content of (.*)$/gm)].map(([, name]) => name).sort(),
      others.toSorted(),
      line,
    )
  }
})

test('lines are split as a shell splits them, or not at all', () => {
  const pick = randomOf(11)
  const pieces = [
    'a',
    'b/c',
    ' ',
    '  ',
    '\t',
    "'x y'",
    '"x y"',
    "''",
    '""',
    '-n',
    '~',
    '=',
    ':',
    '^',
    '$a',
    '\\',
    '*',
    '?',
    '[a]',
    '{a,b}',
    '#',
    ';',
    '\n',
    '!',
    "'",
    '"',
    '`',
    '|',
    '>',
    '@',
    '%',
    '+',
    ',',
    'é',
    "'$a'",
    '"$a"',
    "'*'",
  ]
  const lines: string[] = []
  while (lines.length < sized(300, 3_000)) {
    const line = Array.from({ length: 1 + pick(7) }, () => pieces[pick(pieces.length)]!).join('')
    if (splitWords(line)?.length) lines.push(line)
  }
  for (let at = 0; at < lines.length; at += 100) {
    const some = lines.slice(at, at + 100)
    for (const shell of ['bash', 'dash']) {
      const script = some.map((line) => `printf '%s\\0' x ${line}; printf '\\1'`).join('\n')
      const ran = spawnSync(shell, ['-c', script], {
        cwd: join(root, 'empty'),
        env: { HOME: '/h', PATH: '/bin:/usr/bin' },
      })
      if (ran.error) continue
      const found = ran.stdout
        .toString()
        .split('\x01')
        .slice(0, -1)
        .map((text) => text.split('\0').slice(1, -1))
      assert.deepEqual(
        found,
        some.map((line) => splitWords(line)),
        shell,
      )
    }
  }
})

test('a program of the project is never a reader, a reader reads no other repository, and git runs nothing of its own', async (t) => {
  const evil = '#!/bin/sh\necho ran > "$TRIP"\n'
  for (const name of ['ls', 'cat', 'git']) writeFileSync(join(bin, name), evil, { mode: 0o755 })
  assert.deepEqual(
    await Promise.all(
      ['ls', 'cat README.md', 'git status'].map(async (line) => (await reader(line))?.program.startsWith(root)),
    ),
    [false, false, false],
  )
  assert.equal(await plainReader('ls', { ...world, path: bin }), undefined)
  assert.equal(await plainReader('ls', { ...world, root: '/' }), undefined)
  assert.equal(await plainReader('ls', { ...world, cwd: away }), undefined)
  const config = join(root, '.git', 'config')
  const text = readFileSync(config, 'utf8')
  t.after(() => writeFileSync(config, text))
  const program = join(root, 'evil')
  writeFileSync(
    config,
    `${text}[core]\n\tfsmonitor = ${program}\n\tpager = ${program}\n\thooksPath = ${root}/hooks\n[diff]\n\texternal = ${program}\n[diff "x"]\n\tcommand = ${program}\n\ttextconv = ${program}\n[filter "x"]\n\tclean = ${program}\n\tprocess = ${program}\n[gpg]\n\tprogram = ${program}\n[log]\n\tshowSignature = true\n[format]\n\tpretty = %G?\n[alias]\n\tstatus = !${program}\n[include]\n\tpath = ${root}/more\n`,
  )
  writeFileSync(join(root, '.gitattributes'), '* diff=x filter=x\n')
  writeFileSync(join(root, 'README.md'), 'changed\n')
  for (const line of ['git status', 'git diff', 'git log -p', 'git show', 'git diff --cached', 'git log']) {
    const { argv, env, remove } = await started(line)
    const [name = '', ...args] = argv
    await output(name, args, { ...env, TRIP: join(away, 'TRIPPED') })
    remove()
  }
  assert.throws(() => readFileSync(join(away, 'TRIPPED')))
  // A folder whose .git leads to a repository elsewhere.
  const foreign = join(root, 'foreign')
  mkdirSync(foreign)
  spawnSync('git', ['init', '-q', join(away, 'other')])
  writeFileSync(join(foreign, '.git'), `gitdir: ${join(away, 'other', '.git')}\n`)
  const linked = join(root, 'linked')
  mkdirSync(linked)
  symlinkSync(join(away, 'other', '.git'), join(linked, '.git'))
  for (const cwd of [foreign, linked]) assert.equal(await plainReader('git log', { ...world, cwd }), undefined)
})
