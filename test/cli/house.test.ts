import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ownerMark } from '../../src/base/process/owner.ts'
import { slugOf } from '../../src/home/project.ts'
import { table } from '../../src/base/text/table.ts'
import { sized } from '../full.ts'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const echo = { echo: 'cat > /dev/null; echo done' }
const writer = { writer: 'cat > /dev/null; date +%s%N > file; echo done' }

/** A mark like ours with another place: its pid is that of a living stranger here. */
const elsewhere = (pid: number) =>
  ownerMark()
    .replace(/^[^,]*/, 'elsewhere')
    .replace(/,\d+,/, `,${pid},`)

test('a turn of another machine is shown, and no process here is stopped for its pid', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.run(['-p', 'hello'])
  const stranger = spawn('sleep', ['60'])
  t.after(() => stranger.kill('SIGKILL'))
  machine.leavePrompt('far-away', elsewhere(stranger.pid!))
  const [turn] = JSON.parse((await machine.run(['ps', '--json'])).out) as Record<string, unknown>[]
  assert.deepEqual({ ...turn, since: 0 }, { turn: 'far-away', since: 0, project: machine.project, prompt: 'far-away' })
  golden(t, await machine.run(['stop', '--all']))
  assert.deepEqual([stranger.exitCode, stranger.signalCode], [null, null])
  const forgot = await machine.run(['forget', '--yes'])
  assert.equal(forgot.code, 0)
  assert.match(
    forgot.err,
    /^termaite: far-away began in .* on another machine at .*, and may still be running there\.$/m,
  )
})

test('forget and uninstall wait for a turn that is at work here; undo shows it and needs --yes', async (t) => {
  const machine = new Machine(t)
  machine.agents(writer)
  await machine.call(['-p', 'hello'])
  machine.leavePrompt('at-work', ownerMark())
  for (const command of ['forget', 'uninstall']) {
    const { code, err } = await machine.call([command, '--yes'])
    golden(t, [code, err], { [machine.folder]: '<machine>' })
  }
  const refused = await machine.call(['undo'])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /^Turn at-work has been running since .*: at-work\ntermaite: undo: nothing was changed/m)
  assert.equal((await machine.call(['undo', '--yes'])).code, 0)
})

test('uninstall deletes the files of termaite and nothing else, and names the files that it left', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.run(['-p', 'hello'])
  await machine.run(['sessions'])
  const project = basename(machine.file('.').replace(/\/$/, ''))
  mkdirSync(join(machine.home, 'projects', 'theirs', 'deep'), { recursive: true })
  for (const folder of ['commands', 'guards', 'quarantine/3k7q0vmx'])
    mkdirSync(join(machine.home, folder), { recursive: true })
  for (const name of [
    'thesis.txt',
    'guards/qwen-0-folders.json',
    'quarantine/3k7q0vmx/0',
    'settings.json.2026-11-15T00-00-00-000Z.bak',
    'TERMAITE.md',
    'commands/review.md',
    'projects/theirs/deep/a',
    `projects/${project}/trees.json`,
  ])
    writeFileSync(join(machine.home, name), 'dear')
  const strangers = ['thesis.txt', 'projects/theirs'].map((name) => join(machine.home, name))
  const [instructions, commands] = ['TERMAITE.md', 'commands'].map((name) => join(machine.home, name))
  const { files } = JSON.parse((await machine.run(['where', '--json'])).out) as {
    files: { path: string; what: string; ours: boolean }[]
  }
  assert.deepEqual(
    files.filter(({ ours }) => !ours).map(({ path, what }) => [path, what]),
    [
      [instructions, 'your own instructions'],
      [commands, 'your own slash commands'],
      ...strangers.map((path) => [path, 'not termaite’s']),
    ],
  )
  const kept = await machine.run(['uninstall', '--yes', '--keep-history'])
  assert.equal(kept.code, 0)
  assert.match(kept.err, new RegExp(`^Kept, because you wrote it: ${instructions}, ${commands}$`, 'm'))
  assert.match(kept.err, new RegExp(`^Kept, because it is not termaite’s: ${strangers.join(', ')}$`, 'm'))
  assert.deepEqual(readdirSync(machine.home).sort(), [
    'TERMAITE.md',
    'commands',
    'projects',
    'quarantine',
    'settings.json',
    'settings.json.2026-11-15T00-00-00-000Z.bak',
    'thesis.txt',
  ])
  assert.deepEqual(readdirSync(join(machine.home, 'projects')).sort(), ['theirs', project])
  assert.equal((await machine.run(['uninstall', '--yes'])).code, 0)
  assert.deepEqual(readdirSync(machine.home).sort(), ['TERMAITE.md', 'commands', 'projects', 'thesis.txt'])
  assert.equal(readFileSync(join(machine.home, 'projects/theirs/deep/a'), 'utf8'), 'dear')
})

