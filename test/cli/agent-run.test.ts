import { test } from 'node:test'
import assert from 'node:assert/strict'
import { diffText } from '../hub/engine/diff-text.ts'
import { spawnSync } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { shortHash } from '../../src/base/hash.ts'
import { slugOf } from '../../src/home/project.ts'
import { ProgramWindow } from '../screen/program-window.ts'
import { until } from '../until.ts'
import { machineAtWork } from './agent-machine.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }
const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'there is no tmux here'

test(
  'a task is done without a screen, reported, kept and resumed; a damaged session is left aside',
  options,
  async (t) => {
    const { machine, hub, env, settled, add, git, folder, session } = await machineAtWork(t)
    const id = await add('Say something.')
    const args = ['agent', '--start=fake', '--capability', 'typescript']
    const first = machine.start(args, { env })
    let lines = ''
    first.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
    const [task] = await settled([id])
    first.kill('SIGTERM')
    assert.deepEqual(await once(first, 'exit'), [143, null])
    assert.deepEqual([task!.state, task!.result], ['COMPLETED', { message: 'answer 2' }])
    const [agent] = await hub.agents()
    const { hubId, ...kept } = session()
    assert.deepEqual(
      [agent!.id, agent!.role, agent!.capabilities, agent!.workspace, agent!.source],
      [hubId, 'orc', ['fake', 'typescript'], machine.project, 'CLI'],
    )
    assert.deepEqual([kept.agent, kept.workflow, kept.host, kept.flight], ['fake', 'orc', 'pty', undefined])
    assert.match(kept.lastOutput, /answer 2/)
    assert.match(
      lines,
      /Tokens: [\d,]+ \([\d,]+ estimated\)\nResume with: termaite agent --start=fake --as=orc --resume\n$/,
    )
    assert.equal(git('status', '--porcelain'), '', 'nothing of ours is seen by git')
    assert.deepEqual(git('branch', '--format=%(refname:short)', '--list', 'termaite/agent*'), '')
    const [log] = readdirSync(folder('logs'))
    assert.match(log!, /^fake-\d{4}-\d\d-\d\dT[\d-]+Z\.log$/)
    const rows = readFileSync(join(folder('logs'), log!), 'utf8')
      .trimEnd()
      .split('\n')
    assert.deepEqual(
      rows.filter((row) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /.test(row)),
      [],
    )

    const { out } = await machine.run(['sessions', 'show', hubId])
    assert.match(out, /Say something\.[^]*answer 2/, 'its turns are a session of the project')
    assert.match((await machine.run(['usage'])).out, /^fake /m)

    mkdirSync(join(folder('sessions'), 'zz'))
    writeFileSync(join(folder('sessions'), 'zz', 'session.json'), '{"agent": "fa')
    const again = machine.start(['agent', '--resume'], { env })
    t.after(() => again.kill('SIGKILL'))
    lines = ''
    again.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
    await settled([await add('Say more.')])
    again.kill('SIGTERM')
    await once(again, 'exit')
    assert.match(lines, /zz\/session\.json is damaged and is ignored\./)
    assert.deepEqual(
      (await hub.agents()).map((one) => one.id),
      [hubId],
      'it is the same agent at the hub',
    )
  },
)

test('the screen is the CLI’s, Ctrl+C is ours, and its title tells how it goes', options, async (t) => {
  const { machine, env } = await machineAtWork(t)
  const window = new ProgramWindow(machine, { args: ['agent', '--start=fake', '--here'], env })
  t.after(() => window.close())
  const titles: string[] = []
  window.emulator.onTitleChange((title) => titles.push(title))
  await window.shows('Ctrl+C asks whether to exit')
  await window.shows('answer 1')
  await window.shows(() => titles.at(-1) === 'fake · waiting for a task')
  window.type('abc')
  await window.shows(/> abc/)
  window.type('\u0003')
  await window.shows('The session is saved. Exit or continue? [e/c]')
  window.type('c\r')
  await window.shows(/> abc/)
  window.type('\u0003')
  await window.shows('Exit or continue? [e/c]')
  window.type('\u0003')
  assert.equal((await window.exited).exitCode, 130)
  assert.match(window.scrollback(), /Resume with: termaite agent --start=fake --as=orc --here --resume/)
})

