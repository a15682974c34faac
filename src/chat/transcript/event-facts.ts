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

/** Whether an event comes from an agent; the others come from the person or termaite. */
export function isAgentEvent(event: Event): boolean {
  return event.by !== undefined && event.by !== 'user' && agentEvents.has(event.type)
}

/** The agent of an event, including an event that only reports that the agent has begun. */
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