test('our compiled code is in a folder of the person’s own, told by where and taken by uninstall', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(machine.folder, 'cache') }
  await machine.run(['-p', 'hello'], { env })
  const cache = join(machine.folder, 'cache', 'termaite')
  assert.match((await machine.run(['where'], { env })).out, new RegExp(`^${cache} .* compiled code`, 'm'))
  assert.equal((await machine.run(['uninstall', '--yes'], { env })).code, 0)
  assert.deepEqual(readdirSync(join(machine.folder, 'cache')), [])
})

test('a file in the place of our home is told, and stays', async (t) => {
  const machine = new Machine(t)
  writeFileSync(machine.home, 'dear')
  for (const command of [['where'], ['uninstall', '--yes']]) {
    const { code, err } = await machine.call(command)
    golden(t, [code, err], { [machine.folder]: '<machine>' })
  }
  assert.equal(readFileSync(machine.home, 'utf8'), 'dear')
})

test('undo goes back turn by turn, and then says that nothing is left', async (t) => {
  const machine = new Machine(t)
  machine.agents(writer)
  await machine.call(['-p', 'one'])
  assert.equal((await machine.call(['undo', '--yes'])).code, 0)
  assert.deepEqual(readdirSync(machine.project), [])
  golden(t, await machine.call(['undo', '--yes']))
  assert.deepEqual(readdirSync(machine.project), [])
})

test('undo without an id goes further back, and redo brings back what each undo took, the last one first', async (t) => {
  const machine = new Machine(t)
  machine.agents({ maker: 'cat >/dev/null; [ -e one ] && touch two || touch one; echo done' })
  await machine.call(['-p', 'first'])
  await machine.call(['-p', 'second'])
  const files = () => readdirSync(machine.project)
  const [, last] = (JSON.parse((await machine.call(['diff', '--list', '--json'])).out) as { turn: string }[]).map(
    ({ turn }) => turn,
  )
  for (const left of [['one'], []]) {
    await machine.call(['undo', '--yes'])
    assert.deepEqual(files(), left)
  }
  const redone = await machine.call(['redo', '--yes'])
  golden(t, [redone.out, redone.err.replace(/\(\w+\)/, '(<id>)')])
  assert.deepEqual(files(), ['one'])
  await machine.call(['redo', '--yes'])
  assert.deepEqual(files(), ['one', 'two'])
  golden(t, await machine.call(['redo', '--yes']))
  // A redo is undone like a turn, and redone again.
  await machine.call(['undo', '--yes'])
  assert.deepEqual(files(), ['one'])
  await machine.call(['redo', last!, '--yes'])
  assert.deepEqual(files(), ['one', 'two'])
  const help = (await machine.call(['undo', '--help'])).out.replaceAll(/\s+/g, ' ')
  golden(t, help)
})

test('an undo that can only leave things says which and why, and gives its plan as JSON', async (t) => {
  const machine = new Machine(t)
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: join(machine.project, 'inner'),
      env: { PATH: process.env.PATH, HOME: machine.folder },
    })
  mkdirSync(join(machine.project, 'inner'))
  git('init', '-q')
  const commit = 'git -C inner -c user.name=u -c user.email=u@e commit -q --allow-empty -m'
  execFileSync('sh', ['-c', `${commit} one`], { cwd: machine.project })
  machine.agents({ committer: `cat > /dev/null; ${commit} two; echo done` })
  await machine.call(['-p', 'one'])
  const { code, out, err } = await machine.call(['undo', '--json'])
  const plan = JSON.parse(out) as { turn: { turn: string }; steps: unknown[]; left: unknown[] }
  assert.deepEqual(
    [code, plan.steps, plan.left, err],
    [
      0,
      [],
      [{ path: 'inner', why: 'it is a repository of its own' }],
      `termaite: inner was left as it is: it is a repository of its own\nTurn ${plan.turn.turn} has no changes to undo.\n`,
    ],
  )
})

