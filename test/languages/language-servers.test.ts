import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOf } from '../system-path.ts'
import { until } from '../until.ts'
import { LanguageRig, putServer } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const tells of ['pull', 'push', 'plain push'] as const)
  test(`the errors after an edit are told by a server that works by ${tells}`, options, async (t) => {
    const rig = new LanguageRig(t, { tells })
    rig.write('a.go', ['error old'])
    assert.deepEqual(await rig.said({ 'a.go': ['first', 'error old', 'error new'] }), [
      'Go reports 2 errors in a.go after this edit; 1 of them is new:',
      '- line 3, column 1: new (error)',
      '1 other error (line 2) was there before this edit.',
    ])
    golden(t, await rig.said({ 'a.go': ['error old'] }))
    golden(t, await rig.said({ 'a.go': ['fine'] }))
    assert.equal(await rig.said({ 'a.go': ['still fine'] }), undefined)
    assert.equal(await rig.said({ 'b.go': ['defines thing'] }), undefined)
    assert.deepEqual(await rig.said({ 'a.go': ['uses thing', 'uses other', 'warning odd'] }), [
      'Go reports 1 error and 1 warning in a.go after this edit:',
      '- line 2, column 1: other is not defined (uses)',
    ])
    assert.deepEqual(await rig.edit({ 'b.go': ['nothing'] }), {
      text: 'This edit also causes 1 error in a.go:\n- a.go: line 1, column 1: thing is not defined (uses)',
      errors: 1,
    })
    assert.deepEqual(
      rig.servers
        .status()
        .map(({ name, language, state, speaker, files }) => ({ name, language, state, speaker, files })),
      [{ name: 'gopls', language: 'Go', state: 'running', speaker: 'scripted 1', files: 2 }],
    )
  })

test('one patch of several files is one report, and a removed file is closed', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  rig.write('old.go', ['defines thing'])
  assert.deepEqual(await rig.said({ 'a.go': ['uses thing', 'error x'], 'b.go': ['error y'] }), [
    'Go reports 1 error in a.go after this edit:',
    '- line 2, column 1: x (error)',
    'Go reports 1 error in b.go after this edit:',
    '- line 1, column 1: y (error)',
  ])
  assert.deepEqual(await rig.said({ 'old.go': undefined }), [
    'This edit also causes 1 error in a.go:',
    '- a.go: line 1, column 1: thing is not defined (uses)',
  ])
  assert.deepEqual(
    rig.journal().filter((line) => line.includes('old.go')),
    ['open old.go 1 go', 'close old.go', 'watched old.go 3'],
  )
})

test(
  'files that a command changed are told to the server, and their errors are not blamed on the next edit',
  options,
  async (t) => {
    const rig = new LanguageRig(t, { tells: 'pull' })
    await rig.edit({ 'a.go': ['fine'], 'b.go': ['fine'] })
    rig.write('a.go', ['error by a command'])
    rig.write('c.go', ['defines thing'])
    rig.servers.filesMayHaveChanged()
    assert.equal(await rig.said({ 'b.go': ['uses thing'] }), undefined)
    assert.deepEqual(await rig.said({ 'a.go': ['error by a command', 'error mine'] }), [
      'Go reports 2 errors in a.go after this edit; 1 of them is new:',
      '- line 2, column 1: mine (error)',
      '1 other error (line 1) was there before this edit.',
    ])
    assert.deepEqual(
      rig.journal().filter((line) => line.includes('c.go')),
      ['watched c.go 1'],
    )
  },
)

test('a server’s questions are answered, and it may change nothing', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull', asks: true })
  await rig.edit({ 'a.go': ['fine'] })
  const answers = await until(() => rig.journal().find((line) => line.startsWith('[')))
  golden(t, JSON.parse(answers), { [rig.folder]: '<rig>' })
})

test('an interrupted answer is asked for again', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull', fault: 'interrupted' })
  assert.deepEqual(await rig.said({ 'a.go': ['error x'] }), [
    'Go reports 1 error in a.go after this edit:',
    '- line 1, column 1: x (error)',
  ])
})

