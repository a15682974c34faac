import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { shortHash } from '../../src/base/hash.ts'
import { fullOnly } from '../full.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { until } from '../until.ts'
import { ended, Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

const handoff = {
  what_was_done: 'Did it.',
  evidence: ['a.txt:1'],
  unresolved_risks: [],
  exact_next_step: 'None.',
  status: 'completed',
}

const wish = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  prompt: `Task ${name}`,
  role: 'implementer',
  ...more,
})

/** A repository with a test of its own, in which our own agent leads; `worker` answers as our own agent in a task. */
async function repository(
  t: TestContext,
  workers: readonly object[],
  worker: (task: string, asked: Asked) => Answer = () => ({ text: JSON.stringify(handoff) }),
  foreign = '',
  more: Record<string, unknown> = {},
) {
  let led = 0
  const server = await modelServer((asked) => {
    const task = /<task>\\nTask (\w+)/.exec(JSON.stringify(asked.body))?.[1]
    if (task !== undefined) return worker(task, asked)
    led++
    if (led === 1) return { call: { tool: 'spawn_workers_batch', input: { workers } } }
    return led === 2 ? { call: { tool: 'await_workers', input: {} } } : { text: 'worker_1 and worker_2 are done.' }
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const { project } = machine
  const native = {
    name: 'native',
    kind: 'native',
    model: 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  // A command that the person wrote, which nothing holds.
  const other = { name: 'foreign', command: join(machine.folder, 'foreign.sh'), contextWindowTokens: 100_000 }
  writeFileSync(other.command, `#!/bin/sh\ncat >/dev/null\n${foreign}\n`, { mode: 0o755 })
  const { agents = [], ...rest } = more as { agents?: object[] }
  machine.settings({ metaInstruction: false, agents: [native, other, ...agents], leash: 'edit', ...rest })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: machine.folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const scripts = { test: 'node check.cjs' }
  writeFileSync(join(project, 'check.cjs'), "for (const n of ['one', 'two']) require('fs').statSync(n + '.txt')")
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'p', scripts }))
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'one')
  writeFileSync(join(project, 'a.txt'), 'not committed\n')
  const read = (path: string) =>
    existsSync(join(project, path)) ? readFileSync(join(project, path), 'utf8') : undefined
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  const start = () => {
    const child = machine.start(['--mode', 'coordinator', '-p', 'do both'], { env })
    child.stdin!.end()
    return child
  }
  const run = async () => {
    const { code, err, out } = await ended(start())
    assert.equal(code, 0, err)
    const led = server.turns().filter(({ body }) => !JSON.stringify(body).includes('You are a worker:'))
    const messages = led.at(-1)!.body.messages as { content: unknown }[]
    // The handoffs as the coordinator was told them.
    const told = JSON.stringify(messages.map(({ content }) => content))
    return { told, out }
  }
  return { machine, project, server, read, run, start }
}

const results = ({ body }: Asked) => JSON.stringify(body).split('"tool_result"').length - 1

test(
  'a second implementer works in a copy; both changes are in the project, and its tests run on them',
  options,
  async (t) => {
    const copies = new Map<string, string | undefined>()
    const { read, run, machine } = await repository(
      t,
      [wish('one', { scope: ['one.txt'] }), wish('two', { scope: ['two.txt'] })],
      (task, asked) => {
        copies.set(task, /apart-\w+/.exec(JSON.stringify(asked.body))?.[0])
        if (results(asked) > 0) return { text: JSON.stringify(handoff) }
        return { call: { tool: 'file_creator', input: { file_path: `${task}.txt`, content: `${task}\n` } } }
      },
    )
    const { told } = await run()
    assert.deepEqual([read('one.txt'), read('two.txt'), read('a.txt')], ['one\n', 'two\n', 'not committed\n'])
    assert.equal(told.split('\\"changed_paths\\"').length - 1, 2)
    // Without a sandbox nobody is there to allow a program of the project, and the risk is told.
    const checked = noSandbox
      ? /A check of the project did not run: `npm test` was not allowed/
      : /After the changes were brought into the project, `npm test` exited with 0\./
    assert.match(told, checked)
    assert.equal(copies.get('one'), undefined)
    assert.match(copies.get('two')!, /^apart-/)
    assert.equal(existsSync(join(machine.home, 'worktrees')), false, 'the copy is gone')
  },
)

test(
  'an agent of another program may implement in a copy; its changes elsewhere are named before anything is merged',
  options,
  async (t) => {
    const { machine, read, run, project } = await repository(
      t,
      [wish('one', { agent: 'foreign', scope: ['one.txt'] })],
      undefined,
      [
        'echo one > one.txt',
        'echo stray > stray.txt',
        'echo strange > $REAL/from-the-copy.txt',
        `echo '${JSON.stringify(handoff)}'`,
      ].join('\n'),
    )
    writeFileSync(
      join(machine.folder, 'foreign.sh'),
      readFileSync(join(machine.folder, 'foreign.sh'), 'utf8').replace('$REAL', project),
      { mode: 0o755 },
    )
    const { told } = await run()
    assert.deepEqual([read('one.txt'), read('stray.txt')], [undefined, undefined])
    assert.match(told, /\\"outside\\": \[\\n  \\"stray\.txt\\",\\n  \\"from-the-copy\.txt\\"\\n \]/)
    assert.match(told, /\\"model\\":\\"its default model\\"/)
    assert.match(told, /stray\.txt \(outside of its scope\)/)
    const [, copy] = /\\"copy\\": \\"([^\\]+)\\"/.exec(told)!
    assert.equal(readFileSync(join(copy!, 'stray.txt'), 'utf8'), 'stray\n')
  },
)

