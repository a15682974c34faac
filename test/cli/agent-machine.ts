import type { TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { until } from '../until.ts'
import { Machine } from './program.ts'

/** A machine with a hub, and a repository with a commit in which an agent is kept at work. */
export async function machineWithHub(t: TestContext, settings: object) {
  const machine = new Machine(t)
  machine.settings(settings)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: machine.project }).toString()
  git('init', '-q')
  git('-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '--allow-empty', '-m', 'first')
  const serving = machine.start(['serve', '--port', '0'])
  t.after(() => serving.kill('SIGKILL'))
  const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
  const url = String(line).trim()
  const hub = new HubClient({ url, key: readFileSync(join(machine.home, 'hub.key'), 'utf8').trim() })
  const died = Promise.withResolvers<never>()
  died.promise.catch(() => {})
  const done = async (ids: readonly string[]) => {
    for await (const _ of hub.changes(0, t.signal)) {
      const tasks = await Promise.all(ids.map((id) => hub.task(id)))
      if (tasks.every(({ state }) => state === 'COMPLETED' || state === 'FAILED' || state === 'IN_REVIEW')) return tasks
    }
    return assert.fail('the hub is gone')
  }
  /** Resolves once these tasks are over; an agent that leaves before is an error that shows what it said. */
  const settled = (ids: readonly string[]) => Promise.race([done(ids), died.promise])
  const add = async (prompt: string) =>
    (await hub.add({ prompt, workspace: machine.project, capabilities: [], needs: [] })).id
  const folder = (name: string) => join(machine.project, '.termaite', name)
  const session = () => {
    const [id] = readdirSync(folder('sessions')).toSorted().toReversed()
    const file = join(folder('sessions'), id ?? '', 'session.json')
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  }
  /** Resolves once a prompt is kept as on its way to the CLI. */
  const flying = () => until(() => existsSync(folder('sessions')) && session().flight !== undefined)
  /** The program at work, with all that it has said. */
  const start = (args: readonly string[], env: Record<string, string> = {}) => {
    const child = machine.start(args, { env: { TERMAITE_HUB: url, ...env } })
    t.after(() => child.kill('SIGKILL'))
    let lines = ''
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
    child.once('exit', (code) => code === null || died.reject(new Error(`it ended with ${code}: ${lines}`)))
    return { child, said: () => lines }
  }
  return { machine, hub, env: { TERMAITE_HUB: url }, settled, add, git, folder, session, flying, start }
}

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')

/** The same with a fake CLI as its agent; what waits for its gate goes on once that file is there. */
export async function machineAtWork(t: TestContext, ...modes: string[]) {
  const at = await machineWithHub(t, { leash: 'edit' })
  const gate = join(at.machine.folder, 'gate')
  const command = [process.execPath, fake, gate, 'scroll', ...modes].join(' ')
  at.machine.settings({ leash: 'edit', agents: { fake: { command, idle_pattern: '^> ?$', response_fence: true } } })
  return { ...at, gate }
}
