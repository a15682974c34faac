import type { HubChange, HubLedger } from '../../src/core/work/hub-ledger.ts'
import { HandClock, settled } from '../../src/base/hand-clock.ts'
import { Hub } from '../../src/hub/hub.ts'
import { memoryHubLedger } from '../../src/store/memory-hub-ledger.ts'

/** A hub at work under a clock that is turned by hand. */
export function hubAt(
  t: { after(work: () => unknown): void },
  ledger: HubLedger = memoryHubLedger(),
  clock = new HandClock(),
) {
  const published: HubChange[] = []
  const hub = new Hub({ ledger, clock, published: (changes) => published.push(...changes) })
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

/** Waits until the hub has answered an agent that has a task and waits again: it first makes sure of the connection. */
export async function noticed(): Promise<void> {
  await settled()
  await settled()
}