test(
  'in tmux the CLI goes on without termaite, and is taken up where it was',
  { ...options, skip: noTmux },
  async (t) => {
    const { machine, env, settled, add, gate, session, flying } = await machineAtWork(t, 'slow')
    const socket = `termaite-${shortHash(machine.home)}`
    t.after(() => spawnSync('tmux', ['-L', socket, 'kill-server']))
    const args = ['agent', '--start=fake', '--tmux']
    const first = machine.start(args, { env })
    t.after(() => first.kill('SIGKILL'))
    await flying()
    // Before the CLI is at work there is nothing that could go on.
    const tmux = (...words: string[]) => spawnSync('tmux', ['-L', socket, ...words], { encoding: 'utf8' }).stdout
    const panes = () => tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n').filter(Boolean)
    await until(() => panes().some((pane) => tmux('capture-pane', '-p', '-t', pane).includes('half of answer 1')))
    first.kill('SIGKILL')
    await once(first, 'exit')
    const { terminal } = session()
    writeFileSync(gate, '')
    const second = machine.start([...args, '--resume'], { env })
    t.after(() => second.kill('SIGKILL'))
    const [task] = await settled([await add('Say something.')])
    second.kill('SIGTERM')
    await once(second, 'exit')
    // A CLI that was started or asked again would count otherwise.
    assert.deepEqual([task!.state, task!.result], ['COMPLETED', { message: 'answer 2' }])
    assert.equal(session().terminal, terminal)
    assert.equal(spawnSync('tmux', ['-L', socket, 'list-panes', '-a']).status, 0, 'it lives on')
    const processes: any[] = JSON.parse((await machine.run(['ps', '--json'])).out)
    const [lone] = processes.filter((one) => one.terminal !== undefined)
    assert.deepEqual([lone.terminal, lone.of], [`terminal:${terminal.slice(0, 8)}`, 'session'])
    assert.equal((await machine.run(['crew', 'close', '--yes'])).code, 0)
    assert.equal(spawnSync('tmux', ['-L', socket, 'list-panes', '-a']).status, 0, 'it is no agent of a crew')
    assert.equal((await machine.run(['stop', lone.terminal])).code, 0)
    assert.notEqual(spawnSync('tmux', ['-L', socket, 'list-panes', '-a']).status, 0, 'it has ended')
  },
)

test(
  'the worktree stays under a CLI that lives on in tmux; a CLI whose worktree is gone is started again in a new one',
  { ...options, skip: noTmux },
  async (t) => {
    const { machine, env, settled, add, session, hub } = await machineAtWork(t)
    const socket = `termaite-${shortHash(machine.home)}`
    t.after(() => spawnSync('tmux', ['-L', socket, 'kill-server']))
    const shell = () =>
      spawnSync('tmux', ['-L', socket, 'list-panes', '-a', '-F', '#{pane_pid}'], { encoding: 'utf8' }).stdout.trim()
    /** Runs the agent until it has done a task; returns the process of its pane and what the agent said. */
    const worked = async (...more: string[]) => {
      const child = machine.start(['agent', '--start=fake', '--tmux', ...more], { env })
      t.after(() => child.kill('SIGKILL'))
      let lines = ''
      child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
      await settled([await add('Say something.')])
      // The worktree of an agent without a task is clean, and would be removed.
      await until(() => session().flight === undefined && /waiting for a task\n$/.test(lines))
      const pid = shell()
      child.kill('SIGTERM')
      await once(child, 'exit')
      return { pid, lines }
    }
    const first = await worked()
    const { path } = session().worktree
    assert.match(first.lines, new RegExp(`its worktree ${path} is kept: fake still runs in it`))
    const { ino } = statSync(path)
    const second = await worked('--resume')
    assert.deepEqual([second.pid, statSync(path).ino, readlinkSync(`/proc/${first.pid}/cwd`)], [first.pid, ino, path])
    rmSync(path, { recursive: true })
    const third = await worked('--resume')
    const now = session().worktree.path
    assert.notEqual(third.pid, first.pid)
    assert.deepEqual([existsSync(now), readlinkSync(`/proc/${third.pid}/cwd`)], [true, now])
    assert.equal((await hub.agents()).length, 1)
  },
)

