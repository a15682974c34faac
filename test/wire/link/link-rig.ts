import type { TestContext } from 'node:test'
import type { Clock } from '../../../src/base/time/clock.ts'
import type { HubBook } from '../../../src/hub/model/hub-book.ts'
import type { MachineOffer } from '../../../src/hub/model/machine-standing.ts'
import type { ServedMachine } from '../../../src/wire/link/machine-answers.ts'
import { createHash } from 'node:crypto'
import { AllTerminals } from '../../../src/hub/server/dashboard/all-terminals.ts'
import { AllTurns } from '../../../src/hub/server/dashboard/all-turns.ts'
import { PeerTurns } from '../../../src/hub/server/dashboard/peer-turns.ts'
import { fixedKey } from '../../../src/hub/client/hub-key-source.ts'
import { keepLinked } from '../../../src/hub/server/link/machine-link.ts'
import { RegisteredWork, WorkOfMachines } from '../../../src/hub/server/link/registered-work.ts'
import { realClock } from '../../../src/base/time/clock.ts'
import { RunningTurns } from '../../../src/core/turns/running-turns.ts'
import { ChangeFeed } from '../../../src/hub/http/routes/change-feed.ts'
import { serveHub } from '../../../src/hub/http/hub-http.ts'
import { HubRelays } from '../../../src/hub/http/hub-relays.ts'
import { MachineLinks } from '../../../src/hub/http/machine-links.ts'
import { routesOf } from '../../../src/hub/http/access/hub-router.ts'
import { machineRoutes } from '../../../src/hub/http/routes/machine-routes.ts'
import { machineAnswers } from '../../../src/wire/link/machine-answers.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { MemoryHubBook } from '../../../src/hub/engine/memory-hub-book.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { until } from '../../until.ts'
import { scriptedMachineTerminals } from '../../hub/scripted-machine-terminals.ts'

export const person = { id: 'own', name: 'user', role: 'admin' } as const

/** A machine with scripted terminals and turns of its own. */
export function scriptedMachine(t: TestContext, machine: string, { onlyReading = false, clock = realClock } = {}) {
  const { host, ttys, typed, rows, terminals } = scriptedMachineTerminals(t)
  const running = new RunningTurns()
  const turns = new PeerTurns({
    machine,
    clock,
    mask: (text) => text.replaceAll('sk-secret', '…'),
    onlyReading,
    find: async () => [{ name: 'process', connect: async () => running }],
  })
  const prompts: ServedMachine['prompts'] = {
    rules: async () => ({ allowed: true, agents: ['claude'] }),
    send: async ({ text }, by) => ({ session: `s-${text}-${by.name}` }),
  }
  const conversations: ServedMachine['conversations'] = {
    list: async () => [{ id: 's1', project: '/shop', title: 'A talk', started: 1, last: 2, turns: 1 }],
    projects: async () => [],
    page: async (session) => ({ title: session, project: '/shop', entries: [], older: false, newer: false }),
    async *follow() {},
    search: async () => [],
    usage: async () => [],
    away: async () => [],
  }
  const work = new RegisteredWork(clock)
  const start = async (name: string, size?: { cols: number; rows: number }) => {
    const terminal = await host.open(name, { cwd: '/', id: name, size })
    const about = { name, agent: 'claude', machine, project: '/shop', kind: 'crew', state: 'busy' } as const
    rows.push({ id: name, ...about, since: 1, keys: true })
    await until(() => ttys.get(name))
    return terminal
  }
  return {
    machine,
    served: { turns, terminals, prompts, conversations, work },
    running,
    work,
    start,
    ttys,
    typed,
    rows,
  }
}

type HubWishes = {
  id?: string
  own?: string
  book?: HubBook
  ledger?: ReturnType<typeof memoryHubLedger>
  clock?: Clock
  relays?: boolean
}