test('our own agent in a copy cannot write into the project itself', options, async (t) => {
  const { read, run, project, server } = await repository(t, [wish('one', { worktree: true })], (_, asked) => {
    const place = join(project, 'stolen.txt')
    const done = results(asked)
    if (done === 0) return { call: { tool: 'file_creator', input: { file_path: place, content: 'x' } } }
    if (done === 1) return { call: { tool: 'bash', input: { command: `echo x > ${place}` } } }
    return { text: JSON.stringify(handoff) }
  })
  const { told } = await run()
  assert.equal(read('stolen.txt'), undefined, told)
  const asked = server.turns().filter(({ body }) => JSON.stringify(body).includes('You are a worker:'))
  assert.equal(results(asked.at(-1)!), 2)
})

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'there is no tmux here'

/** A program in a terminal that writes a file where it is started. */
function inTerminal(...modes: string[]) {
  const cli = [process.execPath, fake, '/dev/null', 'scroll', ...modes].join(' ')
  const screen = { kind: 'screen', idle_pattern: '^> ?$', response_fence: true, contextWindowTokens: 100_000 }
  return { name: 'seen', command: `echo made > made.txt; exec ${cli}`, ...screen }
}

/** The processes of a machine that still run. */
const left = ({ folder }: Machine) =>
  spawnSync('pgrep', ['-af', folder], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '' && !line.includes('pgrep'))

for (const host of ['tmux', 'pty'] as const) {
  // Where there is no tmux, the built-in terminal shows the same.
  const skip = host === 'tmux' ? noTmux : noTmux ? false : fullOnly
  test(
    `${host}: a worker in a terminal changes a copy, its work comes back, and it ends`,
    { ...options, skip },
    async (t) => {
      const say = `say:${encodeURIComponent(JSON.stringify({ ...handoff, changed_paths: ['made.txt'] }))}`
      const workers = [wish('one', { agent: 'seen', where: 'terminal', scope: ['made.txt'] })]
      const more = { agents: [inTerminal(say)], terminals: { host } }
      const { machine, read, run } = await repository(t, workers, undefined, '', more)
      t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
      const { told } = await run()
      assert.equal(read('made.txt'), 'made\n', told)
      assert.match(told, /by seen in a copy of the project/)
      assert.match(told, /\\"changed_paths\\": \[\\n {2}\\"made\.txt\\"\\n \]/)
      assert.deepEqual([left(machine), existsSync(join(machine.home, 'worktrees'))], [[], false])
    },
  )
}

test(
  'a worker in a terminal ends with its coordinator, and its unfinished work is kept',
  { ...options, skip: noTmux },
  async (t) => {
    const workers = [wish('one', { agent: 'seen', where: 'terminal' })]
    const more = { agents: [inTerminal('never')], terminals: { host: 'tmux' } }
    const { machine, read, start } = await repository(t, workers, undefined, '', more)
    t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
    const child = start()
    const copies = join(machine.home, 'worktrees')
    await until(() => globSync('*/apart-*/made.txt', { cwd: copies }).length === 1)
    await until(() => /"taken": true/.test(slotsOf(machine).join()))
    child.kill('SIGINT')
    const { code, err } = await ended(child)
    assert.deepEqual([code, left(machine), read('made.txt')], [130, [], undefined], err)
    const [made] = globSync('*/apart-*/made.txt', { cwd: copies })
    assert.equal(readFileSync(join(copies, made!), 'utf8'), 'made\n')
  },
)

test('the work of a worker whose termaite was killed is kept, and the next turn is told where', options, async (t) => {
  const workers = [wish('one', { agent: 'foreign', scope: ['one.txt'] })]
  const { machine, read, run, start } = await repository(t, workers, undefined, 'echo half > one.txt; exec sleep 1000')
  const child = start()
  const copies = join(machine.home, 'worktrees')
  const halves = () => globSync('*/apart-*/one.txt', { cwd: copies })
  await until(() => halves().length === 1)
  child.kill('SIGKILL')
  await ended(child)
  const { out } = await run()
  assert.deepEqual([read('one.txt'), readFileSync(join(copies, halves()[0]!), 'utf8')], [undefined, 'half\n'])
  const lost = join(copies, halves()[0]!, '..')
  // The coordinator does not read the handoff, so that termaite adds it to the answer.
  golden(t, out, { [machine.folder]: '<machine>', [machine.slug]: '<slug>', [lost]: '<lost>' })
})

/** The slots of the crew of the coordinator, as they lie on disk. */
const slotsOf = ({ home }: Machine): string[] =>
  globSync('crew/**/slots.json', { cwd: home }).map((path) => readFileSync(join(home, path), 'utf8'))
