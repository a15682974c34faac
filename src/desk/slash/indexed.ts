import type { Index } from '../../store/index/conversation-index.ts'
import type { Hold } from '../hold.ts'
import { keeping } from './kept.ts'
import { openIndex } from '../../store/index/conversation-index.ts'

/** The index over all conversations, brought up to now, for one question. */
export async function withIndex<T>(hold: Hold, work: (index: Index, project: string) => Promise<T>): Promise<T> {
  const { place, io, project } = keeping(hold)
  const index = openIndex(place.home, { clock: io.clock })
  try {
    await index.catchUp()
    return await work(index, project.slug)
  } finally {
    await index.close()
  }
}
