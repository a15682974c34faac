import { defined } from '../base/defined.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { SessionPlace } from '../core/talk/session-lines.ts'
import type { ShownPiece } from '../core/talk/shown-words.ts'
import type { Doc, Log, Store } from '../core/talk/store.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Settling } from '../core/work/dead-turns.ts'
import type { WorkMode } from '../core/work/agent.ts'
import { statSync } from 'node:fs'
import { shortHash } from '../base/hash.ts'
import { newId } from '../base/id.ts'
import { isPlainObject } from '../base/plain-object.ts'
import { isEntry } from '../core/talk/entry.ts'
import { UsageError } from '../core/io.ts'

/** `origin`: the session from which this one was forked, and the position of the log up to which it shares entries. */
export type Session = {
  name?: string
  /** Set for a conversation of the coordinator. */
  mode?: 'coordinator'
  startedAt: number
  from: number
  origin?: { session: string; until: number }
}

export type ProjectDoc = {
  path: string
  /** The folder's own identity, by which it is recognised in another place. */
  folder?: string
  lastUsed: number
  current?: string
  /** The current session of the coordinator, whose conversation is separate. */
  coordinator?: string
  sessions: Record<string, Session>
  /** Why there are no snapshots here; set once the person has been informed. */
  snapshotsOff?: string
  /** The rules for which the person answered "always" in this project. */
  rules?: string[]
  /** Rules for commands that the person allowed to run outside the sandbox in this project. */
  outside?: string[]
  /** Places beside the project that commands may read, as the person decided. */
  shown?: string[]
  /** Whether commands can see this project's files with keys, as the person decided. */
  keys?: 'shown' | 'hidden'
  /** Folders that the person added to this project for good. */
  folders?: string[]
  /** A prompt that the chat sends once an agent's quota is available again. */
  waiting?: { session: string; agent: string; until: number; prompt: string }
  /** The thinking used for turns in this project, and whether the person agreed to its cost permanently. */
  thinking?: Thinking
  thinkingAgreed?: true
  /** Whether the person has seen the hint about choosing a framework, shown because no agent here chooses one. */
  thinkingOffered?: true
  /** Whether the person agreed for good that agents may do everything here. */
  allAgreed?: true
  /** Every turn before this position of the log is over. */
  over?: number
  /** The sessions that are being deleted. A process that finds one finishes its deletion. */
  deleting?: Record<string, Deletion>
}

/**
 * The remains of a session that is being deleted: its lines before a position of the log, its turns, the hashes of long bodies in its
 * entries, and the names of its copies among the imported sessions. It contains no text of the session.
 */
export type Deletion = { until: number; turns: string[]; bodies: string[]; copies: string[] }

/**
 * The identity of a folder, which does not change when the folder is renamed or moved on the same disk: its inode and its birth
 * time, because the inode of a deleted folder is reused. Undefined if the file system does not report a birth time.
 */
export function folderIdentity(root: string): string | undefined {
  const found = statSync(root, { bigint: true, throwIfNoEntry: false })
  return found && found.birthtimeNs > 0n ? `${found.dev}:${found.ino}:${found.birthtimeNs}` : undefined
}

/** One project's place in the store. */
export type Project = {
  root: string
  slug: string
  doc: Doc<ProjectDoc>
  log: Log<Entry>
  /** The side log of a turn, with the words that it shows while it runs; a conversation that is not kept has none. */
  shown?(turn: string): Log<ShownPiece>
  settling: Doc<Settling>
}

/** Keeps folder names far below the limit of 255 bytes. */
const mostBytes = 80

/** Makes a project's folder name: the words of its path, and a short hash, so that no two paths share a name. */
export function slugOf(root: string): string {
  const words = root.replaceAll(strange(root), '-').replaceAll(/^-+|-+$/g, '')
  return `${lastBytes(words, mostBytes).replace(/^[-.]+/, '') || 'root'}-${shortHash(root)}`
}

