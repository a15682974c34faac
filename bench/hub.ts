import type { Row } from './measure.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HubClient } from '../src/app/hub/hub-client.ts'
import { program } from './measure.ts'

const agents = 100
const tasks = 10_000

/** A hundred agents and ten thousand tasks over HTTP, beside a server that does nothing. */
export async function hub(): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'termaite-bench-'))
  const env = { PATH: process.env.PATH!, HOME: home, TERMAITE_HOME: home, TERMAITE_KEYCHAIN: 'off' }
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    env,
    cwd: home,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const url = await firstLine(child.stdout)
    const client = new HubClient({ url, key: readFileSync(join(home, 'hub.key'), 'utf8').trim() })
    const { ms, handed } = await worked(client)
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
    const bare = await bareRequests()
    const requests = (tasks * 4) / (ms / 1000)
    const sorted = handed.toSorted((a, b) => a - b)
    const at = (part: number) => sorted[Math.floor(sorted.length * part)]!
    return [
      {
        what: 'hub: requests of a bare server for one of ours',
        value: bare / requests,
        unit: 'ratio',
        detail: `${tasks} tasks through ${agents} agents in ${(ms / 1000).toFixed(1)} s: ${(tasks / (ms / 1000)).toFixed(0)} tasks/s, ${requests.toFixed(0)} requests/s, each change synced; bare ${bare.toFixed(0)} requests/s; peak ${peak.toFixed(0)} MB`,
      },
      {
        what: 'hub: a task added to a waiting agent’s hands, median',
        value: at(0.5),
        unit: 'ms',
        detail: `p99 ${at(0.99).toFixed(1)} ms over ${sorted.length} tasks, one at a time`,
      },
    ]
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
    rmSync(home, { recursive: true, force: true })
  }
}

async function worked(client: HubClient): Promise<{ ms: number; handed: number[] }> {
  const stop = new AbortController()
  const given = new Map<string, () => void>()
  let left = tasks
  const all = Promise.withResolvers<void>()
  const agent = async (id: string) => {
    const own = new HubClient({ url: client.url, key: (await client.lend(id)).secret })
    await own.register({ id, role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
    while (!stop.signal.aborted) {
      const next = await own.wait(id, 30, stop.signal).catch(() => undefined)
      if (next?.type !== 'task') continue
      given.get(next.task.prompt)?.()
      await own.tell(next.ticket, 'ack', { agent: id })
      await own.respond(next.ticket, id, { status: 'COMPLETED', message: 'done' })
      if (--left === 0) all.resolve()
    }
  }
  const working = Array.from({ length: agents }, (_, at) => agent(`agent-${at}`))
  const began = performance.now()
  const givers = Array.from({ length: 20 }, async (_, giver) => {
    for (let at = giver; at < tasks; at += 20) await client.add({ prompt: `task ${at}`, workspace: 'w' })
  })
  // Whoever fails ends it all, so that the hub is ended too.
  await Promise.race([Promise.all([...givers, all.promise]), Promise.all(working)])
  const ms = performance.now() - began
  const handed: number[] = []
  left = Infinity
  for (let at = 0; at < 300; at++) {
    const arrived = new Promise<void>((resolve) => given.set(`probe ${at}`, resolve))
    const sent = performance.now()
    await Promise.all([client.add({ prompt: `probe ${at}`, workspace: 'w' }), arrived])
    handed.push(performance.now() - sent)
  }
  stop.abort()
  await Promise.all(working)
  return { ms, handed }
}

/** How many requests a second a server answers that does nothing with them, from as many callers. */
async function bareRequests(): Promise<number> {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const began = performance.now()
  const count = 10_000
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
