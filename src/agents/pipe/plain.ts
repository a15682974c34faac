import type { Blobs } from '../../core/talk/store.ts'
import type { Emit, Speech } from './speech.ts'
import { Answer } from './answer.ts'

/** All that comes out is the answer. */
export function plainSpeech(blobs: Blobs, emit: Emit): Speech {
  const answer = new Answer(blobs)
  return {
    typed: false,
    open: (prompt) => ({ text: prompt, stays: false }),
    async hear(text) {
      if (text === '') return
      await answer.add(text)
      await emit({ type: 'text', delta: text })
    },
    stop: () => false,
    over: () => false,
    busy: () => false,
    finish: async () => ({ ok: true, ...(await answer.finish()) }),
    drop: () => answer.drop(),
  }
}