/** Characters to replace. The pattern for all scripts takes milliseconds to compile, so a plain path gets a simpler one. */
function strange(root: string): RegExp {
  return /^[\x20-\x7e]*$/.test(root) ? /[^A-Za-z0-9._-]+/g : /[^\p{L}\p{M}\p{N}._-]+/gu
}

function lastBytes(text: string, most: number): string {
  const letters = [...text]
  let bytes = 0
  const from = letters.findLastIndex((letter) => (bytes += Buffer.byteLength(letter)) > most)
  return letters.slice(from + 1).join('')
}

/** Checks that a document is a project's; undefined when it is damaged. */
export function knownProject(found: unknown): ProjectDoc | undefined {
  const { path, sessions } = (isPlainObject(found) ? found : {}) as Partial<ProjectDoc>
  const whole = typeof path === 'string' && isPlainObject(sessions) && Object.values(sessions).every(isPlainObject)
  return whole ? (found as ProjectDoc) : undefined
}

export function openProject(store: Store, root: string): Project {
  const slug = slugOf(root)
  return {
    root,
    slug,
    doc: store.doc<ProjectDoc>(`projects/${slug}/project`, { path: root, lastUsed: 0, sessions: {} }, knownProject),
    log: store.log<Entry>(`projects/${slug}/history`),
    settling: store.doc<Settling>(`projects/${slug}/settling`, {}),
    shown: (turn) => store.log<ShownPiece>(`projects/${slug}/shown/${turn}`),
  }
}

/** Which session to open; with `existing`, only one that exists. */
export type SessionOptions = { fresh?: boolean; name?: string; existing?: boolean; fork?: Fork; mode?: WorkMode }

/** A new session that begins with the entries of another one: of the session that would be opened, up to now, or of a part of it. */
type Fork = true | { session: string; until: number }

export type OpenSession = Omit<Session, 'origin'> & SessionPlace

/**
 * Opens the session that this run continues, or creates it. A named session does not become the project's current one. `read` is the
 * document, if it was read just now.
 */
export async function openSession(
  project: Project,
  wanted: SessionOptions,
  clock: Clock,
  read?: ProjectDoc,
): Promise<OpenSession> {
  if (wanted.name?.trim() === '') throw new UsageError('--session: found only spaces, allowed: a <name>.')
  const doc = read ?? (await project.doc.read())
  const line = lineOf(wanted)
  const known = find(doc, wanted.name, line)
  const found = wanted.fresh ? undefined : (known ?? (await newest(project, doc, wanted)))
  if (found && wanted.name !== undefined && wanted.mode !== undefined) refuseOtherMode(found, wanted.name, line)
  if (wanted.fork) return forked(project, wanted.fork, found, clock, line)
  if (found) return found
  if (wanted.existing) throw notThere(wanted.name)
  const startedAt = clock.now()
  const id = newId(startedAt)
  const made = defined({
    name: wanted.name,
    mode: line === 'coordinator' ? line : undefined,
    startedAt,
    from: await project.log.end(),
  })
  const kept = await project.doc.update((now) => {
    if (wanted.fresh && wanted.name !== undefined && find(now, wanted.name)) throw taken(wanted.name)
    // Another process may have made the session meanwhile; then both use that one.
    if (!wanted.fresh && find(now, wanted.name, line)) return now
    const current = wanted.fresh || wanted.name === undefined ? { [line]: id } : {}
    const folder = folderIdentity(project.root)
    return defined({
      ...now,
      path: project.root,
      folder,
      lastUsed: startedAt,
      ...current,
      sessions: { ...now.sessions, [id]: made },
    })
  })
  return kept.sessions[id] ? { id, ...made } : find(kept, wanted.name, line)!
}

/** The line of current sessions that a session without a name belongs to: the coordinator has a conversation of its own. */
type Line = 'current' | 'coordinator'

const lineOf = ({ mode }: SessionOptions): Line => (mode === 'coordinator' ? 'coordinator' : 'current')

