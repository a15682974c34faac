import type { Doc, Store } from '../core/talk/store.ts'
import { isPlainObject } from '../base/plain-object.ts'

/** One imported session: its CLI, its source, and the copy. */
export type ImportedSession = {
  cli: string
  /** The CLI's own key of the session. */
  key: string
  /** The CLI's file, with its size and time when it was copied. */
  source: string
  bytes: number
  changed: number
  turns: number
  from: number
  to: number
  /** The name of the copy in the folder `imported`. */
  log: string
  /** The session of ours that continues this one and also has its turns: then the copy is neither listed nor searched. */
  continued?: string
}

/** The sessions that were imported into one project. `path` is the project's folder. */
export type ImportedDoc = { path: string; sessions: Record<string, ImportedSession> }

export function importedDoc(store: Store, slug: string, path: string): Doc<ImportedDoc> {
  return store.doc<ImportedDoc>(`projects/${slug}/imported`, { path, sessions: {} }, knownImports)
}

function knownImports(found: unknown): ImportedDoc | undefined {
  const { path, sessions } = (isPlainObject(found) ? found : {}) as Partial<ImportedDoc>
  return typeof path === 'string' && isPlainObject(sessions) && Object.values(sessions).every(isPlainObject)
    ? (found as ImportedDoc)
    : undefined
}

/** Where long bodies of imported sessions are. */
export const importedBodies = (slug: string) => `projects/${slug}/imported/output`
