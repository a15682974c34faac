import type { Row } from './measure.ts'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HubAway } from '../src/hub/engine/remote-hub.ts'
import { HubClient } from '../src/hub/client/hub-client.ts'
import { at, ms, start } from './measure.ts'

/** The load of one run. */
export const load = { agents: 100, tasks: 10_000, probes: 300 }

/** A hundred agents and ten thousand tasks over HTTP, beside a server that does nothing. */
export async function hub(): Promise<Row[]> {
  await using one = await BenchHub.start()
  const { rate, handed } = await worked([one])
  const { peak } = one
  const bare = await bareRequests()
  const requests = rate * 4
  return [
    {
      what: 'hub: requests of a bare server for one of ours',
      value: bare / requests,
      unit: 'ratio',
      detail: `${load.tasks} tasks through ${load.agents} agents: ${rate.toFixed(0)} tasks/s, ${requests.toFixed(0)} requests/s, each change synced; bare ${bare.toFixed(0)} requests/s; peak ${peak.toFixed(0)} MB`,
    },
    {
      what: 'hub: a task added to a waiting agent’s hands, median',
      value: at(handed, 0.5),
      unit: 'ms',
      detail: `p99 ${ms(at(handed, 0.99))} over ${handed.length} tasks, one at a time`,
    },
  ]
}

/** A hub in a process of its own, on a home of its own. */
export class BenchHub {
  readonly home: string
  readonly client: HubClient
  /** How long the start took, until the hub answered. */
  readonly startMs: number
  #child: ChildProcess

  private constructor(home: string, client: HubClient, startMs: number, child: ChildProcess) {
    this.home = home
    this.client = client
    this.startMs = startMs
    this.#child = child
  }

  /** `ledger` is the address of a ledger that hubs share, and `key` the key of the person who runs all of them. */
  static async start({ home, ledger, key }: { home?: string; ledger?: string; key?: string } = {}): Promise<BenchHub> {
    const place = home ?? mkdtempSync(join(tmpdir(), 'termaite-bench-'))
    const env = { PATH: process.env.PATH!, HOME: place, TERMAITE_HOME: place, TERMAITE_KEYCHAIN: 'off' }
    if (key !== undefined) writeFileSync(join(place, 'hub.key'), `${key}\n`, { mode: 0o600 })
    const began = performance.now()
    const more = ledger === undefined ? [] : ['--ledger', ledger]
    const child = spawn(start[0], [...start.slice(1), 'serve', '--port', '0', ...more], {
      env,
      cwd: place,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await firstLine(child.stdout)
    const startMs = performance.now() - began
    return new BenchHub(place, new HubClient({ url, key: keyIn(place) }), startMs, child)
  }

  get key(): string {
    return keyIn(this.home)
  }

  /** The most memory that the process has used, and what it uses now, in MB. */
  get peak(): number {
    return this.#memory('VmHWM')
  }

  get memory(): number {
    return this.#memory('VmRSS')
  }

  /** Ends the process and leaves its home. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
    rmSync(this.home, { recursive: true, force: true })
  }

  #memory(line: string): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(new RegExp(`${line}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  }
}

const keyIn = (home: string) => readFileSync(join(home, 'hub.key'), 'utf8').trim()

export type Worked = {
  /** Tasks a second, from their addition to their answer. */
  rate: number
  /** How long each of the single tasks took from its addition to its agent, in ms. */
  handed: number[]
}

/** Agents and givers spread over the hubs: a task is mostly added at another hub than the one where its agent waits. */
export async function worked(hubs: readonly BenchHub[]): Promise<Worked> {
  const { agents, tasks, probes } = load
  const clientAt = (number: number) => hubs[number % hubs.length]!.client
  const stop = new AbortController()
  const given = new Map<string, () => void>()
  let left = tasks
  const all = Promise.withResolvers<void>()
  const agent = async (number: number) => {
    const [id, client] = [`agent-${number}`, clientAt(number)]
    const own = new HubClient({ url: client.url, key: (await client.lend(id)).secret })
    await own.register({ id, role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
    while (!stop.signal.aborted) {
      const next = await own.wait(id, 30, stop.signal).catch(() => undefined)
      if (next?.type !== 'task') continue
      given.get(next.task.prompt)?.()
      await again(() => own.tell(next.ticket, 'ack', { agent: id }))
      await again(() => own.respond(next.ticket, id, { status: 'COMPLETED', message: 'done' }))
      if (--left === 0) all.resolve()
    }
  }
  const working = Array.from({ length: agents }, (_, number) => agent(number))
  const began = performance.now()
  const givers = Array.from({ length: 20 }, async (_, giver) => {
    for (let number = giver; number < tasks; number += 20)
      await clientAt(giver).add({ prompt: `task ${number}`, workspace: 'w' })
  })
  // Any failure ends the whole run, so that the hub is ended too.
  await Promise.race([Promise.all([...givers, all.promise]), Promise.all(working)])
  const seconds = (performance.now() - began) / 1000
  const handed: number[] = []
  left = Infinity
  for (let probe = 0; probe < probes; probe++) {
    const arrived = new Promise<number>((resolve) => given.set(`probe ${probe}`, () => resolve(performance.now())))
    const sent = performance.now()
    await clientAt(probe).add({ prompt: `probe ${probe}`, workspace: 'w' })
    handed.push((await arrived) - sent)
  }
  stop.abort()
  await Promise.all(working)
  return { rate: tasks / seconds, handed }
}

/** Asks once more where the connection broke, as an agent does: a request that arrived twice counts once. */
const again = <T>(ask: () => Promise<T>): Promise<T> =>
  ask().catch((error: unknown) => {
    if (error instanceof HubAway) return ask()
    throw error
  })

/** Measures the requests that a server answers in a second which does nothing with them, from as many callers. */
async function bareRequests(): Promise<number> {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const began = performance.now()
  const [count, { agents }] = [10_000, load]
  const caller = async () => {
    for (let at = 0; at < count / agents; at++)
      await (await fetch(url, { method: 'POST', body: '{"prompt":"x"}' })).text()
  }
  await Promise.all(Array.from({ length: agents }, caller))
  server.close()
  return count / ((performance.now() - began) / 1000)
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(stream)) return line
  throw new Error('the hub did not start')
}