/** Makes a session that begins with the entries of another one. Nothing of that one changes. */
async function forked(
  project: Project,
  fork: Fork,
  found: OpenSession | undefined,
  clock: Clock,
  line: Line,
): Promise<OpenSession> {
  const end = await project.log.end()
  const origin = fork === true ? found && { session: found.id, until: end } : fork
  if (!origin) throw notThere(undefined)
  const startedAt = clock.now()
  const id = newId(startedAt)
  const kept = await project.doc.update((now) => ({
    ...now,
    path: project.root,
    lastUsed: startedAt,
    [line]: id,
    sessions: {
      ...now.sessions,
      [id]: defined({ mode: line === 'coordinator' ? line : undefined, startedAt, from: end, origin }),
    },
  }))
  return openedSession(kept, id)!
}

/** A session with the log positions of all sessions whose entries it shares. */
export function openedSession(
  doc: ProjectDoc,
  id: string,
  seen: ReadonlySet<string> = new Set(),
): OpenSession | undefined {
  const session = doc.sessions[id]
  if (!session || seen.has(id)) return undefined
  const { origin, ...own } = session
  if (!origin) return { id, ...own }
  // A person may edit the document: a cycle of origins ends at the first session that repeats.
  const parent = openedSession(doc, origin.session, new Set([...seen, id])) ?? { id: origin.session }
  return { id, ...own, origin: { ...parent, until: origin.until } }
}

function find(doc: ProjectDoc, name: string | undefined, line: Line = 'current'): OpenSession | undefined {
  const named = () => Object.keys(doc.sessions).find((key) => doc.sessions[key]!.name === name)
  // A session without a name is identified by its id.
  const byId = name !== undefined && Object.hasOwn(doc.sessions, name) ? name : undefined
  const id = name === undefined ? doc[line] : (named() ?? byId)
  return id === undefined ? undefined : openedSession(doc, id)
}

/** How many lines of the log are searched for a session that the document does not know. */
const mostLines = 1_000

/** Finds the newest unnamed session in the log, for a project whose document was lost, because the log is the truth. */
async function newest(project: Project, doc: ProjectDoc, wanted: SessionOptions): Promise<OpenSession | undefined> {
  // The document alone knows which sessions were a coordinator's.
  if (wanted.name !== undefined || lineOf(wanted) !== 'current') return undefined
  let lines = 0
  for await (const { item } of project.log.back()) {
    if (++lines > mostLines) break
    if (!isEntry(item)) continue
    const { name, mode } = doc.sessions[item.session] ?? {}
    if (name !== undefined || mode !== undefined) continue
    const { session: id, at } = item
    const kept = await project.doc.update((now) =>
      find(now, undefined)
        ? now
        : {
            ...now,
            path: project.root,
            current: id,
            sessions: { ...now.sessions, [id]: now.sessions[id] ?? { startedAt: at, from: 0 } },
          },
    )
    return find(kept, undefined)
  }
  return undefined
}

/** Refuses a named session of the coordinator in another mode, and the other way round: the two kinds stay separate. */
function refuseOtherMode({ mode }: OpenSession, name: string, line: Line): void {
  if ((mode === 'coordinator') === (line === 'coordinator')) return
  throw new UsageError(
    mode === 'coordinator'
      ? `--session: "${name}" is a conversation of the coordinator. Add --mode coordinator to continue it.`
      : `--session: "${name}" is not a conversation of the coordinator. Leave --mode coordinator out to continue it, or choose another name.`,
  )
}

function notThere(name: string | undefined): UsageError {
  return new UsageError(
    name === undefined
      ? 'there is no conversation in this project yet. Begin one with: termaite -p "<request>"'
      : `--session: there is no session "${name}" in this project. \`termaite sessions\` lists them.`,
    1,
  )
}

function taken(name: string): UsageError {
  return new UsageError(
    `--new: the session "${name}" exists already; leave --new out to continue it, or choose another name.`,
  )
}
