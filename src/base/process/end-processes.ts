import type { Clock } from '../time/clock.ts'
import type { Proc } from './process-table.ts'
import { processTable, carries } from './process-table.ts'

/** How long processes may take to exit after SIGTERM. */
const termGraceMs = 3_000

const killRounds = 40

/**
 * Stops a process group and every other process that `look` finds: SIGTERM first, SIGKILL after the grace, until all have exited. Returns
 * the pids that could not be killed.
 */
export async function endProcesses(leader: number, look: Look, clock: Clock): Promise<number[]> {
  // A process that was found once is remembered: when its parent dies, `look` may no longer find it.
  const seen = new Set<string>()
  const left = async () => {
    const table = await processTable().catch(() => undefined)
    // Without free file descriptors the table cannot be read, but the group can still be signalled.
    if (!table) return groupMayLive(leader) ? [{ pid: leader, ppid: 0, group: leader, start: '' }] : []
    const known = table.filter((proc) => seen.has(nameOf(proc)))
    if (known.length > 0) return known
    // `look` reads more files than the table did, and may find no free file descriptor for them either.
    const found = await look(table).catch(() => table.filter((proc) => proc.group === leader))
    for (const proc of found) seen.add(nameOf(proc))
    return found
  }
  let procs = await left()
  signalAll(leader, procs, 'SIGTERM')
  // A stopped process handles SIGTERM only once it continues.
  signalAll(leader, procs, 'SIGCONT')
  const until = clock.elapsed() + termGraceMs
  for (let wait = 2; (procs = await left()).length > 0 && clock.elapsed() < until; wait = Math.min(wait * 2, 50))
    await clock.sleep(wait)
  for (let round = 0; procs.length > 0 && round < killRounds; round++) {
    signalAll(leader, procs, 'SIGKILL')
    await clock.sleep(Math.min(2 ** round, 50))
    procs = await left()
  }
  return procs.map((proc) => proc.pid)
}

/** Says whether a process group may have members; zombies count. Cheap, and certain when false. */
export function groupMayLive(leader: number): boolean {
  return signal(-leader, 0)
}

function signalAll(leader: number, procs: readonly Proc[], name: NodeJS.Signals): void {
  if (procs.some((proc) => proc.group === leader)) signal(-leader, name)
  for (const proc of procs) if (proc.group !== leader) signal(proc.pid, name)
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const nameOf = (proc: Proc) => `${proc.pid}@${proc.start}`

/** Finds the processes to stop in a table of all processes. */
type Look = (table: readonly Proc[]) => Promise<Proc[]>

/** Finds the members of one process group. */
export function groupOf(leader: number): Look {
  return async (table) => table.filter((proc) => proc.group === leader)
}

/**
 * Finds every process of a run: its group, the processes with its mark, and the children of both, so that a process with a session of its
 * own is found too.
 */
export function kinOf(leader: number, mark: string): Look {
  return async (table) => {
    const marked = await Promise.all(table.map(async (proc) => proc.group === leader || carries(proc.pid, mark)))
    const found = new Set(table.filter((_proc, i) => marked[i]))
    const pids = new Set([...found].map((proc) => proc.pid))
    for (let before = -1; before < found.size;) {
      before = found.size
      for (const proc of table) {
        if (!pids.has(proc.ppid)) continue
        found.add(proc)
        pids.add(proc.pid)
      }
    }
    return [...found]
  }
}
