import type { Event } from '../core/talk/entry.ts'
import { oneLine } from '../base/table.ts'

export type InitLine = { how: 'note' | 'error'; text: string }

/** What a person who waits is told of an event: who looks at what, who failed, and how it ended. */
export function initLine(event: Event): InitLine | undefined {
  switch (event.type) {
    case 'inner':
      return progress(event.event)
    case 'note':
      return { how: 'note', text: event.text }
    case 'end': {
      const { outcome } = event
      if (!outcome.ok) return { how: 'error', text: outcome.failure.message }
      // The document itself was shown before the yes, and the note says where it is.
      return outcome.text.startsWith('# ') ? undefined : { how: 'note', text: outcome.text }
    }
    default:
      return undefined
  }
}

function progress(event: Event): InitLine | undefined {
  if (event.type === 'call')
    return { how: 'note', text: oneLine(`${event.by}: ${event.tool} ${JSON.stringify(event.input) ?? ''}`, 120) }
  if (event.type === 'attempt')
    return { how: 'note', text: oneLine(`${event.by}: ${event.failure.kind}: ${event.failure.message}`, 300) }
  return undefined
}