test(
  'an edit waits for a silent server no longer than its bound, and a late answer comes with the next step',
  options,
  async (t) => {
    const rig = new LanguageRig(t, { tells: 'pull', holdsUntil: join('/nonexistent') })
    const gate = join(rig.folder, 'open')
    putServer(rig.bin, { tells: 'pull', holdsUntil: gate })
    assert.deepEqual(await rig.editInVain({ 'a.go': ['error x'] }), { report: undefined, waited: 5_000 })
    assert.equal(rig.servers.news(), undefined)
    assert.deepEqual(await rig.editInVain({ 'a.go': ['error x', 'error y'] }), { report: undefined, waited: 2_000 })
    writeFileSync(gate, '')
    assert.equal(
      await until(() => rig.servers.news()),
      [
        'Go reports 2 errors in a.go after your earlier edit:',
        '- line 1, column 1: x (error)',
        '- line 2, column 1: y (error)',
      ].join('\n'),
    )
    assert.equal(rig.servers.news(), undefined)
  },
)

test('a server that does not answer at all is ended after two edits, and not started for ever', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull', fault: 'silent' })
  for (let edit = 0; edit < 2; edit++) {
    assert.deepEqual((await rig.editInVain({ 'a.go': [`error ${edit}`] })).report, undefined)
    await rig.clock.turn(30_000)
  }
  const [status] = rig.servers.status()
  golden(t, [status!.state, status!.why])
  const pid = rig.pid()
  await until(() => !isAlive(pid))
})

for (const fault of ['dies', 'stillborn', 'garbage', 'floods', 'huge'] as const)
  test(`a server that ${fault} fails no edit, and is started three times at most`, options, async (t) => {
    const rig = new LanguageRig(t, { tells: 'push', fault })
    const states: string[] = []
    for (let edit = 0; edit < 5; edit++) {
      assert.equal(await rig.edit({ 'a.go': [`error ${edit}`] }), undefined)
      await until(() => ['resting', 'failed'].includes(rig.servers.status()[0]!.state))
      states.push(rig.servers.status()[0]!.state)
    }
    assert.deepEqual(states, ['resting', 'resting', 'failed', 'failed', 'failed'])
    golden(t, rig.servers.status()[0]!.why)
    if (fault !== 'stillborn') assert.equal(rig.journal().filter((line) => line.startsWith('initialize')).length, 3)
  })

test('a server that does not answer to its greeting delays the first edit by the bound alone', options, async (t) => {
  const rig = new LanguageRig(t, { fault: 'mute' })
  assert.deepEqual(await rig.editInVain({ 'a.go': ['error x'] }), { report: undefined, waited: 5_000 })
  assert.deepEqual(await rig.editInVain({ 'a.go': ['error y'] }), { report: undefined, waited: 2_000 })
})

test('a server that nobody needs is ended, and started again by the next edit', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  await rig.edit({ 'a.go': ['error x'] })
  const first = rig.pid()
  await until(() => rig.clock.asleep > 0)
  await rig.clock.turn(10 * 60_000)
  await until(() => !isAlive(first))
  assert.equal(rig.servers.status()[0]!.state, 'resting')
  assert.deepEqual(await rig.said({ 'a.go': ['error x', 'error y'] }), [
    'Go reports 2 errors in a.go after this edit; 1 of them is new:',
    '- line 2, column 1: y (error)',
    '1 other error (line 1) was there before this edit.',
  ])
  assert.notEqual(rig.pid(), first)
})

