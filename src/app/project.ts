import type { Clock } from '../base/clock.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Doc, Log, Store } from '../core/talk/store.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Io } from '../core/io.ts'
import { shortHash } from '../base/hash.ts'
import { newId } from '../base/id.ts'
import { isEntry } from '../core/talk/entry.ts'
import { UsageError, say } from '../core/io.ts'
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../base/files.ts'
import { messageOf } from '../base/error-message.ts'
import { StoreError } from '../core/talk/store.ts'

export type Session = { name?: string; startedAt: number; from: number }

export type ProjectDoc = {
  path: string
  lastUsed: number
  current?: string
  sessions: Record<string, Session>
  /** Why there are no snapshots here, once the person was told. */
  snapshotsOff?: string
  /** Why commands are not walled in here, once the person was told. */
  sandboxOff?: string
  /** What a person said "always" to in this project, as rules. */
  rules?: string[]
  /** A prompt that is sent by itself once an agent's quota is back. */
  waiting?: { session: string; agent: string; until: number; prompt: string }
  /** How turns are thought through here, and whether what that costs need not be asked about. */
  thinking?: Thinking
  thinkingAgreed?: true
  /** Every turn that stands in the log before this place is over. */
  over?: number
}

/** One project's place in the store. */
export type Project = { root: string; slug: string; doc: Doc<ProjectDoc>; log: Log<Entry> }

/** A folder's name may have 255 bytes, and a letter up to four. */
const mostBytes = 80

/** Readable, and different for any two paths: the path's words and a short hash of the whole. */
export function slugOf(root: string): string {
  const words = root.replaceAll(strange(root), '-').replaceAll(/^-+|-+$/g, '')
  return `${lastBytes(words, mostBytes).replace(/^[-.]+/, '') || 'root'}-${shortHash(root)}`
}

/** The classes of all scripts take milliseconds to build, so a plain path does not ask for them. */
function strange(root: string): RegExp {
  return /^[\x20-\x7e]*$/.test(root) ? /[^A-Za-z0-9._-]+/g : /[^\p{L}\p{M}\p{N}._-]+/gu
}

function lastBytes(text: string, most: number): string {
  const letters = [...text]
  let bytes = 0
  const from = letters.findLastIndex((letter) => (bytes += Buffer.byteLength(letter)) > most)
  return letters.slice(from + 1).join('')
}

/** A document that a person damaged is none of ours: whoever needs it says so. */
export function knownProject(found: unknown): ProjectDoc | undefined {
  const isObject = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one)
  const { path, sessions } = (isObject(found) ? found : {}) as Partial<ProjectDoc>
  const whole = typeof path === 'string' && isObject(sessions) && Object.values(sessions!).every(isObject)
  return whole ? (found as ProjectDoc) : undefined
}

export function openProject(store: Store, root: string): Project {
  const slug = slugOf(root)
  return {
    root,
    slug,
    doc: store.doc<ProjectDoc>(`projects/${slug}/project`, { path: root, lastUsed: 0, sessions: {} }, knownProject),
    log: store.log<Entry>(`projects/${slug}/history`),
  }
}

/** `existing`: only one that is there will do. */
export type Wanted = { fresh?: boolean; name?: string; existing?: boolean }

export type OpenSession = { id: string } & Session

/** The session this run goes on with, made when there is none. A named one does not become the project's current one. `read`: the document, where it was read just now. */
export async function openSession(
  project: Project,
  wanted: Wanted,
  clock: Clock,
  read?: ProjectDoc,
): Promise<OpenSession> {
  if (wanted.name?.trim() === '') throw new UsageError('--session: found only spaces, allowed: a <name>.')
  const doc = read ?? (await project.doc.read())
  const found = wanted.fresh ? undefined : (find(doc, wanted.name) ?? (await newest(project, doc, wanted.name)))
  if (found) return found
  if (wanted.existing) throw notThere(wanted.name)
  const startedAt = clock.now()
  const id = newId(startedAt)
  const made: Session = {
    ...(wanted.name === undefined ? {} : { name: wanted.name }),
    startedAt,
    from: await project.log.end(),
  }
  const kept = await project.doc.update((now) => {
    if (wanted.fresh && wanted.name !== undefined && find(now, wanted.name)) throw taken(wanted.name)
    // Another process may have made it meanwhile: then both go on with that one.
    if (!wanted.fresh && find(now, wanted.name)) return now
    const current = wanted.fresh || wanted.name === undefined ? { current: id } : {}
    return { ...now, path: project.root, lastUsed: startedAt, ...current, sessions: { ...now.sessions, [id]: made } }
  })
  return kept.sessions[id] ? { id, ...made } : find(kept, wanted.name)!
}

function find(doc: ProjectDoc, name: string | undefined): OpenSession | undefined {
  const id =
    name === undefined ? doc.current : Object.keys(doc.sessions).find((key) => doc.sessions[key]!.name === name)
  const session = id === undefined ? undefined : doc.sessions[id]
  return session && { id: id!, ...session }
}

/** So many lines of the log are looked through for a session that the document does not know. */
const mostLines = 1_000

/** The log is the truth: a project whose document was lost goes on with the session that spoke last, unless that was one with a name. */
async function newest(project: Project, doc: ProjectDoc, name: string | undefined): Promise<OpenSession | undefined> {
  if (name !== undefined) return undefined
  let lines = 0
  for await (const { item } of project.log.back()) {
    if (++lines > mostLines) break
    if (!isEntry(item) || doc.sessions[item.session]?.name !== undefined) continue
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

function notThere(name: string | undefined): UsageError {
  return new UsageError(
    name === undefined
      ? 'nothing was said in this project yet.'
      : `--session: there is no session "${name}" in this project. \`termaite sessions\` lists them.`,
    1,
  )
}

function taken(name: string): UsageError {
  return new UsageError(
    `--new: there is a session "${name}" already; leave --new out to go on with it, or choose another name.`,
  )
}

export function touch(project: Project, clock: Clock): Promise<ProjectDoc> {
  return project.doc.update((now) => ({ ...now, path: project.root, lastUsed: clock.now() }))
}

/** A project's document that is damaged must not stop a turn, and must not be lost: the log goes on without it. */
export function setAsideIfBroken(io: Io, folder: string): void {
  const file = join(folder, 'project.json')
  if (isWhole(file)) return
  const aside = `${file}.${new Date(io.clock.now()).toISOString().replaceAll(/[:.]/g, '-')}.broken`
  try {
    renameSync(file, aside)
  } catch (error) {
    // Another process was faster.
    if (isMissing(error)) return
    throw new StoreError(`${file} is damaged and cannot be set aside: ${messageOf(error)}; move it away yourself`, {
      cause: error,
    })
  }
  say(
    io,
    `termaite: ${file} is damaged and was set aside as ${aside}. The conversation goes on with what was said last; the names of sessions are in that file.`,
  )
}

function isWhole(file: string): boolean {
  try {
    return knownProject(JSON.parse(readFileSync(file, 'utf8'))) !== undefined
  } catch (error) {
    // What cannot be opened at all is told by whoever needs it.
    return !(error instanceof SyntaxError)
  }
}
