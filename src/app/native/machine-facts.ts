import type { NativeParts } from './native-parts.ts'
import { Machine } from '../../machine/machine.ts'
import { machineWords } from '../../machine/words.ts'

/** A turn that is over sooner never pays for a scan. */
const patienceMs = 1000

/** What our own agent is told of the machine; `edition` is another one after a person had it scanned anew. */
export type MachineFacts = { words: string; edition: string }

/** At once, from what is known; where that is old, a scan follows behind the first request, for the next session. */
export async function machineFacts(parts: NativeParts, asked: Promise<void>): Promise<MachineFacts> {
  const { known, scan } = machineOf(parts)
  const { spec, asked: refreshed, fresh } = await known.known()
  if (!fresh && !scan) void scanBehind(parts, asked)
  return { words: machineWords(spec), edition: refreshed === undefined ? '' : ` ${refreshed}` }
}

/** The machine as this run knows it. */
export function machineOf({ store, env, clock, state }: Pick<NativeParts, 'store' | 'env' | 'clock' | 'state'>) {
  return (state.machine ??= { known: new Machine(store, { env, clock }) })
}

async function scanBehind(parts: NativeParts, asked: Promise<void>): Promise<void> {
  const machine = machineOf(parts)
  const { signal } = (machine.scan = new AbortController())
  await asked
  await parts.clock.sleep(patienceMs, signal)
  if (signal.aborted) return
  const { unkept } = await machine.known.scan({ signal })
  // A chat may outlast the day; a home that keeps nothing would be scanned for at every turn.
  if (unkept === undefined) delete machine.scan
}
