import type { Event, FileChange } from '../../core/talk/entry.ts'

const agentEvents = new Set<Event['type']>([
  'text',
  'thought',
  'reply',
  'words',
  'call',
  'progress',
  'result',
  'plan',
  'attempt',
])

/** Whether an event is an agent's own; the others are the person's or termaite's. */
export function isAgentEvent(event: Event): boolean {
  return event.by !== undefined && event.by !== 'user' && agentEvents.has(event.type)
}

/** The agent of an event, also of one that only says that it has begun. */
export function authorOf(event: Event): string | undefined {
  return isAgentEvent(event) || event.type === 'state' ? event.by : undefined
}

/** The files that a call changed, from the `data` of its result. */
export function fileChangesOf(data: unknown): FileChange[] {
  if (Array.isArray(data)) return data.flatMap(fileChangesOf)
  if (typeof data !== 'object' || data === null) return []
  if ('changes' in data) return fileChangesOf(data.changes)
  return isChange(data) ? [data] : []
}

function isChange(value: object): value is FileChange {
  const { path, before, after } = value as Record<string, unknown>
  return typeof path === 'string' && typeof after === 'string' && (before === undefined || typeof before === 'string')
}
