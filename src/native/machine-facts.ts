import type { NativeParts, WithState } from './native-parts.ts'
import { withoutProject } from '../base/process/program-path.ts'
import { Machine } from '../machine/machine.ts'
import { machineSummary } from '../machine/machine-summary.ts'

/** A turn that ends sooner than this causes no scan. */
const scanDelayMs = 1000

/** The machine's facts for our own agent; `edition` changes when the person has the machine scanned again. */
type MachineFacts = { words: string; edition: string }

/** Returns the facts that are known at once. Old facts are refreshed by a scan after the first request, for the next session. */
export async function machineFacts(parts: NativeParts, asked: Promise<void>): Promise<MachineFacts> {
  const { spec, asked: refreshed, fresh } = await machineOf(parts).known()
  // The turn does not wait for the scan; closing the run does. If a scan fails, the old facts stay.
  if (!fresh && !parts.state.machine.scan) scanBehind(parts, asked).catch(() => {})
  return { words: machineSummary(spec), edition: refreshed === undefined ? '' : ` ${refreshed}` }
}

type MachineParts = Pick<NativeParts, 'store' | 'env' | 'clock' | 'root'> & WithState<'machine'>

/**
 * The machine's facts that this run shares. Programs that the project puts on the PATH are left out: they are not part of the machine,
 * and a scan would start them.
 */
export function machineOf({ store, env, clock, state, root }: MachineParts): Machine {
  return (state.machine.facts ??= new Machine(store, { env: withoutProject(env, root), clock }))
}

/** A scan waits until the chat or turn has started; a run that ends sooner causes no scan. */
const startDelayMs = 3000

/** Scans the machine in the background of a start if it was never scanned or the facts are old. Closing the run stops the scan. */
export function scanAtStart(parts: MachineParts): void {
  if (parts.state.machine.scan) return
  // Nobody waits for the scan; a failed one is repeated at the next start.
  scanBehind(parts, Promise.resolve(), startDelayMs).catch(() => {})
}

async function scanBehind(parts: MachineParts, asked: Promise<void>, delayMs = scanDelayMs): Promise<void> {
  const { state, clock } = parts
  const scan = (state.machine.scan = new AbortController())
  const { signal } = scan
  const over = () => {
    if (state.machine.scan === scan) delete state.machine.scan
  }
  await asked
  await clock.sleep(delayMs, signal)
  if (signal.aborted) return
  const machine = machineOf(parts)
  if ((await machine.known()).fresh) return over()
  const { unkept } = await machine.scan({ signal })
  // A chat may outlast the facts, so another scan may follow. But if the facts cannot be stored, no other scan follows, because each turn
  // would scan.
  if (unkept === undefined) over()
}
