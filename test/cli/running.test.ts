import type { TestContext } from 'node:test'
import type { TerminalRow } from '../../src/core/screen/machine-terminals.ts'
import type { HubFrame } from '../../src/page/terminal-frames.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { readDrawn, terminalsPath, terminalsProtocol } from '../../src/page/terminal-frames.ts'
import { ProgramWindow } from '../screen/program-window.ts'
import { until } from '../until.ts'
import { machineAtWork } from './agent-machine.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

type Row = {
  process: string
  pid: number
  since: number
  project?: string
  about?: string
  url?: string
  sessions?: string[]
}

/** The only terminal that the hub lists, and its first picture with an answer of the agent. */
async function seenAtHub(t: TestContext, hub: string, keyFile: string): Promise<{ row: TerminalRow; picture: string }> {
  const authorization = `Bearer ${readFileSync(keyFile, 'utf8').trim()}`
  const socket = new WebSocket(`${hub.replace('http', 'ws')}${terminalsPath}`, [terminalsProtocol], {
    headers: { authorization },
  })
  t.after(() => socket.terminate())
  socket.binaryType = 'arraybuffer'
  let row: TerminalRow | undefined
  let picture = ''
  socket.on('message', (data, isBinary) => {
    const drawn = isBinary ? readDrawn(new Uint8Array(data as ArrayBuffer)) : undefined
    if (drawn) picture += Buffer.from(drawn.bytes).toString()
    else {
      const frame = JSON.parse(String(data)) as HubFrame
      if (frame.type !== 'terminals' || frame.rows.length === 0) return
      row = frame.rows[0]!
      socket.send(JSON.stringify({ type: 'open', channel: 1, id: row.id, above: 10 }))
    }
  })
  await until(() => row !== undefined && picture.includes('answer 1'))
  return { row: row!, picture }
}

test(
  'ps and where name the hub, the agent and the chat while they live, and none that was killed',
  options,
  async (t) => {
    const { machine, env, start, session } = await machineAtWork(t)
    const agent = start(['agent', '--start=fake', '--here'])
    const window = new ProgramWindow(machine, {})
    t.after(() => window.close())
    const rows = async () => {
      const all = JSON.parse((await machine.run(['ps', '--json'])).out) as Row[]
      return all
        .filter(({ process }) => process !== undefined)
        .map(({ since: _, pid, sessions, ...row }) => ({ ...row, pid: pid > 0, open: sessions?.length ?? 0 }))
    }
    // The chat names the session on its screen once it has opened it.
    await until(async () => (await rows()).filter(({ process, open }) => process !== 'chat' || open > 0).length === 3)
    const here = { project: machine.project, pid: true, open: 0 }
    const terminal = { id: session().terminal as string, agent: 'fake', root: machine.project }
    assert.deepEqual(
      (await rows()).toSorted((a, b) => a.process.localeCompare(b.process)),
      [
        { process: 'agent', about: session().hubId as string, terminal, ...here },
        { process: 'chat', ...here, open: 1 },
        { process: 'hub', url: env.TERMAITE_HUB, pid: true, open: 0 },
      ],
    )
    const { out } = await machine.run(['ps'])
    assert.match(out, /^PROCESS +PID +SINCE +WHAT +FOLDER$/m)
    assert.match(out, new RegExp(`^hub +\\d+ +\\S+ \\S+ +${env.TERMAITE_HUB}$`, 'm'))
    assert.match((await machine.run(['where'])).out, /^Processes: hub \d+, .*agent \d+/m)
    const { row, picture } = await seenAtHub(t, env.TERMAITE_HUB, join(machine.home, 'hub.key'))
    const { hubId } = session() as { hubId: string }
    assert.deepEqual(row, {
      ...{ id: terminal.id, name: hubId, agent: 'fake', hubAgent: hubId, machine: hostname() },
      ...{ project: machine.project, kind: 'supervised', state: 'running', since: row.since, keys: true },
    })
    assert.match(picture, /answer 1/, 'the terminal of an agent in another process is seen at the hub')
    agent.child.kill('SIGKILL')
    await once(agent.child, 'exit')
    window.type('/exit\r')
    await window.exited
    assert.deepEqual(await rows(), [{ process: 'hub', url: env.TERMAITE_HUB, pid: true, open: 0 }])
    const run = join(machine.home, 'run')
    assert.deepEqual(
      (existsSync(run) ? readdirSync(run) : []).filter((name) => name.endsWith('.json')).length,
      1,
      'the note of the killed agent is gone',
    )
  },
)

test('a command finds the hub at whatever port it runs, and --server names another one', options, async (t) => {
  const { machine, env, add } = await machineAtWork(t)
  await add('Say something.')
  const named = ['--server', env.TERMAITE_HUB]
  const list = async (...args: string[]) => (await machine.run(['task', 'list', '--json', ...args])).out
  assert.equal((JSON.parse(await list()) as unknown[]).length, 1)
  assert.equal(await list(...named), await list())
  const [{ id }] = JSON.parse(await list()) as [{ id: string }]
  for (const args of [
    ['show', id],
    ['comment', id, 'well'],
    ['cancel', id],
    ['retry', id],
    ['list'],
    ['add', 'more'],
  ]) {
    const { code, err } = await machine.run(['task', ...args, ...named], {
      env: { TERMAITE_HUB: 'http://127.0.0.1:9' },
    })
    assert.equal(code, 0, err)
  }
  assert.equal((await machine.run(['report', ...named], { env: { TERMAITE_HUB: 'http://127.0.0.1:9' } })).code, 0)
  const wrong = await machine.run(['task', 'list', '--server', 'localhost:9'])
  golden(t, [wrong.code, wrong.err])
})
