import type { Clock } from '../time/clock.ts'
import type { Proc } from './process-table.ts'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { endProcesses } from './end-processes.ts'
import { processFile, processesFrom } from './process-table.ts'

/** A process that continues after the run that started it: a daemon in its own session. */
export type LeftProcess = { pid: number; start: string; command: string }

/** The marks of runs that ended by themselves, the first process of each, and when it began, in clock ticks since the machine started. */
const overRuns = new Map<string, { pid: number; began: number }>()

const ticksPerSecond = 100

/** The present time in the unit of process tables, a second early, because the clocks are read one after another. */
export const ticksNow = () => Math.floor((uptime() - 1) * ticksPerSecond)

/** Notes that a run is over. Its daemons carry its mark. */
export function noteOver(mark: string, pid: number, began: number): void {
  overRuns.set(mark, { pid, began })
}

/** Within this time no machine starts so many processes that their numbers wrap around. */
const shortTicks = ticksPerSecond

/** Finds the processes that the runs since the last call have left running. Only possible on Linux; elsewhere the list is empty. */
export async function leftProcesses(): Promise<LeftProcess[]> {
  const runs = [...overRuns]
  overRuns.clear()
  if (runs.length === 0 || process.platform !== 'linux') return []
  const earliest = Math.min(...runs.map(([, { began }]) => began))
  const first = Math.min(...runs.map(([, { pid }]) => pid))
  // Process numbers grow until they wrap around: before that, younger processes have higher numbers, and only few files need to be read.
  const from = ticksNow() - earliest < shortTicks && lastNumber() >= first ? first : 0
  return youngProcesses(from, earliest).flatMap(({ pid, start }): LeftProcess[] => {
    const environ = processFile(pid, 'environ')
    if (!runs.some(([mark]) => environ?.includes(mark))) return []
    const command = processFile(pid, 'cmdline')?.toString().replaceAll('\0', ' ').trim() ?? ''
    return command === '' ? [] : [{ pid, start, command }]
  })
}

function youngProcesses(first: number, began: number): Proc[] {
  try {
    return processesFrom(first).filter(({ start }) => Number(start) >= began)
  } catch {
    // Without free file descriptors nothing can be found.
    return []
  }
}

/** The number of the youngest process of this machine, or of this container. */
function lastNumber(): number {
  try {
    return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1))
  } catch {
    return 0
  }
}

/** Stops processes that were left running, unless other processes now have their numbers. Returns the pids that could not be killed. */
export async function endLeft(left: readonly LeftProcess[], clock: Clock): Promise<number[]> {
  const isSame = (pid: number, start: string) => left.some((one) => one.pid === pid && one.start === start)
  // No process group has this number: each process is stopped individually.
  const nobody = 2 ** 31 - 1
  return endProcesses(nobody, async (table) => table.filter(({ pid, start }) => isSame(pid, start)), clock)
}