test('of two processes that resume one session at the same moment, one has it', options, async (t) => {
  const { machine, env, flying } = await machineAtWork(t)
  const first = machine.start(['agent', '--start=fake'], { env })
  t.after(() => first.kill('SIGKILL'))
  await flying()
  first.kill('SIGKILL')
  await once(first, 'exit')
  // A hub that answers nobody holds each process between its look at the session and its start.
  let held = 0
  const silent = createServer(() => held++).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => (silent.closeAllConnections(), silent.close()))
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const resumed = Array.from({ length: 4 }, () => {
    const child = machine.start(['agent', '--resume'], { env: { TERMAITE_HUB: url } })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    return { child, said: () => said }
  })
  const ended = () => resumed.filter(({ child }) => child.exitCode !== null)
  await until(() => ended().length >= 3 || held >= 4)
  golden(
    t,
    ended().map(({ child, said }) => [child.exitCode, said()]),
  )
})

test(
  'an agent is resumed on the leash, at the hub and with the capabilities that it was started with',
  options,
  async (t) => {
    const { machine, hub, env, folder, session } = await machineAtWork(t)
    // Another address of the same hub, which only the option names.
    const server = env.TERMAITE_HUB.replace('127.0.0.1', 'localhost')
    const atWork = async (...args: string[]) => {
      const child = machine.start(['agent', '--start=fake', ...args])
      t.after(() => child.kill('SIGKILL'))
      let said = ''
      child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
      await until(() => said.includes('waiting for a task'))
      const [{ capabilities } = assert.fail(said)] = (await hub.agents()).filter(({ id }) => id === session().hubId)
      child.kill('SIGTERM')
      await once(child, 'exit')
      return capabilities
    }
    const planned = async (...args: string[]) => {
      const { out } = await machine.call(['agent', '--start=fake', '--resume', '--dry-run', ...args])
      return ['agent', 'hub'].map((row) => out.split('\n').find((line) => line.startsWith(`${row} `)))
    }
    const options = ['--leash', 'read', '--server', server, '--capability', 'talk', '--capability', 'sing']
    assert.deepEqual(await atWork(...options), ['fake', 'talk', 'sing'])
    // The agent can write the state of its session, and gains nothing by that.
    const file = join(folder('sessions'), session().id, 'session.json')
    writeFileSync(file, JSON.stringify({ ...session(), leash: 'all', server: 'http://127.0.0.1:1' }))
    const masks = { [server]: '<server>', [session().hubId]: '<id>' }
    golden(t, await planned(), masks)
    assert.deepEqual(await atWork('--resume', '--leash', 'ask', '--capability', 'dance'), ['fake', 'dance'])
    golden(t, await planned(), masks)
  },
)

test('an agent whose key was revoked says so, and how it is resumed', options, async (t) => {
  const { machine, env } = await machineAtWork(t)
  const { out } = await machine.call(['hub', 'keys', 'add', 'worker', '--role', 'agent'], { env })
  const child = machine.start(['agent', '--start=fake'], { env: { ...env, TERMAITE_HUB_KEY: out.trim() } })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  await until(() => said.includes('waiting for a task'))
  assert.equal((await machine.call(['hub', 'keys', 'revoke', 'worker'], { env })).code, 0)
  assert.deepEqual(await once(child, 'exit'), [1, null])
  assert.match(
    said,
    /^fake: gave up: the hub at \S+ no longer knows the key of worker\. Resume .*\(termaite hub keys add\)\.$/m,
  )
  assert.match(said, /^Resume with: termaite agent --start=fake --as=orc --resume$/m)
  assert.doesNotMatch(said, /internal error/)
})

