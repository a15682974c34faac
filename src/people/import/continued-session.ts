import type { Clock } from '../../base/time/clock.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { Store } from '../../core/talk/store.ts'
import type { Index, Session } from '../../store/index/conversation-index.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { Project } from '../../home/project.ts'
import { newId } from '../../base/id.ts'
import { wholeEntry, withShortBody } from '../../core/talk/body.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { importedBodies, importedDoc } from '../../home/imported-sessions.ts'

type Parts = { project: Project; store: Store; index: Index; clock: Pick<Clock, 'now'> }

/** The agent that can continue a session of a CLI in its own thread: the first one in the settings that runs this CLI. */
export const agentOfCli = (agents: readonly AgentSettings[], cli: string): string | undefined =>
  agents.find((agent) => agent.enabled !== false && profileOf(agent)?.name === cli)?.name

/**
 * Makes a session of ours from an imported one, which stays unchanged and is no longer listed. The turns are copied into the project's
 * log, signed by the agent that runs the CLI here, so that this agent continues its own thread and `sharing` applies to all others. Their
 * tokens stay with the CLI: termaite did not spend them. Returns the id of the new session.
 */
export async function continueImported(
  { project, store, index, clock }: Parts,
  session: Session,
  agent: string,
): Promise<string> {
  const doc = importedDoc(store, project.slug, project.root)
  const known = (await doc.read()).sessions[session.id]
  if (known?.continued !== undefined) return known.continued
  const startedAt = clock.now()
  const id = newId(startedAt)
  const from = await project.log.end()
  const bodies = store.blobs(importedBodies(project.slug))
  const own = store.blobs(`projects/${project.slug}/output`)
  let last: Entry | undefined
  for await (const entry of index.entries(session.id)) {
    if (entry.type === 'usage') continue
    const whole = await wholeEntry(entry, bodies).catch(() => entry)
    const by = entry.by === session.cli ? agent : entry.by
    if (last) await project.log.append(last, 'unsynced')
    last = { ...((await withShortBody(whole, own)) as Entry), by, session: id }
  }
  // Appending the last entry makes all of them durable.
  if (last) await project.log.append(last)
  await project.doc.update((now) => ({
    ...now,
    path: project.root,
    lastUsed: startedAt,
    current: id,
    sessions: { ...now.sessions, [id]: { startedAt: session.started, from } },
  }))
  await doc.update((now) => {
    const one = now.sessions[session.id]
    return one ? { ...now, sessions: { ...now.sessions, [session.id]: { ...one, continued: id } } } : now
  })
  return id
}
