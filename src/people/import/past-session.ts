import type { Limits, Unread } from './record-lines.ts'
import type { PastProfile, SessionFile } from './session-files.ts'
import type { OurTurns } from './our-turns.ts'
import type { CliHome, PastFact } from '../../core/profile/past-session.ts'
import { existsSync } from 'node:fs'
import { basename, isAbsolute, sep } from 'node:path'
import { projectRoot } from '../../base/files/git.ts'
import { pastFacts, sessionFiles } from './session-files.ts'

/** A session of a CLI, read from beginning to end without being stored. */
export type PastSession = {
  file: SessionFile
  key: string
  cwd: string
  /** The turns that the person gave to the CLI itself, and those that termaite gave to it. */
  turns: number
  ours: number
  /** The beginning of the first prompt that the person gave to the CLI itself. */
  first: string
  from: number
  to: number
  /** The tokens of the whole session. */
  used: { input: number; cached: number; output: number }
  unread: Unread
}

/** Whether a folder belongs to a project. A folder that no longer exists belongs to it if its path is inside the project. */
export function belongsTo(root: string): (cwd: string) => boolean {
  const known = new Map<string, boolean>()
  const found = (cwd: string) => {
    if (!isAbsolute(cwd)) return false
    try {
      if (existsSync(cwd)) return projectRoot(cwd) === root
    } catch {
      // The folder cannot be read, so its path decides.
    }
    return cwd === root || cwd.startsWith(root.endsWith(sep) ? root : root + sep)
  }
  return (cwd) => {
    const is = known.get(cwd) ?? found(cwd)
    known.set(cwd, is)
    return is
  }
}

/** How much of the first prompt is stored, in characters. */
const mostOfFirst = 200

type ReadOptions = { belongs(cwd: string): boolean; ours: OurTurns; limits?: Limits }

/** Reads a session; undefined if it belongs to another project or has no turn. Stops as soon as the folder turns out to be another one. */
export async function readPast(
  profile: PastProfile,
  file: SessionFile,
  { belongs, ours, limits }: ReadOptions,
): Promise<PastSession | undefined> {
  const unread: Unread = { broken: 0, long: 0, cut: false }
  const times = { from: Infinity, to: 0 }
  const turns = { theirs: 0, ours: 0 }
  const used = { input: 0, cached: 0, output: 0 }
  let key: string | undefined
  let cwd: string | undefined
  let first: string | undefined
  for await (const fact of pastFacts(profile, file, unread, limits)) {
    if (fact.type === 'session') {
      key ??= fact.key
      cwd ??= fact.cwd
      if (cwd !== undefined && !belongs(cwd)) return undefined
    }
    if (fact.at !== undefined) {
      times.from = Math.min(times.from, fact.at)
      times.to = Math.max(times.to, fact.at)
    }
    if (fact.type === 'usage') {
      used.input += fact.input
      used.cached += fact.cached ?? 0
      used.output += fact.output
    }
    if (fact.type !== 'prompt') continue
    const isOurs = ours.has(key, fact.at)
    turns[isOurs ? 'ours' : 'theirs']++
    if (!isOurs) first ??= fact.text.slice(0, mostOfFirst)
  }
  if (cwd === undefined || turns.theirs + turns.ours === 0) return undefined
  const { from, to } = times.to === 0 ? { from: file.changed, to: file.changed } : times
  return {
    file,
    key: key ?? basename(file.name, '.jsonl'),
    cwd,
    turns: turns.theirs,
    ours: turns.ours,
    first: first ?? '',
    from,
    to,
    used,
    unread,
  }
}

/** How many of a CLI's newest session files are read to count those of a project. */
const mostCounted = 2_000

/** Counts the sessions of a CLI in a project. Reads each file only until its folder is known. */
export async function countPast(profile: PastProfile, place: CliHome, root: string): Promise<number> {
  const belongs = belongsTo(root)
  const folderOf = async (file: SessionFile) => {
    for await (const fact of pastFacts(profile, file, { broken: 0, long: 0, cut: false }))
      if (fact.type === 'session' && fact.cwd !== undefined) return fact.cwd
    return undefined
  }
  const files = (await sessionFiles(profile, place)).filter(({ inner }) => !inner)
  let count = 0
  for (const file of files.slice(-mostCounted)) {
    const cwd = await folderOf(file).catch(() => undefined)
    if (cwd !== undefined && belongs(cwd)) count++
  }
  return count
}

/** Leaves out the turns that termaite gave to the CLI, which its own log has. */
export async function* withoutOurs(
  facts: AsyncIterable<PastFact>,
  key: string,
  ours: OurTurns,
): AsyncGenerator<PastFact> {
  let own = false
  for await (const fact of facts) {
    if (fact.type === 'prompt') own = ours.has(key, fact.at)
    if (!own) yield fact
  }
}