test('an agent of the crew takes tasks of the hub as long as it is told to', options, async (t) => {
  const { machine, hub, env, settled, add, git, gate, start } = await machineAtWork(t, 'slow')
  const { agents, leash } = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
  machine.settings({ agents, leash, terminals: { host: 'pty' } })
  const spawned = await machine.call(['crew', 'spawn', 'fake', '--worktree', '--json'], { env })
  assert.equal(spawned.code, 0, spawned.err)
  const serving = start(['agent', '--slot', '1', '--capability', 'talk', '--machine-name', 'build-7'])
  const id = await add('Say more.')
  await until(() => git('branch', '--list', 'termaite/task-*') !== '')
  const worktree = join(machine.home, 'worktrees', slugOf(machine.project), 'slot-1')
  writeFileSync(join(worktree, 'more.txt'), 'more\n')
  writeFileSync(gate, '')
  const [task] = await settled([id])
  assert.deepEqual(
    [task!.state, task!.agent, task!.result?.message],
    ['IN_REVIEW', `fake-slot-1-${shortHash(machine.project).slice(-4)}`, 'answer 1'],
  )
  assert.match(await diffText(hub, task!), /^\+more$/m)
  const [agent] = await hub.agents()
  assert.deepEqual(
    [agent!.source, agent!.capabilities, agent!.status?.machine, task!.tries![0]!.machine],
    ['CLI', ['fake', 'talk'], 'build-7', 'build-7'],
  )
  serving.child.kill('SIGTERM')
  await once(serving.child, 'exit')
  assert.equal((await machine.call(['crew', 'close', '--yes'], { env })).code, 0)
})

test(
  'a task of a crew agent is sent once, however often its process is stopped, and one process at a time gives tasks',
  options,
  async (t) => {
    const { machine, env, settled, add, gate, hub } = await machineAtWork(t, 'slow')
    const { agents, leash } = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
    machine.settings({ agents, leash, terminals: { host: 'pty' } })
    assert.equal((await machine.call(['crew', 'spawn', 'fake'], { env })).code, 0)
    const serve = () => {
      const child = machine.start(['agent', '--slot', '1'], { env })
      t.after(() => child.kill('SIGKILL'))
      return child
    }
    const id = await add('Say more.')
    const given = (times: number) =>
      until(async () => {
        const { state, history } = await hub.task(id)
        return state === 'ASSIGNED' && history.filter((one) => one.state === 'PENDING_ACK').length === times
      })
    const shown = async () => (await machine.call(['crew', 'read', '1', '--lines', '500'], { env })).out
    const first = serve()
    await given(1)
    await until(async () => (await shown()).includes('half of answer 1'))
    const refused = await machine.call(['agent', '--slot', '1'], { env })
    golden(t, [refused.code, refused.err], { [first.pid!]: '<pid>' })
    first.kill('SIGTERM')
    await once(first, 'exit')
    const second = serve()
    await given(2)
    second.kill('SIGKILL')
    await once(second, 'exit')
    const third = serve()
    await given(3)
    writeFileSync(gate, '')
    const [task] = await settled([id])
    assert.deepEqual([task!.state, task!.result?.message], ['COMPLETED', 'answer 1'])
    third.kill('SIGTERM')
    await once(third, 'exit')
    assert.equal((await shown()).split('Say more.').length - 1, 1)
    assert.equal((await machine.call(['crew', 'close', '--yes'], { env })).code, 0)
    assert.equal((await machine.call(['crew', 'close', '--yes'], { env })).code, 0)
  },
)
