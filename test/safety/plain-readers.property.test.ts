import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { showingGit } from '../../src/base/project-git.ts'
import { gitRows, plainReader, readerRows, splitWords } from '../../src/safety/rules/plain-readers.ts'
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
const operands = [
  ...[
    'README.md',
    'src/a.ts',
    'src',
    '.',
    './src/b.ts',
    'two/one.txt',
    "'README.md'",
    '"src/a.ts"',
    'big.txt',
    'flags/ax',
  ],
  ...['HEAD', 'main', 'v1', 'HEAD~1', 'HEAD^', 'main..HEAD', 'old...main', '-- README.md', '-- src', 'package.json'],
]
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

function randomLine(pick: (below: number) => number): string {
  const one = (list: readonly string[]) => list[pick(list.length)]!
  const words = [one(programs)]
  for (let i = pick(4); i > 0; i--) words.push(one(flags))
  for (let i = pick(3); i > 0; i--) words.push(one(operands))
  if (pick(6) === 0) words.splice(1 + pick(words.length), 0, one(traps))
  const line = (pick(12) === 0 ? one(before) : '') + words.join(pick(20) === 0 ? '  ' : ' ')
  if (pick(10) !== 0) return line
  // A letter is taken away, doubled, or replaced by one of another word.
  const at = pick(line.length)
  const letter = one(["'", '"', '$', '-', ' ', '/', '.', ';', '=', '\\', line[pick(line.length)]!, ''])
  return line.slice(0, at) + letter + line.slice(at + pick(2))
}

/** Starts a reader as the agent does, without a shell. */
async function started(
  command: string,
): Promise<{ argv: readonly string[]; env: Record<string, string | undefined>; remove(): void }> {
  const found = (await reader(command))!
  if (!found.git) return { argv: [found.program, ...found.args], env: { LANG: 'C' }, remove() {} }
  const git = await showingGit(root, found.args, { PATH: path, HOME: home })
  return git!
}

test('lines of the table’s own grammar that are readers change no file, start no program and show no key', async () => {
  const wanted = sized(1_500, 100_000)
  const pick = randomOf(Number(process.env.SEED ?? 7))
  const readers = new Map<string, number>()
  let passed = 0
  let made = 0
  while (passed < wanted) {
    const line = randomLine(pick)
    made++
    assert.ok(made < wanted * 20, `${passed} of ${made} lines are readers`)
    if (!(await reader(line))) continue
    passed++
    readers.set(line, (readers.get(line) ?? 0) + 1)
  }
  // Lines that were made twice are run once.
  const lines = [...readers.keys()]
  const leaks: string[] = []
  const forks: string[] = []
  const traced = spawnSync('strace', ['-V']).status === 0
  for (let at = 0; at < lines.length; at += 16)
    await Promise.all(
      lines.slice(at, at + 16).map(async (line, i) => {
        const { argv, env, remove } = await started(line)
        const log = `${wire.project.base}-trace-${i}`
        const watch = traced && (at / 16) % sized(4, 16) === 0
        const [program = '', ...args] = watch
          ? ['strace', '-f', '-o', log, '-e', 'trace=execve,clone,clone3,fork,vfork', ...argv]
          : argv
        const out = await output(program, args, env)
        remove()
        if (out.includes(canary)) leaks.push(line)
        if (!watch) return
        const calls = readFileSync(log, 'utf8')
        rmSync(log)
        const began = calls.match(/execve\(.*= 0$/gm) ?? []
        if (began.length > 1) forks.push(`${line}: ${began.join(' ')}`)
      }),
    )
  const { writes, runs } = await wire.run(['true'])
  assert.deepEqual({ leaks, forks, writes, runs }, { leaks: [], forks: [], writes: [], runs: false })
  console.log(
    `${passed} of ${made} lines were readers, ${lines.length} different ones were run${traced ? ', with strace' : ''}`,
  )
})

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
