import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './signs.ts'
import { quote } from './quote.ts'

/** What runs in place of a CLI that would do more than its leash allows: words, and nothing else. */
export function unheld(name: string, leash: Leash): string {
  const words = `${name} cannot be held to the leash "${leash}": it would run everything. Give it the leash "all" if you trust it with that.`
  return `echo ${quote(words)} >&2; exit 77`
}

export const unheldSign: Sign = {
  kind: 'denied',
  says: / cannot be held to the leash "/,
  said: 'amp cannot be held to the leash "ask": it would run everything. Give it the leash "all" if you trust it with that.',
}
