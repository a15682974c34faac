import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../base/files/files.ts'

/** The crew that numbers the workers of a conversation; no other crew sees them. */
export const workersOf = ({ project, session }: { project: { slug: string }; session: { id: string } }): string =>
  `${project.slug}.${session.id}`

/** Erases everything that is stored about the workers of one conversation. */
export function eraseWorkers(home: string, of: Parameters<typeof workersOf>[0]): void {
  rmSync(join(home, 'crew', workersOf(of)), { recursive: true, force: true })
}

/** Erases everything that is stored about the workers of all conversations of a project. */
export function eraseAllWorkers(home: string, project: { slug: string }): void {
  const prefix = workersOf({ project, session: { id: '' } })
  for (const name of crewsIn(home))
    if (name.startsWith(prefix)) rmSync(join(home, 'crew', name), { recursive: true, force: true })
}

function crewsIn(home: string): string[] {
  try {
    return readdirSync(join(home, 'crew'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
