import type { Clock } from '../base/clock.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Doc, Log, Store } from '../core/talk/store.ts'
import { shortHash } from '../base/hash.ts'
import { newId } from '../base/id.ts'
import { UsageError } from './io.ts'

export type Session = { name?: string; startedAt: number; from: number }

export type ProjectDoc = {
  path: string
  lastUsed: number
  current?: string
  sessions: Record<string, Session>
  /** Why there are no snapshots here, once the person was told. */
  snapshotsOff?: string
}

/** One project's place in the store. */
export type Project = { root: string; slug: string; doc: Doc<ProjectDoc>; log: Log<Entry> }

/** Readable, and different for any two paths: the path's words and a short hash of the whole. */
export function slugOf(root: string): string {
  const words = root.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^-+|-+$/g, '')
  const hash = shortHash(root)
  return `${words.slice(-80).replace(/^[-.]+/, '') || 'root'}-${hash}`
}

export function openProject(store: Store, root: string): Project {
  const slug = slugOf(root)
  return {
    root,
    slug,
    doc: store.doc<ProjectDoc>(`projects/${slug}/project`, { path: root, lastUsed: 0, sessions: {} }),
    log: store.log<Entry>(`projects/${slug}/history`),
  }
}

export type Wanted = { fresh?: boolean; name?: string }

export type OpenSession = { id: string } & Session

/** The session this run goes on with, made when there is none. A named one does not become the project's current one. */
export async function openSession(project: Project, wanted: Wanted, clock: Clock): Promise<OpenSession> {
  const found = wanted.fresh ? undefined : find(await project.doc.read(), wanted.name)
  if (found) return found
  const startedAt = clock.now()
  const id = newId(startedAt)
  const made: Session = {
    ...(wanted.name === undefined ? {} : { name: wanted.name }),
    startedAt,
    from: await project.log.end(),
  }
  const doc = await project.doc.update((now) => {
    if (wanted.fresh && wanted.name !== undefined && find(now, wanted.name)) throw taken(wanted.name)
    // Another process may have made it meanwhile: then both go on with that one.
    if (!wanted.fresh && find(now, wanted.name)) return now
    const current = wanted.fresh || wanted.name === undefined ? { current: id } : {}
    return { ...now, path: project.root, lastUsed: startedAt, ...current, sessions: { ...now.sessions, [id]: made } }
  })
  return doc.sessions[id] ? { id, ...made } : find(doc, wanted.name)!
}

function find(doc: ProjectDoc, name: string | undefined): OpenSession | undefined {
  const id =
    name === undefined ? doc.current : Object.keys(doc.sessions).find((key) => doc.sessions[key]!.name === name)
  const session = id === undefined ? undefined : doc.sessions[id]
  return session && { id: id!, ...session }
}

function taken(name: string): UsageError {
  return new UsageError(
    `--new: there is a session "${name}" already; leave --new out to go on with it, or choose another name.`,
  )
}

export function touch(project: Project, clock: Clock): Promise<ProjectDoc> {
  return project.doc.update((now) => ({ ...now, path: project.root, lastUsed: clock.now() }))
}