/** A hub without tasks that takes links of machines, with a scripted machine of its own. */
export async function linkingHub(t: TestContext, { id = 'hub-1', own = 'desk', ...wishes }: HubWishes = {}) {
  const { clock = realClock, ledger = memoryHubLedger() } = wishes
  const book = wishes.book ?? new MemoryHubBook(clock)
  const keys = new HubKeys({
    book: ledger.keys,
    own: { secret: () => 'the-key', made: () => 0, renew() {}, file: '' },
    clock,
  })
  const signIns = new SignIns({ book: ledger.signIns, clock })
  const here = scriptedMachine(t, own, { clock })
  const ownAnswers = machineAnswers(here.served, [
    'turns',
    'answers',
    'terminals',
    'typing',
    'prompts',
    'conversations',
  ])
  const warned: string[] = []
  const relays = new HubRelays({
    id,
    clock,
    env: {},
    secret: () => book.secret(),
    here: (machine) => (machine === own ? ownAnswers : links.linked(machine)),
  })
  const address = { url: undefined as string | undefined }
  const links = new MachineLinks({
    id,
    get innerUrl() {
      return address.url
    },
    version: '1.0.0',
    book,
    own: { machine: own, proofFor: (host) => proofOf(own, host), works: () => here.work.names() },
    clock,
    relay: (hub) => relays.to(hub),
    warn: (words) => void warned.push(words),
  })
  const parts = { machines: links, clock, namesOwn: wishes.relays === true }
  const turns = new AllTurns({ ...parts, own: here.served.turns })
  const terminals = new AllTerminals({ ...parts, own: here.served.terminals })
  const routes = routesOf(
    machineRoutes({ turns, machines: links }, async () => {}),
    { once: async (_, work) => ({ answer: await work(), isRepeated: false }) },
  )
  const at = await serveHub({
    ...{ host: '127.0.0.1', port: 0, keys, signIns, clock, routes, changes: new ChangeFeed(ledger) },
    mcp: { answer: async () => {}, close: async () => {} },
    ...{ turns, terminals, links, relays, machines: links },
  })
  address.url = wishes.relays ? at.url : undefined
  const running = links.run()
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await at.close()
    await running
  }
  t.after(close)
  const keyFor = async (name: string, role: 'agent' | 'member' | 'admin' | 'observer' = 'agent') =>
    (await keys.add(name, role, person)).secret
  const port = Number(new URL(at.url).port)
  const work = new WorkOfMachines(here.work, links)
  return {
    ...{
      id,
      own: here,
      links,
      relays,
      turns,
      terminals,
      keys,
      keyFor,
      book,
      ledger,
      url: at.url,
      port,
      close,
      warned,
      work,
    },
  }
}

export const proofOf = (machine: string, host: string) =>
  createHash('sha256').update(`${machine} ${host}`).digest('hex')

type LinkWishes = {
  url: string
  key: string
  offers?: readonly MachineOffer[]
  /** The secret of another machine under the same name. */
  proof?: string
  clock?: Clock
}

/** Links a scripted machine to a hub until the test ends or `end` is called. */
export function linkMachine(
  t: TestContext,
  { machine, served, work }: Pick<ReturnType<typeof scriptedMachine>, 'machine' | 'served' | 'work'>,
  { url, key, offers = ['turns', 'answers', 'terminals', 'typing', 'prompts'], proof, clock = realClock }: LinkWishes,
) {
  const over = new AbortController()
  const told: string[] = []
  const kept = keepLinked(
    {
      clock,
      env: {},
      url: () => url,
      key: fixedKey(key),
      identity: { machine, proofFor: (host) => proofOf(proof ?? machine, host) },
      answers: machineAnswers(served, offers),
      offers,
      works: () => work.names(),
      tell: (_, words) => void told.push(words),
      chance: () => 0,
    },
    over.signal,
  )
  const end = async () => {
    over.abort()
    await kept
  }
  t.after(end)
  return { told, end }
}