test('servers end with us, also when we are killed', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  const child = join(rig.folder, 'child.ts')
  const from = (path: string) => JSON.stringify(join(import.meta.dirname, path))
  writeFileSync(
    child,
    `import { LanguageServers } from ${from('../../src/languages/language-servers.ts')}
    import { realClock } from ${from('../../src/base/time/clock.ts')}
    import { writeFileSync } from 'node:fs'
    const root = ${JSON.stringify(rig.root)}
    const env = { PATH: ${JSON.stringify(pathOf(rig.bin))} }
    const enclose = async ({ program }) => ({ argv: [program], env, settle: async () => {} })
    const servers = new LanguageServers(root, { clock: realClock, version: '1', shown: (path) => path, enclose })
    const before = await servers.before([root + '/a.go'])
    writeFileSync(root + '/a.go', 'error x')
    await servers.after(before, { root, env, agreed: false, languages: ['go'] }, new AbortController().signal, () => {})
    console.log('ready')
    setInterval(() => {}, 1000)`,
  )
  const run = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(run.stdout, 'data')
  const pid = rig.pid()
  assert.equal(isAlive(pid), true)
  run.kill('SIGKILL')
  await until(() => !isAlive(pid))
})

test('a program of the project starts only after the person agreed', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  const inside = join(rig.root, 'node_modules', '.bin')
  putServer(inside, { tells: 'push' }, 'typescript-language-server')
  assert.equal(await rig.said({ 'a.ts': ['error x'] }), undefined)
  assert.deepEqual(rig.journal(inside), [])
  assert.deepEqual(rig.unused, ['typescript-language-server /project/node_modules/.bin/typescript-language-server'])
  assert.deepEqual(rig.servers.status(), [])
  rig.agreed = true
  await rig.edit({ 'a.ts': ['error y'] })
  assert.equal(rig.journal(inside).filter((line) => line.startsWith('initialize')).length, 1)
})

test('a server on the PATH that would load the project’s own compiler waits for the person too', options, async (t) => {
  const rig = new LanguageRig(t, {})
  putServer(rig.bin, { tells: 'push' }, 'typescript-language-server')
  mkdirSync(join(rig.root, 'node_modules', 'typescript', 'lib'), { recursive: true })
  writeFileSync(join(rig.root, 'node_modules', 'typescript', 'lib', 'tsserver.js'), '')
  assert.equal(await rig.said({ 'a.ts': ['error x'] }), undefined)
  assert.deepEqual(rig.unused, ['typescript-language-server /bin/typescript-language-server'])
  assert.deepEqual(rig.journal(), [])
})

test('files outside the project, of other languages, or unchanged, start nothing', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  rig.write('a.go', ['error x'])
  assert.equal(await rig.said({ '../b.go': ['error x'], 'c.txt': ['error x'], 'a.go': ['error x'] }), undefined)
  assert.deepEqual(rig.journal(), [])
  assert.equal(existsSync(join(rig.folder, 'b.go')), true)
})

test('each Go module has a server of its own, and no more than four run at once', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  for (let at = 0; at < 6; at++) {
    rig.write(`m${at}/go.mod`, [`module m${at}`])
    assert.deepEqual(await rig.said({ [`m${at}/a.go`]: ['error x'] }), [
      `Go reports 1 error in m${at}/a.go after this edit:`,
      '- line 1, column 1: x (error)',
    ])
  }
  assert.deepEqual(
    rig.servers.status().map(({ root, state }) => [root.slice(-2), state]),
    [
      ['m0', 'resting'],
      ['m1', 'resting'],
      ['m2', 'running'],
      ['m3', 'running'],
      ['m4', 'running'],
      ['m5', 'running'],
    ],
  )
})

test('escape sequences of a server do no harm', options, async (t) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  assert.deepEqual(await rig.said({ 'a.go': ['error red \\e[31m and \\e]0;title\\e\\ and \u202eback'] }), [
    'Go reports 1 error in a.go after this edit:',
    '- line 1, column 1: red and and ⟨U+202E⟩back (error)',
  ])
})

test('many errors are counted, and the first ones written out', options, async (t: TestContext) => {
  const rig = new LanguageRig(t, { tells: 'pull' })
  const lines = Array.from({ length: 40 }, (_, at) => `error number ${at + 1}`)
  const said = await rig.said({ 'a.go': lines })
  assert.deepEqual(
    [said!.length, said![0], said!.at(-2), said!.at(-1)],
    [
      12,
      'Go reports 40 errors in a.go after this edit:',
      '- line 10, column 1: number 10 (error)',
      '- and 30 more new errors',
    ],
  )
})
