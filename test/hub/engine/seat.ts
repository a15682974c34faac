import type { HubChange, HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { SpendingCaps } from '../../../src/hub/model/tasks/spending-cap.ts'
import type { Task } from '../../../src/hub/model/tasks/task.ts'
import type { WorkMerger } from '../../../src/hub/model/tasks/work-merger.ts'
import { emptyWrites } from '../../../src/hub/model/hub-ledger.ts'
import { defined } from '../../../src/base/defined.ts'
import { HandClock, settled } from '../../hand-clock.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { ticketOf } from '../../../src/hub/engine/rules/task-rules.ts'
import { sha256 } from '../../../src/base/hash.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'

/** A hub at work under a clock that is turned by hand. */
export function hubAt(
  t: { after(work: () => unknown): void },
  given?: HubLedger,
  clock = new HandClock(),
  caps: SpendingCaps = {},
  merger?: WorkMerger,
) {
  const ledger = given ?? memoryHubLedger({ clock })
  const published: HubChange[] = []
  const told = (changes: readonly HubChange[]) => published.push(...changes)
  const hub = new Hub(defined({ ledger, clock, published: told, caps, merger }))
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  const close = async () => {
    stop.abort()
    await running
  }
  t.after(close)
  const register = (id: string, over: Partial<Parameters<Hub['register']>[0]> = {}) =>
    hub.register({ id, role: 'developer', capabilities: [], workspace: 'w', source: 'CLI', ...over })
  const wait = (id: string, connection = new AbortController().signal) =>
    hub.wait(id, clock.elapsed() + 290_000, connection)
  const add = (prompt: string, over: Partial<Parameters<Hub['add']>[0]> = {}) =>
    hub.add({ prompt, workspace: 'w', by: 'me', ...over })
  return { hub, clock, ledger, published, register, wait, add, close }
}

/** The name of a task for the agent that has it now. */
export const ticketAt = async (hub: Hub, id: string) => ticketOf(await hub.task(id))

/** Waits until the hub has answered an agent that has a task and waits again: it first makes sure of the connection. */
export async function noticed(): Promise<void> {
  await settled()
  await settled()
}

/** A diff as the hub keeps it with its try. */
export const keptDiff = (text: string, files = 0, added = 0, removed = 0) => ({
  id: sha256().update(text).digest('hex'),
  bytes: Buffer.byteLength(text),
  files,
  added,
  removed,
})

/** Everything that a ledger holds of agents, tasks and marks. */
export const loaded = (ledger: HubLedger) =>
  ledger.look(async (look) => ({
    seq: look.seq,
    agents: (await look.agents()).map(({ agent }) => agent),
    tasks: (await look.list({})).map(({ task }) => task),
    marks: await look.marks(),
  }))

/** Writes tasks into a ledger as they are. */
export const stored = (ledger: HubLedger, ...tasks: Task[]) =>
  ledger.round(async (round) => {
    const rows = tasks.map((task) => ({ task, touched: round.steady, ready: task.state === 'QUEUED' }))
    await round.write({ ...emptyWrites, tasks: rows })
  })

/** A ledger whose disk may be full: then every round fails where it writes. */
export function diskOf(ledger: HubLedger): { full: boolean } {
  const disk = { full: false }
  const round: HubLedger['round'] = ledger.round.bind(ledger)
  ledger.round = (work, early) =>
    round((rows, read) => {
      const write = rows.write.bind(rows)
      rows.write = (writes) => (disk.full ? Promise.reject(new Error('disk full')) : write(writes))
      return work(rows, read)
    }, early)
  return disk
}
