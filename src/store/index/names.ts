import type { DatabaseSync } from 'node:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { immediately } from '../sqlite.ts'

type Named = { path: string | null; names: Map<string, string> }

/** Takes over the real path of a project and the names of its sessions; writes only what changed. */
export async function keepNames(db: DatabaseSync, home: string, project: string, clock: Clock): Promise<void> {
  const { path, names } = readNames(join(home, 'projects', project, 'project.json'))
  const log = db.prepare('SELECT path FROM logs WHERE project = ?').get(project)
  const sessions = db.prepare('SELECT id, name FROM sessions WHERE project = ?').all(project)
  const renamed = sessions.filter(({ id, name }) => name !== (names.get(String(id)) ?? null))
  const moved = log !== undefined && log.path !== path
  if (!moved && renamed.length === 0) return
  await immediately(db, clock, () => {
    db.prepare('UPDATE logs SET path = ? WHERE project = ?').run(path, project)
    const rename = db.prepare('UPDATE sessions SET name = ? WHERE id = ?')
    for (const { id } of renamed) rename.run(names.get(String(id)) ?? null, id!)
  })
}

/** The project's document, as far as it can be read: the index goes without rather than failing. */
function readNames(path: string): Named {
  try {
    const doc = JSON.parse(readFileSync(path, 'utf8')) as {
      path?: unknown
      sessions?: Record<string, { name?: unknown }>
    }
    const named = Object.entries(doc.sessions ?? {}).flatMap(([id, session]) =>
      typeof session?.name === 'string' ? [[id, session.name] as const] : [],
    )
    return { path: typeof doc.path === 'string' ? doc.path : null, names: new Map(named) }
  } catch {
    return { path: null, names: new Map() }
  }
}
