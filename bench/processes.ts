import { readdirSync, readFileSync } from 'node:fs'

/** One process, as Linux tells of it, and the time that it has used in all. */
export type Process = { pid: number; ppid: number; line: string; cpuMs: number }

const ticksPerMs = 0.1

/** The processes of these roots, and all below them. */
export function below(roots: readonly number[]): Process[] {
  const all = everyone()
  const found = all.filter(({ pid }) => roots.includes(pid))
  for (let at = 0; at < found.length; at++) {
    const parent = found[at]!.pid
    found.push(...all.filter(({ ppid, pid }) => ppid === parent && !found.some((one) => one.pid === pid)))
  }
  return found
}

/** Resolves when no process has this in its command line. */
export async function gone(text: string): Promise<void> {
  while (everyone().some(({ line }) => line.includes(text))) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** The part of one core that the processes have used since they were looked at before. */
export function busyShare(before: readonly Process[], after: readonly Process[], ms: number): number {
  const used = new Map(before.map(({ pid, cpuMs }) => [pid, cpuMs]))
  return after.reduce((sum, { pid, cpuMs }) => sum + (used.has(pid) ? cpuMs - used.get(pid)! : 0), 0) / ms
}

/** The memory of the processes, in which each shared page is divided among those that share it. */
export function memoryMB(processes: readonly Process[]): number {
  return processes.reduce((sum, { pid }) => {
    const kB = Number(/^Pss:\s+(\d+)/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
    return sum + kB / 1024
  }, 0)
}

function everyone(): Process[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? read(Number(name)) : []))
}

function read(pid: number): Process[] {
  const stat = text(`/proc/${pid}/stat`)
  // The name of the program stands in brackets, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 14) return []
  const cpuMs = (Number(fields[11]) + Number(fields[12])) / ticksPerMs
  return [{ pid, ppid: Number(fields[1]), line: text(`/proc/${pid}/cmdline`).replaceAll('\0', ' '), cpuMs }]
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
