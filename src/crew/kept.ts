import type { Entry } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Blobs, Log, Store } from '../core/talk/store.ts'

/** A slot's conversation. */
export function logOf(store: Store, workspace: string, slot: number): Log<Entry> {
  return store.log(`crew/${workspace}/${slot}`)
}

/** Long bodies of a workspace: answers, and the last screens of what is gone. */
export function blobsOf(store: Store, workspace: string): Blobs {
  return store.blobs(`crew/${workspace}/output`)
}

/** How a turn ended, by its entries; undefined while it has not. */
export function outcomeIn(entries: readonly Entry[], turn: string): Outcome | undefined {
  const own = entries.filter((entry) => entry.turn === turn)
  const end = own.find((entry) => entry.type === 'end')
  if (!end) return undefined
  const reply = own.findLast((entry) => entry.type === 'reply')
  // An end that says what the reply said is kept without its text.
  if (!end.outcome.ok || end.outcome.text !== '' || !reply) return end.outcome
  return { ...end.outcome, text: reply.text, ...(reply.whole ? { whole: reply.whole } : {}) }
}
