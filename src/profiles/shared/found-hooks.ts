import type { FoundHook, FoundSettings, Unusable } from '../../core/profile/belongings.ts'
import { defined } from '../../base/defined.ts'
import { isPlainObject } from '../../base/plain-object.ts'

/** The form in which one CLI writes hooks that resemble Claude Code's. */
type HookForm = {
  /** The events at which termaite runs hooks with the same input; hooks of any other event are refused with a reason. */
  events: readonly string[]
  /** The reason why a hook is not offered although termaite has its event too. */
  refused?(event: string): string | undefined
  /** The time limit in seconds. */
  seconds?(timeout: number): number
}

/** The events that termaite and Claude Code have, with the same fields. */
export const claudeEvents = [
  ...['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'SessionEnd', 'Stop', 'PreCompact'],
  ...['SubagentStop', 'Notification'],
]

/** Fields of a hook that mean the same in termaite, or only change its display. */
const knownFields = new Set(['type', 'command', 'timeout', 'statusMessage', 'name', 'description'])

/** Parses hooks in the shape of Claude Code's, each command as a separate hook. */
export function hooksIn(found: unknown, { events, refused, seconds = (timeout) => timeout }: HookForm): FoundSettings {
  if (found === undefined || found === null) return {}
  if (!isPlainObject(found)) return { unusable: [{ what: 'hooks', why: 'they are not an object of events' }] }
  const hooks: FoundHook[] = []
  const unusable: Unusable[] = []
  for (const [event, groups] of Object.entries(found)) {
    if (!Array.isArray(groups)) continue
    const leave = (what: string, why: string) => unusable.push({ what, why })
    const against = events.includes(event) ? refused?.(event) : 'termaite runs no hooks at this event'
    for (const group of groups) {
      const list: unknown[] = isPlainObject(group) && Array.isArray(group.hooks) ? group.hooks : []
      const matcher = isPlainObject(group) ? group.matcher : undefined
      for (const hook of list) {
        const command = isPlainObject(hook) && typeof hook.command === 'string' ? hook.command : ''
        const what = `hook at ${event}${command === '' ? '' : `: ${command}`}`
        const odd = isPlainObject(hook) ? Object.keys(hook).find((field) => !knownFields.has(field)) : undefined
        if (against !== undefined) leave(what, against)
        else if (!isPlainObject(hook) || hook.type !== 'command' || command.trim() === '')
          leave(what, 'it is not a command; termaite runs nothing else as a hook')
        else if (odd !== undefined) leave(what, `it sets ${odd}, which termaite does not know`)
        else if (matcher !== undefined && typeof matcher !== 'string') leave(what, 'its matcher is not text')
        else {
          const limit = typeof hook.timeout === 'number' && hook.timeout > 0 ? seconds(hook.timeout) : undefined
          hooks.push(defined({ event, matcher: matcher === '' ? undefined : matcher, command, timeout: limit }))
        }
      }
    }
  }
  return { hooks, unusable }
}
