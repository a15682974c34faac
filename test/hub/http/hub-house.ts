import type { TestContext } from 'node:test'
import type { Clock } from '../../../src/base/time/clock.ts'
import type { HubAuditBook } from '../../../src/hub/model/access/hub-audit.ts'
import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { MachineParts } from '../../../src/hub/http/routes/machine-routes.ts'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { networkInterfaces } from 'node:os'
import { defined } from '../../../src/base/defined.ts'
import { HandClock } from '../../hand-clock.ts'
import { ChangeFeed } from '../../../src/hub/http/routes/change-feed.ts'
import { serveHub } from '../../../src/hub/http/hub-http.ts'
import { hubRoutes } from '../../../src/hub/http/hub-routes.ts'
import { AuditTrail } from '../../../src/hub/engine/audit-trail.ts'
import { CountedVitals } from '../../../src/hub/engine/counted-vitals.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { Invites } from '../../../src/hub/engine/access/invites.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { memoryHubAudit } from '../ledgers/memory-hub-audit.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'

export const user = { id: 'own', name: 'user', role: 'admin' } as const

export type Got = { status: number; text: string; body: any; headers: NodeJS.Dict<string | string[]> }

/** A request with exactly these headers, as a browser, a proxy or an attacker sends them. */
export type Sent = {
  method?: string
  headers?: Record<string, string>
  body?: object
  ca?: string
  servername?: string
}

export function send(url: string, { method = 'GET', headers = {}, body, ca, servername }: Sent = {}): Promise<Got> {
  const json = body ? { 'content-type': 'application/json' } : undefined
  const begin = url.startsWith('https:') ? secureRequest : plainRequest
  const trust = ca === undefined ? {} : { ca, agent: false as const, ...(servername ? { servername } : {}) }
  return new Promise((resolve, reject) => {
    const sent = begin(url, { method, headers: { ...json, ...headers }, ...trust }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = response.headers['content-type'] === 'application/json'
        const { headers: got, statusCode = 0 } = response
        resolve({ status: statusCode, text, body: isJson ? JSON.parse(text) : undefined, headers: got })
      })
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

type Served = { hub: Hub; ledger: HubLedger; clock: Clock; audit?: HubAuditBook; machine?: MachineParts }

/** Serves a hub at a free port of this machine, whose own key is `the-key`. The caller closes it. */
export async function servedHub(
  { hub, ledger, clock, audit, machine }: Served,
  options: Partial<Parameters<typeof serveHub>[0]> = {},
) {
  const own = { secret: () => 'the-key', made: () => 0, renew() {}, file: '' }
  const keys = new HubKeys({ book: ledger.keys, own, clock })
  const signIns = new SignIns({ book: ledger.signIns, clock })
  const { turns, conversations } = options
  const invites = new Invites({ book: ledger.invites, keys, clock })
  const parts = machine ?? defined({ turns, conversations })
  const routes = hubRoutes(hub, defined({ keys, signIns, invites, audit }), clock, parts)
  const mcp = { answer: async () => {}, close: async () => {} }
  const changes = new ChangeFeed(ledger)
  const at = await serveHub({ host: '127.0.0.1', port: 0, keys, signIns, clock, routes, changes, mcp, ...options })
  return { at, keys, signIns, routes }
}

/** A hub in memory at a free port, with the options of its front. */
export async function hubHouse(t: TestContext, options: Partial<Parameters<typeof serveHub>[0]> = {}) {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const changes = new ChangeFeed(ledger)
  const hub: Hub = new Hub({
    ledger,
    clock,
    published: (made) => {
      changes.notify()
      vitals.see(made)
    },
    woke: (ms) => vitals.woke(ms),
    failed: (error) => vitals.seeError(error),
  })
  /** What an operator was told about the ledger. */
  const faults: string[] = []
  const vitals = new CountedVitals(
    ledger,
    () => hub.waitingAgents,
    (words) => faults.push(words),
  )
  const audit = memoryHubAudit(clock)
  const trail = new AuditTrail({ book: audit, clock })
  const parts = { changes, vitals, trail, people: hub.people, version: '1.2.3', ...options }
  const { at, keys, signIns, routes } = await servedHub({ hub, ledger, clock, audit }, parts)
  t.after(() => at.close())
  return { clock, hub, ledger, keys, signIns, vitals, faults, audit, trail, routes, at, port: at.port }
}

/** An address of this machine that is not loopback, from which a request to this machine comes as from another one. */
export const outerAddress = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address

export const withoutNetwork = outerAddress === undefined ? 'this machine has no address but loopback' : false
