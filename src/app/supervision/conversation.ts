import type { Conversation } from '../../core/work/conversation.ts'
import type { Io } from '../../core/io.ts'
import type { Ready } from './plan.ts'
import { fileStore } from '../../store/files/store.ts'
import { conversationOf } from '../app.ts'
import { openProject, openSession } from '../project.ts'

/**
 * A session of the project's conversation, named as the agent is at the hub: what it was told and what it said, used and
 * failed at is found there like everybody else's. Our own agent keeps its turns itself.
 */
export async function conversationAt(io: Io, { place, agent, session }: Ready): Promise<Conversation | undefined> {
  if (agent.kind === 'native') return undefined
  const store = fileStore(place.home, { clock: io.clock })
  const project = openProject(store, place.root)
  const opened = await openSession(project, { name: session.state.hubId }, io.clock)
  const conversation = conversationOf(io, project, store.blobs(`projects/${project.slug}/output`), opened)
  await conversation.settle()
  return conversation
}
