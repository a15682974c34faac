import type { Clock } from '../clock.ts'
import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import { endProcesses } from './end-processes.ts'
import { processTable } from './process-table.ts'

/** A process that goes on after the run that started it: a daemon, in a session of its own. */
export type LeftProcess = { pid: number; start: string; command: string }

/** The marks of runs that came to their end by themselves, and when each began, in clock ticks since the machine started. */
const overRuns = new Map<string, number>()

const ticksPerSecond = 100

/** The moment as process tables write it, a second early, because the clocks are read one after the other. */
export const ticksNow = () => Math.floor((uptime() - 1) * ticksPerSecond)

/** Notes that a run is over. Its daemons carry its mark. */
export function noteOver(mark: string, began: number): void {
  overRuns.set(mark, began)
}

/** Finds the processes that the runs since the last call have left running. Only Linux can tell; elsewhere none are found. */
export async function leftProcesses(): Promise<LeftProcess[]> {
  const runs = [...overRuns]
  overRuns.clear()
  if (runs.length === 0 || process.platform !== 'linux') return []
  const earliest = Math.min(...runs.map(([, began]) => began))
  const table = (await processTable().catch(() => [])).filter(({ start }) => Number(start) >= earliest)
  const found = await Promise.all(
    table.map(async ({ pid, start }): Promise<LeftProcess[]> => {
      const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      if (!runs.some(([mark]) => environ.includes(mark))) return []
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return command === '' ? [] : [{ pid, start, command: command.replaceAll('\0', ' ').trim() }]
    }),
  )
  return found.flat()
}

/** Ends processes that were left running, unless other ones have their numbers by now. Returns the pids that would not die. */
export async function endLeft(left: readonly LeftProcess[], clock: Clock): Promise<number[]> {
  const isSame = (pid: number, start: string) => left.some((one) => one.pid === pid && one.start === start)
  // No process group has this number: each process is ended by its own.
  const nobody = 2 ** 31 - 1
  return endProcesses(nobody, async (table) => table.filter(({ pid, start }) => isSame(pid, start)), clock)
}
