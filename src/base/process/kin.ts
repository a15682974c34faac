import type { Proc } from './table.ts'
import { carries, processTable } from './table.ts'

/** The members of one process group. */
export async function groupOf(leader: number): Promise<Proc[]> {
  return (await processTable()).filter((proc) => proc.group === leader)
}

/**
 * All that a run brought into the world: its group, whoever carries its mark, and the children of these,
 * so that a process that made a session of its own is found too.
 */
export async function kinOf(leader: number, mark: string): Promise<Proc[]> {
  const table = await processTable()
  const marked = await Promise.all(table.map((proc) => carries(proc.pid, mark)))
  const found = new Set(table.filter((proc, i) => proc.group === leader || marked[i]))
  const pids = new Set([...found].map((proc) => proc.pid))
  for (let grown = true; grown;) {
    grown = false
    for (const proc of table) {
      if (found.has(proc) || !pids.has(proc.ppid)) continue
      found.add(proc)
      pids.add(proc.pid)
      grown = true
    }
  }
  return [...found]
}
