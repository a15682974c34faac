import type { Project, ProjectDoc } from '../home/project.ts'
import type { Index, Session } from '../store/index/conversation-index.ts'
import { UsageError } from '../core/io.ts'
import { defined } from '../base/defined.ts'
import { oneLine } from '../base/text/table.ts'

/** Finds a session by the beginning of its id or by its name; without a name, the last one. */
export async function sessionNamed(
  { index, of }: { index: Index; of: { project?: string } },
  typed: string | undefined,
): Promise<Session> {
  const sessions = await index.sessions(of)
  // An imported session is chosen only by its name or id, unless there is no other session.
  const latest = sessions.find(({ cli }) => cli === undefined) ?? sessions[0]
  if (typed === undefined && latest) return latest
  if (typed === undefined)
    throw new UsageError('there is no conversation in this project yet. Begin one with: termaite -p "<request>"', 1)
  const everywhere = await index.sessions()
  const matching = everywhere.filter(({ id }) => id.startsWith(typed))
  const named = sessions.filter(({ name }) => name === typed)
  const found = named.length > 0 ? named : matching
  if (found.length === 1) return found[0]!
  throw new UsageError(
    found.length === 0
      ? `there is no session with the id or name "${typed}". \`termaite sessions --all\` lists them.`
      : `${found.length} sessions have an id that begins with "${typed}". Type more of the id.`,
    1,
  )
}

/** A session, its depth in forks below a session without an origin, and whether it is a conversation of the coordinator. */
export type SessionNode = { session: Session; depth: number; mode?: 'coordinator' }

/** The facts about a session in the project's document. */
type Known = { origin?: { session: string }; mode?: 'coordinator' }

/** Places each fork below the session that it began in; a tree that was used more recently comes first. */
export function sessionTree(latestFirst: readonly Session[], known: Readonly<Record<string, Known>>): SessionNode[] {
  const ids = new Set(latestFirst.map(({ id }) => id))
  const parentOf = ({ id }: Session) => {
    const parent = known[id]?.origin?.session
    return parent !== undefined && ids.has(parent) ? parent : undefined
  }
  const node = (session: Session, depth: number): SessionNode =>
    defined({ session, depth, mode: known[session.id]?.mode })
  const below = (parent: string | undefined, depth: number): SessionNode[] =>
    latestFirst
      .filter((session) => parentOf(session) === parent)
      .flatMap((session) => [node(session, depth), ...below(session.id, depth + 1)])
  const latestIn = (nodes: readonly SessionNode[]) => Math.max(...nodes.map(({ session }) => session.last))
  return latestFirst
    .filter((session) => parentOf(session) === undefined)
    .map((session) => [node(session, 0), ...below(session.id, 1)])
    .sort((a, b) => latestIn(b) - latestIn(a))
    .flat()
}

/** The title of a session in a tree. A fork has an arrow before it; a conversation of the coordinator or of another CLI is labelled. */
export const treeTitle = ({ session, depth, mode }: SessionNode): string => {
  const { cli } = session
  const kind = mode ?? (cli === undefined ? undefined : `from ${cli}`)
  return [depth > 0 ? `${'  '.repeat(depth - 1)}↳ ` : '', kind ? `${kind}: ` : '', title(session)].join('')
}

/** The name of a session, or the beginning of its first prompt. */
export function title({ name, first }: Session): string {
  return name === undefined ? oneLine(first ?? '', 60) : oneLine(name, 120)
}

/** The question before a session is deleted: it says what is deleted, and what stays. */
export function deletionQuestion(session: Session): string {
  const { turns, cli } = session
  const count = `${turns} ${turns === 1 ? 'turn' : 'turns'}`
  return cli === undefined
    ? `Delete “${title(session)}” (${count}) for good? Its words, long outputs, workers and snapshots are erased and its turns can no longer be undone. The project’s files stay, and so does what other CLIs keep themselves and what other sessions quote of it.`
    : `Delete the imported “${title(session)}” (${count}) for good? The copy is erased; the file of ${cli} itself stays, and can be imported again.`
}

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
