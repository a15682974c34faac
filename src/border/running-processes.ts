import type { Clock } from '../base/time/clock.ts'
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defined } from '../base/defined.ts'
import { namesIn } from '../base/files/files.ts'
import { shortHash } from '../base/hash.ts'
import { isAlive, isHere, ownerMark, ownerPid } from '../base/process/owner.ts'
import { timeApart } from '../base/time/clock.ts'

/** Our long-running commands. A single turn leaves no note, because its conversation names its process. */
type LongRun = 'chat' | 'hub' | 'agent' | 'mcp server' | 'editor' | 'keeper' | 'link'

/** A running process of ours; without a pid it runs on another machine or in another container. */
export type RunningProcess = {
  process: LongRun
  pid?: number
  since: number
  /** The folder that the process works in. */
  project?: string
  /** The sessions that are open on the screens of the process. */
  sessions?: readonly string[]
  /** The agent that the process supervises, or the crew that it looks after. */
  about?: string
  /** The address that the process serves. */
  url?: string
  /** The address of the web page that the process serves to browsers on other machines. */
  page?: string
  /** The terminal of the agent that the process supervises, with the agent's name and the root of its project. */
  terminal?: { id: string; agent: string; root: string }
}

type Note = Omit<RunningProcess, 'pid'> & { owner: string }

/** The note of a process on another machine is trusted for this long, because its end cannot be seen from here. */
const unseenMs = 24 * 3_600_000

const folderIn = (home: string) => join(home, 'run')

/** Whether a file in the folder `run` of our home is the note of a process. */
const isProcessNote = (path: string) => /[/\\]\d+-[0-9a-z]+\.json(\.tmp)?$/.test(path)

/**
 * Leaves a note of this process, which will run for long, in our home until the returned function is called; called again, it
 * replaces the note. A home that cannot be written gets none.
 */
export function noteProcess(
  home: string,
  process: Omit<RunningProcess, 'pid' | 'since'> & { since?: number },
  clock: Pick<Clock, 'now'>,
): () => void {
  // The limit is not urgent: the heap of a process that has just started is small.
  void import('../base/process/heap-growth.ts').then(({ limitHeapGrowth }) => limitHeapGrowth())
  const owner = ownerMark()
  const file = join(folderIn(home), `${ownerPid(owner)}-${shortHash(owner)}.json`)
  const note: Note = { since: clock.now(), ...process, owner }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.tmp`, JSON.stringify(note), { mode: 0o600 })
    renameSync(`${file}.tmp`, file)
  } catch {
    return () => {}
  }
  return () => removeNote(file)
}

/** Lists the long-running processes of a home, the oldest first, and removes the notes of dead ones. */
export function runningProcesses(home: string, now: number): RunningProcess[] {
  return notesIn(home)
    .filter(({ file, note }) => {
      if (isHere(note.owner) ? isAlive(note.owner) : timeApart(now, writtenAt(file)) < unseenMs) return true
      removeNote(file)
      return false
    })
    .map(({ note: { owner, ...note } }) => defined({ ...note, pid: isHere(owner) ? ownerPid(owner) : undefined }))
    .toSorted((a, b) => a.since - b.since)
}

/** The hub that runs on a home, if there is one. */
export function runningHub(home: string): Pick<RunningProcess, 'url' | 'page'> | undefined {
  return notesIn(home).find(({ note }) => note.process === 'hub' && isAlive(note.owner))?.note
}

/** The address of the hub that runs on a home, if there is one. */
export const runningHubUrl = (home: string) => runningHub(home)?.url

function notesIn(home: string): { file: string; note: Note }[] {
  return namesIn(folderIn(home))
    .sort()
    .map((name) => join(folderIn(home), name))
    .filter((file) => isProcessNote(file) && file.endsWith('.json'))
    .flatMap((file) => {
      const note = read(file)
      return note ? [{ file, note }] : []
    })
}

function read(file: string): Note | undefined {
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as Partial<Note> | null
    return typeof note?.owner === 'string' && typeof note.process === 'string' ? (note as Note) : undefined
  } catch {
    return undefined
  }
}

/** Removes a note, and its folder if that is empty afterwards. */
function removeNote(file: string): void {
  try {
    rmSync(file, { force: true })
    rmdirSync(dirname(file))
  } catch {
    // The folder contains other notes or sockets, or another process was faster.
  }
}

/** When a note was written. */
function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
