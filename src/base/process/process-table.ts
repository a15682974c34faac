import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'

/** One living process; `start` tells it from a later one of the same number. */
export type Proc = { pid: number; ppid: number; group: number; start: string }

/** All living processes; those that are dead and only not yet waited for are left out. */
export const processTable = coalesced(() => (process.platform === 'linux' ? fromProc() : fromPs()))

/** Whether a process was started with this text in its environment; only Linux tells. */
export async function carries(pid: number, mark: string): Promise<boolean> {
  return (await environments()).get(pid)?.includes(mark) === true
}

/** Fifty that end at once would each read all of them. */
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

/** The name in brackets may hold anything, brackets too: what counts begins after the last one. */
export function parseStat(pid: number, stat: string): Proc | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return { pid, ppid: Number(fields[1]), group: Number(fields[2]), start: fields[19] ?? '' }
}

/** How it is done where there is no /proc. */
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

/** A look that many want at once: whoever asks while one is under way shares the next, because it begins after they asked. */
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
