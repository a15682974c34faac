import { readdirSync, readFileSync, statSync } from 'node:fs'
import { childProcesses } from './node-processes.ts'

/** A living process; `start` distinguishes it from a later process with the same pid. */
export type Proc = { pid: number; ppid: number; group: number; start: string }

/** Lists all living processes, without zombies. */
export const processTable = shareCalls(async () => (process.platform === 'linux' ? processesFrom(0) : fromPs()))

/** Says whether a process has this text in its environment. Only Linux can tell. */
export async function carries(pid: number, mark: string): Promise<boolean> {
  return (await environments()).get(pid)?.includes(mark) === true
}

/**
 * Returns those of the files that a process with this text in its environment has open; undefined if there is no such process, or if this
 * cannot be determined. Files are compared by their numbers, because behind a wall a file may have another path.
 */
export async function openedBy(mark: string, paths: readonly string[]): Promise<string[] | undefined> {
  const marked = [...(await environments())].flatMap(([pid, environ]) => (environ.includes(mark) ? [pid] : []))
  if (marked.length === 0) return undefined
  const open = new Set(marked.flatMap(openFiles))
  return paths.filter((path) => open.has(fileNumber(path) ?? ''))
}

/** Whether any process that this machine can see has a file open. */
export function isOpen(path: string): boolean {
  const number = fileNumber(path)
  const pids = process.platform === 'linux' && number !== undefined ? processNumbers() : []
  return pids.some((pid) => openFiles(pid).includes(number!))
}

/** The numbers of the files that a process has open; empty if the process is gone or belongs to somebody else. */
function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).flatMap((name) => fileNumber(`${folder}/${name}`) ?? [])
  } catch {
    return []
  }
}

function fileNumber(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path)
    return `${dev} ${ino}`
  } catch {
    return undefined
  }
}

/** The result is shared, because fifty runs that end at once would each read all environments. */
const environments = shareCalls(async (): Promise<Map<number, Buffer>> => {
  const pids = process.platform === 'linux' ? processNumbers() : []
  return new Map(
    pids.flatMap((pid): [number, Buffer][] => {
      const environ = processFile(pid, 'environ')
      return environ ? [[pid, environ]] : []
    }),
  )
})

function processNumbers(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/**
 * A file of a process; undefined if the process is gone or belongs to somebody else. It is read synchronously, because none of these
 * comes from a disk.
 */
export function processFile(
  pid: number,
  name: 'stat' | 'environ' | 'cmdline' | `task/${string}/children`,
): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`)
  } catch {
    return undefined
  }
}

/** Lists the living processes with this number or a higher one, if the system has /proc. */
export function processesFrom(first: number): Proc[] {
  return processNumbers().flatMap((pid) => {
    const stat = pid < first ? undefined : processFile(pid, 'stat')
    return (stat && parseStat(pid, stat.toString('latin1'))) ?? []
  })
}

/** When a process was started, in the form of `Proc`; undefined if the process is gone, and on a system without /proc. */
export function startOf(pid: number): string | undefined {
  const stat = process.platform === 'linux' ? processFile(pid, 'stat') : undefined
  return stat && parseStat(pid, stat.toString('latin1'))?.start
}

const msOfTick = 10

/** The time between the starts of two processes, rounded up. */
export const msBetween = (first: string, second: string): number => (Number(second) - Number(first) + 1) * msOfTick

/** Parses a /proc stat line. The process name may contain brackets, so the fields begin after the last bracket. */
export function parseStat(pid: number, stat: string): Proc | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return { pid, ppid: Number(fields[1]), group: Number(fields[2]), start: fields[19] ?? '' }
}

/** Lists the processes on a system without /proc. */
export async function fromPs(): Promise<Proc[]> {
  const out = await new Promise<string>((resolve) =>
    childProcesses().execFile('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,stat='], { maxBuffer: 1 << 26 }, (_error, text) =>
      resolve(text),
    ),
  )
  return parsePs(out)
}

/** Reads the lines of `ps -axo pid=,ppid=,pgid=,stat=`. */
export function parsePs(out: string): Proc[] {
  return out.split('\n').flatMap((line): Proc[] => {
    const [pid, ppid, group, state] = line.trim().split(/\s+/)
    if (!pid || !state || state.startsWith('Z')) return []
    return [{ pid: Number(pid), ppid: Number(ppid), group: Number(group), start: '' }]
  })
}

/** Lets callers share one slow scan. Callers that come while a scan is running share the next one, because it begins after their call. */
export function shareCalls<T>(look: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  const begin = () => {
    next = undefined
    const begun = look()
    last = begun.catch(() => {})
    return begun
  }
  return () => (next ??= last.then(begin))
}
