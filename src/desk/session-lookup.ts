import type { Index, Session } from '../store/index/conversation-index.ts'
import { UsageError } from '../core/io.ts'
import { oneLine } from '../base/table.ts'

/** Finds a session by the beginning of its id or by its name; without a word, the last one. */
export async function sessionNamed(
  { index, of }: { index: Index; of: { project?: string } },
  typed: string | undefined,
): Promise<Session> {
  const sessions = await index.sessions(of)
  const [latest] = sessions
  if (typed === undefined && latest) return latest
  if (typed === undefined) throw new UsageError('there is no conversation in this project yet.', 1)
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

export function title(session: Session): string {
  return session.name ?? oneLine(session.first ?? '', 60)
}