test('without git, diff and undo say so; a look at a project that was never used makes nothing', async (t) => {
  const machine = new Machine(t)
  for (const command of ['diff', 'undo']) {
    golden(t, await machine.call([command]))
  }
  assert.equal(existsSync(machine.home), false)
  machine.agents(writer)
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  for (const name of ['bash', 'sh', 'cat', 'date'])
    symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(bin, name))
  const env = { PATH: bin }
  assert.equal((await machine.call(['-p', 'hello'], { env })).code, 0)
  for (const command of [['diff'], ['undo', '--yes'], ['diff', '--list']])
    golden(t, (await machine.call(command, { env })).err)
})

test('without git, review and race say that it is not installed', async (t) => {
  const machine = new Machine(t)
  machine.agents({ ...writer, other: 'cat' })
  for (const args of [
    ['init', '-q'],
    ['-c', 'user.name=u', '-c', 'user.email=u@e', 'commit', '-q', '--allow-empty', '-m', 'x'],
  ])
    execFileSync('git', args, { cwd: machine.project, env: { PATH: process.env.PATH, HOME: machine.folder } })
  const env = { PATH: machine.folder, TERMAITE_DEBUG: '1' }
  for (const command of [['review'], ['review', 'HEAD'], ['race', 'x', '--yes']])
    golden(t, await machine.call(command, { env }))
})

test('in our own home there is nothing to undo: the history is in it', async (t) => {
  const machine = new Machine(t)
  machine.agents(writer)
  const { code, err } = await machine.call(['-p', 'hello'], { cwd: machine.home })
  assert.equal(code, 0)
  golden(t, untimed(err))
  assert.equal((await machine.call(['undo', '--yes'], { cwd: machine.home })).code, 1)
})

test('a project whose document is gone goes on with the session that spoke last', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.call(['-p', 'one'])
  rmSync(machine.file('project.json'))
  await machine.call(['-p', 'two'])
  await machine.call(['-p', 'three'])
  assert.equal(new Set(machine.history().map(({ session }) => session)).size, 1)
})

test('a run without a name never falls into a named session', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.call(['-p', 'one', '--session', 'side'])
  await machine.call(['-p', 'two'])
  assert.equal(new Set(machine.history().map(({ session }) => session)).size, 2)
})

const torn = '{"path": "/a'
const strange = '{"path":"/a","sessions":{"s":null}}'
for (const broken of sized([torn, strange], [torn, '{}', '[]', 'null', strange]))
  test(`a damaged document of a project is set aside, and the conversation goes on: ${broken}`, async (t) => {
    const machine = new Machine(t)
    machine.agents(echo)
    await machine.call(['-p', 'one'])
    const file = machine.file('project.json')
    writeFileSync(file, broken)
    const { code, err } = await machine.call(['-p', 'two'])
    assert.equal(code, 0, err)
    const [aside] = readdirSync(join(file, '..')).filter((name) => name.endsWith('.broken'))
    assert.equal(readFileSync(join(file, '..', aside!), 'utf8'), broken)
    golden(t, untimed(err), { [machine.folder]: '<machine>', [machine.slug]: '<slug>', [aside!]: '<aside>' })
    assert.equal(new Set(machine.history().map(({ session }) => session)).size, 1)
    assert.doesNotMatch((await machine.call(['-p', 'three'])).err, /damaged/)
  })

test('rename and resume without a known project say what to do, and work in its folder', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.call(['-p', 'one'])
  const { session } = machine.history()[0]!
  for (const command of [
    ['sessions', 'rename', session, 'a name'],
    ['sessions', 'resume', session],
  ]) {
    rmSync(machine.file('project.json'))
    const { code, err } = await machine.call(command, { cwd: machine.folder })
    golden(t, [code, err], { [session]: '<session>' })
    assert.equal((await machine.call(command)).code, 0)
  }
  await machine.call(['-p', 'two'])
  assert.equal(new Set(machine.history().map((entry) => entry.session)).size, 1)
})

test('compact makes no session, and no session has an empty name', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  golden(t, await machine.call(['compact']))
  assert.equal(existsSync(join(machine.home, 'projects')), false)
  await machine.call(['-p', 'one'])
  const before = readFileSync(machine.file('project.json'), 'utf8')
  const { code, err } = await machine.call(['compact', '--session', 'nope'])
  golden(t, [code, err])
  for (const args of [['compact'], ['-p', 'x']])
    assert.deepEqual(
      [(await machine.call([...args, '--session', ''])).err],
      ['termaite: --session needs a <name>, but it is empty.\n'],
    )
  assert.equal(readFileSync(machine.file('project.json'), 'utf8'), before)
})

