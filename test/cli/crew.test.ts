import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { shortHash } from '../../src/base/hash.ts'
import { slugOf } from '../../src/home/project.ts'
import { Machine, start } from './program.ts'
import { killed } from '../base/alive.ts'
import { until } from '../until.ts'
import { sized } from '../full.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'there is no tmux here'

/** A machine whose agents are fake CLIs in real terminals: `slow` ones answer when the gate is opened. */
class CrewMachine extends Machine {
  readonly #gate: string
  /** Writes the settings, with these about terminals. */
  readonly set: (terminals?: object) => void

  constructor(context: TestContext, host: 'tmux' | 'pty') {
    super(context)
    this.#gate = join(this.folder, 'gate')
    const command = (...modes: string[]) => [process.execPath, fake, this.#gate, 'scroll', ...modes].join(' ')
    const agent = (...modes: string[]) => ({ command: command(...modes), idle_pattern: '^> ?$', response_fence: true })
    const unmarked = { ...agent(), response_fence: false }
    const agents = { quick: agent(), says: agent('say:two%20faults'), slow: agent('slow'), unmarked }
    this.set = (terminals = {}) => this.settings({ terminals: { host, ...terminals }, leash: 'edit', agents })
    this.set()
    execFileSync('mkfifo', [this.#gate])
    // A test that failed leaves nothing either.
    context.after(() => {
      spawnSync('tmux', ['-L', `termaite-${shortHash(this.home)}`, 'kill-server'])
      for (const line of this.left()) killed(Number(line.split(' ')[0]))
    })
  }

  crew(...args: string[]) {
    return this.run(['crew', ...args])
  }

  async json(...args: string[]): Promise<any> {
    const { code, out, err } = await this.crew(...args, '--json')
    assert.ok(code === 0, err)
    return JSON.parse(out)
  }

  /** Lets every agent go on that waits at the gate; an agent that comes to it later waits again. */
  open(): void {
    try {
      closeSync(openSync(this.#gate, constants.O_WRONLY | constants.O_NONBLOCK))
    } catch {
      // No agent waits at the gate.
    }
  }

  /** The processes of this machine that still run: each has the machine's folder in its command line. */
  left(): string[] {
    const { stdout } = spawnSync('pgrep', ['-af', this.folder], { encoding: 'utf8' })
    return stdout.split('\n').filter((line) => line !== '' && !line.includes('pgrep'))
  }

  async killKeeper(): Promise<void> {
    const keepers: any[] = JSON.parse((await this.run(['ps', '--json'])).out)
    killed(keepers.find((one) => one.process === 'keeper').pid)
  }

  async gone(): Promise<void> {
    await until(() => this.left().length === 0)
  }
}

for (const host of ['tmux', 'pty'] as const)
  test(
    `${host}: two agents in a chain from the shell, and nothing left when it is closed`,
    { skip: host === 'tmux' && noTmux },
    async (context) => {
      const machine = new CrewMachine(context, host)
      const first = await machine.json('spawn', 'says', 'audit the code')
      assert.deepEqual([first.slot, first.agent_type, first.state], [1, 'says', 'starting'])
      const second = await machine.json('spawn', 'quick', 'sum up: {{slot_1.output}}', '--depends-on', '1')
      assert.equal(second.slot, 2)
      const waited = await machine.json('wait', '2', '--timeout', '60')
      assert.deepEqual([waited.is_idle, waited.state, waited.by], [true, 'idle', 'fence'])
      assert.equal((await machine.crew('artifact', '1')).out, 'two faults\n')
      assert.deepEqual(await machine.json('artifact', '2'), {
        slot: 2,
        output: 'answer 1',
        truncated: false,
        fenced: true,
      })
      const { output } = await machine.json('read', '2', '--clean')
      assert.match(output, /sum up: <output slot="1">\s+two faults\s+<\/output>/)
      await machine.json('send', '1', 'again')
      assert.equal((await machine.json('wait', '1', '--timeout', '60')).is_idle, true)
      assert.deepEqual(await machine.json('kill', '1'), { slot: 1, killed: true })
      const { agents } = await machine.json('list')
      assert.deepEqual(
        agents.map(({ slot, state, why }: any) => [slot, state, why]),
        [
          [1, 'exited', 'killed'],
          [2, 'idle', undefined],
        ],
      )
      assert.deepEqual(await machine.json('close', '--yes'), { ended: 1, kept: [] })
      await machine.gone()
    },
  )

test(
  'kill -9 of the server with five at work: the next one lists, waits, reads, and sends nothing twice',
  { skip: noTmux },
  async (context) => {
    const machine = new CrewMachine(context, 'tmux')
    const first = new Client(context, machine.start(['mcp', 'serve']))
    for (let slot = 1; slot <= 5; slot++) {
      const made = await first.call('spawn_agent', { type: 'slow', task: `task number ${slot}` })
      assert.equal(made.slot, slot)
    }
    for (let slot = 1; slot <= 5; slot++) {
      const wishes = { slot, pattern: '^half of answer 1$', timeout: 60 }
      const { matched, state, output } = await first.call('read_from_agent', wishes)
      assert.deepEqual([matched, state], [true, 'busy'], output)
    }
    await first.kill()

    const next = new Client(context, machine.start(['mcp', 'serve']))
    const { agents } = await next.call('list_agents', {})
    assert.deepEqual(
      agents.map(({ slot, state, why }: any) => [slot, state, why]),
      [1, 2, 3, 4, 5].map((slot) => [slot, 'busy', undefined]),
    )
    const waiting = next.call('wait_for_idle', { slot: [1, 2, 3, 4, 5], timeout: 45 })
    let over = false
    void waiting.then(() => (over = true))
    // Each of them comes to the gate when it is so far.
    await until(() => {
      machine.open()
      return over
    })
    const waited = await waiting
    assert.deepEqual(
      waited.slots.map(({ state, why }: any) => [state, why]),
      Array(5).fill(['idle', undefined]),
    )
    for (let slot = 1; slot <= 5; slot++) {
      assert.equal((await next.call('get_artifact', { slot })).output, 'answer 1')
      const { output } = await next.call('read_from_agent', { slot, lines: 500 })
      assert.equal(output.split(`task number ${slot}`).length - 1, 1)
    }
    await next.kill()
    await machine.crew('close', '--yes')
    await machine.gone()
  },
)

test('crew artifact prints an answer that was scraped alone, and says beside it that it was', async (context) => {
  const machine = new CrewMachine(context, 'pty')
  await machine.json('spawn', 'unmarked', 'audit the code')
  await machine.json('wait', '1', '--timeout', '60')
  golden(context, await machine.crew('artifact', '1'))
  await machine.crew('close', '--yes')
})

test('crew artifact prints no earlier answer while the last prompt has none, nor after the agent ended with its killed keeper', async (context) => {
  const machine = new CrewMachine(context, 'pty')
  await machine.json('spawn', 'slow', 'first')
  const answered = machine.json('wait', '1', '--timeout', '60')
  let over = false
  void answered.then(() => (over = true))
  await until(() => (machine.open(), over))
  assert.equal((await answered).is_idle, true)
  const first = { output: 'answer 1', truncated: false, fenced: true }
  assert.deepEqual(await machine.json('artifact', '1'), { slot: 1, ...first })
  await machine.json('send', '1', 'second')
  const busy = await machine.crew('artifact', '1')
  const { out, code } = await machine.crew('artifact', '1', '--json')
  const none = { slot: 1, output: '', truncated: false, fenced: false }
  assert.deepEqual([JSON.parse(out), code], [{ ...none, state: 'busy', earlier: first }, 75])
  await until(async () => (await machine.json('read', '1')).output.includes('half of answer 2'))
  await machine.killKeeper()
  golden(context, { busy, killed: await machine.crew('artifact', '1') })
  await machine.crew('close', '--yes')
  await machine.gone()
})

test('an agent that ended with its killed keeper is called so by the next command, and by each after it', async (context) => {
  const machine = new CrewMachine(context, 'pty')
  const orphaned = async (slot: number) => {
    await machine.json('spawn', 'slow', 'audit')
    await until(async () => (await machine.json('read', String(slot))).output.includes('half of answer 1'))
    await machine.killKeeper()
  }
  const sent = async (slot: number) => {
    const { code, err } = await machine.crew('send', String(slot), 'again')
    golden(context, [code, err])
  }
  await orphaned(1)
  assert.match(
    (await machine.crew('list')).out,
    /^1 +slow +failed .*\n +its terminal was closed before its answer could be read; a built-in terminal ends with the process that runs the crew, and a tmux window does not$/m,
  )
  await sent(1)
  await orphaned(2)
  await sent(2)
  await machine.crew('close', '--yes')
  await machine.gone()
})

/** A busy agent in tmux whose record is cut off, as by a failing disk: its keeper forgets it and leaves. */
async function strayAgent(machine: CrewMachine): Promise<void> {
  await machine.json('spawn', 'slow', 'audit')
  await until(async () => (await machine.json('read', '1')).output.includes('half of answer 1'))
  const slots = join(machine.home, 'crew', slugOf(machine.project), 'slots.json')
  truncateSync(slots, 100)
  await until(() => !machine.left().some((line) => line.includes('crew keep')))
}

test('an agent whose record is lost is told of, listed, shown and ended', { skip: noTmux }, async (context) => {
  const machine = new CrewMachine(context, 'tmux')
  await strayAgent(machine)
  const [listed, again] = [await machine.crew('list'), await machine.crew('list')]
  const told =
    /^termaite: \S+\/slots\.json\.\S+\.broken is a damaged file that was set aside\. Agents that it named may still run: termaite ps lists them, and termaite crew close ends them\.$/m
  assert.match(listed.err, told)
  assert.doesNotMatch(again.err, told, 'it is told once')
  golden(context, again.err)
  const [{ terminal, of, title, show }] = JSON.parse((await machine.run(['ps', '--json'])).out)
  assert.deepEqual([of, title], ['nobody', '1 slow busy'])
  const shown = spawnSync('sh', ['-c', show.replace('attach-session', 'capture-pane -p')], { encoding: 'utf8' })
  assert.match(shown.stdout, /half of answer 1/)
  const { out } = await machine.run(['ps'])
  assert.ok(out.includes(`termaite stop ${terminal}  ${show}\n`), out)
  assert.ok((await machine.run(['where'])).out.includes(`termaite stop ${terminal}  ${show}\n`))
  assert.equal((await machine.run(['stop', terminal])).out, `Stopped ${terminal}: 1 slow busy\n`)
  await machine.gone()

  await strayAgent(machine)
  assert.deepEqual(await machine.json('close', '--yes'), { ended: 1, kept: [] })
  await machine.gone()
})

test(
  'uninstall ends the agents in tmux, with a slot or without, before nobody finds them any more',
  { skip: noTmux },
  async (context) => {
    const machine = new CrewMachine(context, 'tmux')
    await strayAgent(machine)
    await machine.json('spawn', 'quick', 'audit')
    assert.equal((await machine.json('wait', '1', '--timeout', '60')).is_idle, true)
    await until(() => !machine.left().some((line) => line.includes('crew keep')))
    const asked = await machine.run(['uninstall'])
    assert.match(asked.err + asked.out, /End the 2 agents that run in tmux\. Delete termaite’s files in /)
    const { code, err } = await machine.run(['uninstall', '--yes'])
    assert.equal(code, 0, err)
    await machine.gone()
  },
)

const kills = sized(3, 40)

test(
  `${kills} kills of the server at any moment after a send: the prompt is entered once and alone, as is the next one, and their answers come`,
  { skip: noTmux, timeout: sized(120_000, 900_000) },
  async (context) => {
    const machine = new CrewMachine(context, 'tmux')
    let server = new Client(context, machine.start(['mcp', 'serve']))
    await server.call('spawn_agent', { type: 'quick', task: 'begin' })
    await server.call('wait_for_idle', { slot: 1, timeout: 60 })
    for (let kill = 1; kill <= kills; kill++) {
      await server.call('send_to_agent', { slot: 1, text: `prompt number ${kill}.` })
      // The moments are spread over the time from the paste to the answer.
      await new Promise((resolve) => setTimeout(resolve, (kill * 53) % 400))
      await server.kill()
      server = new Client(context, machine.start(['mcp', 'serve']))
      await server.call('send_to_agent', { slot: 1, text: `after kill ${kill}.` })
      const { state, why } = await server.call('wait_for_idle', { slot: 1, timeout: 30 })
      const { output: answer } = await server.call('get_artifact', { slot: 1 })
      const { output } = await server.call('read_from_agent', { slot: 1, lines: 2_000 })
      const shown = output
        .split('\n')
        .filter((row: string) => new RegExp(`(?:prompt number|after kill) ${kill}\\.`).test(row))
      assert.deepEqual(
        { state, why, answer, shown },
        {
          state: 'idle',
          why: undefined,
          answer: `answer ${2 * kill + 1}`,
          shown: [`> prompt number ${kill}.`, `> after kill ${kill}.`],
        },
        output.slice(-1500),
      )
    }
    await server.kill()
    await machine.crew('close', '--yes')
    await machine.gone()
  },
)

test('each agent is shown in a window of the desktop, where the settings say how to open one', async (context) => {
  const machine = new CrewMachine(context, 'pty')
  const opened = join(machine.folder, 'opened')
  machine.set({ desktop_window: `printf '%s\\n' {command} > ${opened}.part && mv ${opened}.part ${opened}; :` })
  const server = new Client(context, machine.start(['mcp', 'serve']))
  await server.call('spawn_agent', { type: 'quick', task: 'begin' })
  await server.call('wait_for_idle', { slot: 1, timeout: 60 })
  const words = await until(
    () => existsSync(opened) && readFileSync(opened, 'utf8').split('\n').slice(start.length, -1),
  )
  const { workspace } = await server.call('spawn_agent', { type: 'quick' })
  assert.deepEqual(words, ['crew', 'attach', '1', `--workspace=${workspace}`, `--cwd=${machine.project}`])
})

test('a server that was started in / asks for a folder, and takes it from a spawn or from the roots of its client', async (context) => {
  const machine = new CrewMachine(context, 'pty')
  const server = new Client(context, machine.start(['mcp', 'serve'], { cwd: '/' }))
  golden(context, await server.error('spawn_agent', { type: 'quick', task: 'begin' }))
  golden(context, await server.error('list_agents', {}))
  const made = await server.call('spawn_agent', { type: 'quick', task: 'begin', cwd: machine.project })
  assert.equal((await server.call('wait_for_idle', { slot: made.slot, timeout: 60 })).is_idle, true)
  const { agents } = await server.call('list_agents', {})
  assert.deepEqual(
    agents.map(({ slot, state, cwd }: any) => [slot, state, cwd]),
    [[1, 'idle', machine.project]],
  )
  await server.call('kill_agent', { slot: 1 })

  const rooted = new Client(context, machine.start(['mcp', 'serve'], { cwd: '/' }), machine.project)
  assert.deepEqual(
    (await rooted.call('list_agents', {})).agents.map(({ slot, why }: any) => [slot, why]),
    [[1, 'killed']],
  )
})

/** The least that a client of MCP says; one with a root tells the server that it works there. */
class Client {
  #root: string | undefined
  #child: ChildProcess
  #next = 1
  #waiting = new Map<number, (result: any) => void>()

  constructor(context: TestContext, child: ChildProcess, root?: string) {
    this.#child = child
    this.#root = root
    context.after(() => child.kill('SIGKILL'))
    let rest = ''
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#hear(JSON.parse(line))
    })
    let err = ''
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
    child.once('exit', () => {
      for (const heard of this.#waiting.values()) heard({ result: { isError: true, content: err } })
    })
    const capabilities = root === undefined ? {} : { roots: {} }
    const info = { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'test', version: '1' } }
    void this.#ask('initialize', info)
    this.#tell({ method: 'notifications/initialized' })
  }

  async call(name: string, input: unknown): Promise<any> {
    const { result } = await this.#ask('tools/call', { name, arguments: input })
    assert.ok(!result.isError, JSON.stringify(result.content))
    return result.structuredContent
  }

  /** The words of a call that is refused. */
  async error(name: string, input: unknown): Promise<string> {
    const { result } = await this.#ask('tools/call', { name, arguments: input })
    assert.equal(result.isError, true)
    return result.content[0].text
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  #ask(method: string, params: unknown): Promise<any> {
    const id = this.#next++
    this.#tell({ id, method, params })
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  #tell(message: object): void {
    this.#child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  #hear(message: { id?: number; method?: string }): void {
    if (message.id === undefined) return
    if (message.method === 'roots/list')
      return this.#tell({ id: message.id, result: { roots: [{ uri: `file://${this.#root}`, name: 'project' }] } })
    this.#waiting.get(message.id)?.(message)
    this.#waiting.delete(message.id)
  }
}

test('crew list says why none of the agents can be started', async (t) => {
  const machine = new Machine(t)
  const env = machine.install([])
  machine.agents({ plain: 'cat' })
  const { code, err } = await machine.call(['crew', 'list'], { env })
  golden(t, [code, err])
  machine.settings({})
  const none = await machine.call(['crew', 'list'], { env })
  golden(t, none.err)
})
