import type { Project, ProjectDoc } from '../home/project.ts'
import type { Session } from '../store/index/conversation-index.ts'
import { UsageError } from '../core/io.ts'

/** Gives a session a name that no other session of the project has. */
export async function renameSession(project: Project, session: Session, name: string): Promise<void> {
  if (session.cli !== undefined)
    throw new UsageError(
      `${session.id} was imported and is only read. To continue it as a session of yours: termaite sessions resume ${session.id}`,
      1,
    )
  await project.doc.update((now) => {
    const other = Object.keys(now.sessions).find((key) => now.sessions[key]!.name === name && key !== session.id)
    if (other) throw new UsageError(`${other} already has the name "${name}". Choose another one.`)
    return withSession(now, session, { name })
  })
}

/** Adds a session to the project's document. Facts that are already there win. */
export function withSession(doc: ProjectDoc, session: Session, more: { name?: string } = {}): ProjectDoc {
  const known = { startedAt: session.started, from: session.begins, ...doc.sessions[session.id], ...more }
  return { ...doc, sessions: { ...doc.sessions, [session.id]: known } }
}
