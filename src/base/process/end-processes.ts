import type { Clock } from '../clock.ts'
import type { Proc } from './process-table.ts'
import { processTable, carries } from './process-table.ts'

/** How long those who were asked to go may take. */
const termGraceMs = 3_000

const killRounds = 40

/**
 * Ends a group and whoever else `look` finds: asked first, killed after the grace, and looked for again until
 * nobody is left. Gives the pids that would not die.
 */
export async function endProcesses(leader: number, look: Look, clock: Clock): Promise<number[]> {
  // Once found, a process is kept in sight: its parent's death may cut the trace that led to it.
  const seen = new Set<string>()
  const left = async () => {
    const table = await processTable().catch(() => undefined)
    // Without file descriptors there is no table, but the group itself still answers.
    if (!table) return groupMayLive(leader) ? [{ pid: leader, ppid: 0, group: leader, start: '' }] : []
    const known = table.filter((proc) => seen.has(nameOf(proc)))
    if (known.length > 0) return known
    const found = await look(table)
    for (const proc of found) seen.add(nameOf(proc))
    return found
  }
  let procs = await left()
  signalAll(leader, procs, 'SIGTERM')
  // A stopped process only dies of SIGTERM when it goes on.
  signalAll(leader, procs, 'SIGCONT')
  const until = clock.now() + termGraceMs
  for (let wait = 2; (procs = await left()).length > 0 && clock.now() < until; wait = Math.min(wait * 2, 50))
    await clock.sleep(wait)
  for (let round = 0; procs.length > 0 && round < killRounds; round++) {
    signalAll(leader, procs, 'SIGKILL')
    await clock.sleep(Math.min(2 ** round, 50))
    procs = await left()
  }
  return procs.map((proc) => proc.pid)
}

/** Whether the group has a member, dead ones that nobody waited for included: cheap, and sure when it says no. */
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

/** Finds those of a table that are meant. */
export type Look = (table: readonly Proc[]) => Promise<Proc[]>

/** The members of one process group. */
export function groupOf(leader: number): Look {
  return async (table) => table.filter((proc) => proc.group === leader)
}

/**
 * All that a run brought into the world: its group, whoever carries its mark, and the children of these,
 * so that a process that made a session of its own is found too.
 */
export function kinOf(leader: number, mark: string): Look {
  return async (table) => {
    const marked = await Promise.all(table.map((proc) => proc.group === leader || carries(proc.pid, mark)))
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
