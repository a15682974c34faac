import type { Proc } from './table.ts'
import { carries } from './table.ts'

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
