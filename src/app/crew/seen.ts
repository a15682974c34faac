import type { Store } from '../../core/talk/store.ts'
import type { Seen } from '../../crew/reading.ts'

/** What was read of each slot from the shell, where every command is a process of its own. */
export function seenIn(store: Store, workspace: string): Seen {
  const doc = store.doc<Record<string, string[]>>(`crew/${workspace}/seen`, {})
  return {
    get: async (slot) => (await doc.read())[slot] ?? [],
    set: async (slot, rows) => void (await doc.update((now) => ({ ...now, [slot]: rows }))),
  }
}
