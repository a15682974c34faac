import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'

/** A living process; `start` distinguishes it from a later process with the same pid. */
export type Proc = { pid: number; ppid: number; group: number; start: string }

/** Lists all living processes, without zombies. */
export const processTable = coalesced(() => (process.platform === 'linux' ? fromProc() : fromPs()))

/** Says whether a process has this text in its environment. Only Linux can tell. */
export async function carries(pid: number, mark: string): Promise<boolean> {
  return (await environments()).get(pid)?.includes(mark) === true
}

/** Shared, because fifty runs that end at once would each read all environments. */
const environments = coalesced(async (): Promise<Map<number, Buffer>> => {
  const pids = process.platform === 'linux' ? await processNumbers() : []
  const read = pids.map((pid) =>
    readFile(`/proc/${pid}/environ`).then(
      (environ): [number, Buffer][] => [[pid, environ]],
      () => [],
    ),
  )
  return new Map((await Promise.all(read)).flat())
})

async function processNumbers(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
}

async function fromProc(): Promise<Proc[]> {
  const procs = await Promise.all(
    (await processNumbers()).map((pid) =>
      readFile(`/proc/${pid}/stat`, 'latin1').then(
        (stat) => parseStat(pid, stat),
        () => undefined,
      ),
    ),
  )
  return procs.filter((proc) => proc !== undefined)
}

/** Reads a /proc stat line. The process name may hold brackets, so the fields begin after the last bracket. */
export function parseStat(pid: number, stat: string): Proc | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return { pid, ppid: Number(fields[1]), group: Number(fields[2]), start: fields[19] ?? '' }
}

/** Lists the processes where there is no /proc. */
export async function fromPs(): Promise<Proc[]> {
  const out = await new Promise<string>((resolve) =>
    execFile('ps', ['-axo', 'pid=,ppid=,pgid=,stat='], { maxBuffer: 1 << 26 }, (_error, text) => resolve(text)),
  )
  return out.split('\n').flatMap((line): Proc[] => {
    const [pid, ppid, group, state] = line.trim().split(/\s+/)
    if (!pid || !state || state.startsWith('Z')) return []
    return [{ pid: Number(pid), ppid: Number(ppid), group: Number(group), start: '' }]
  })
}

/** Lets callers share one slow look. Callers that come while a look is under way share the next one, because it begins after they asked. */
export function coalesced<T>(look: () => Promise<T>): () => Promise<T> {
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