test('usage --since a date begins at midnight in the time zone of the caller', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.run(['-p', 'one'])
  const lines = machine.history().map((entry) => JSON.stringify({ ...entry, at: Date.UTC(2026, 0, 1, 20) }))
  writeFileSync(machine.file('history.jsonl'), `${lines.join('\n')}\n`)
  const rows = async (TZ: string) =>
    (
      JSON.parse(
        (await machine.run(['usage', '--json', '--by', 'agent', '--since', '2026-01-02'], { env: { TZ } })).out,
      ) as unknown[]
    ).length
  assert.deepEqual([await rows('UTC'), await rows('Asia/Tokyo')], [0, 1])
})

test('forget knows a project by a link to it, by a folder in it, and by its name in our home', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  mkdirSync(join(machine.project, '.git'))
  mkdirSync(join(machine.project, 'deep'))
  symlinkSync(machine.project, join(machine.folder, 'link'))
  for (const typed of ['link', 'project/deep', slugOf(machine.project)]) {
    await machine.run(['-p', 'one'])
    for (const crew of [`${slugOf(machine.project)}.s1`, 'docs'])
      mkdirSync(join(machine.home, 'crew', crew), { recursive: true })
    const { code, out } = await machine.run(['forget', typed, '--yes'], { cwd: machine.folder })
    golden(t, [code, out], { [machine.folder]: '<machine>' })
    assert.deepEqual(
      ['projects', 'crew'].map((part) => readdirSync(join(machine.home, part))),
      [[], ['docs']],
    )
  }
  await machine.run(['-p', 'one'])
  rmSync(machine.file('project.json'))
  assert.equal((await machine.run(['forget', '--yes'])).code, 0, 'also one whose document is lost')
  assert.deepEqual(readdirSync(join(machine.home, 'projects')), [])
})

test('a slug keeps the letters of every script, fits in a file name, and is another for every path', () => {
  assert.match(slugOf('/home/u/my code'), /^home-u-my-code-[0-9a-z]{11}$/)
  assert.match(slugOf('/дом/проект'), /^дом-проект-[0-9a-z]{11}$/)
  assert.match(slugOf('/家/計画 一'), /^家-計画-一-[0-9a-z]{11}$/)
  assert.match(slugOf('/'), /^root-[0-9a-z]{11}$/)
  assert.match(slugOf('/a/\n/../\u0000'), /^[^/\n\0]+$/)
  for (const long of ['x', '計', '𠮷', 'é']) {
    const slug = slugOf(`/${long.repeat(1000)}`)
    assert.ok(Buffer.byteLength(slug) <= 92 && slug.startsWith(long), slug)
  }
  assert.notEqual(slugOf('/a-b'), slugOf('/a/b'))
})

test('names with control characters cannot break a table', () => {
  assert.equal(
    table([
      ['a\nb\x1b[31m', 'x\ty'],
      ['é'.repeat(200), 'z'],
    ]),
    [`a\\nb${' '.repeat(155)}  x\\ty`, `${'é'.repeat(79)}…${'é'.repeat(79)}  z`].join('\n'),
  )
})

test('a folder with a newline in its name is one row of where', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  const odd = join(machine.folder, 'two\nlines')
  mkdirSync(odd)
  await machine.call(['-p', 'one'], { cwd: odd })
  const { out } = await machine.call(['where'])
  assert.match(out, /conversations of .*two\\nlines$/m)
})

test('a turn that was cut off ends where the next one began, and is undone only by name', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: 'cat >/dev/null; echo x > half; kill -9 $PPID; sleep 60' })
  await machine.run(['-p', 'cut off'])
  machine.agents({ good: 'cat >/dev/null; echo y > whole; echo ok' })
  await machine.run(['-p', 'the next'])
  writeFileSync(join(machine.project, 'mine'), 'by hand')
  assert.equal((await machine.run(['undo', '--yes'])).code, 0)
  assert.deepEqual(readdirSync(machine.project).sort(), ['half', 'mine'])
  const refused = await machine.run(['undo', '--yes'])
  const named = /To undo it anyway: termaite undo (\w+) --yes\n$/.exec(refused.err)?.[1]
  assert.deepEqual({ code: refused.code, named: named !== undefined }, { code: 1, named: true })
  golden(t, refused.err, { [named!]: '<named>' })
  assert.equal((await machine.run(['undo', named!, '--yes'])).code, 0)
  assert.deepEqual(readdirSync(machine.project), ['mine'])
})
