import type { Index } from '../../../store/index/conversation-index.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { App } from '../../../turn/app.ts'
import { openIndex } from '../../../store/index/conversation-index.ts'
import { UsageError, voiceOf } from '../../../core/io.ts'

/** Opens the index, brings it up to date, and closes it after one query. */
export async function withIndex<T>(
  controls: DeskControls,
  work: (index: Index, project: string) => Promise<T>,
): Promise<T> {
  const { place, io, project } = keeping(controls)
  const index = openIndex(place.home, voiceOf(io))
  try {
    await index.catchUp()
    return await work(index, project.slug)
  } finally {
    await index.close()
  }
}

/** The app of a chat that keeps a history. Throws for an ephemeral chat: it keeps none, and must not read any. */
export function keeping(controls: DeskControls): App {
  const app = controls.app()
  if (app.ephemeral) throw new UsageError('this chat is ephemeral: it keeps no history and reads none.')
  return app
}
