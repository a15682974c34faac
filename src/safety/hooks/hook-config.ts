import { defined } from '../../base/defined.ts'

export const hookEvents = [
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'PreCompact',
  'SubagentStop',
  'Notification',
] as const
export type HookEvent = (typeof hookEvents)[number]

/** A command and its time limit in seconds. `wall: false` lets a hook of the person run outside the sandbox. */
export type Hook = { command: string; timeout?: number; wall?: false; /** Came with the project. */ project?: true }
export type HookGroup = { matcher?: string; hooks: Hook[] }
export type HookSettings = Partial<Record<HookEvent, HookGroup[]>>

/** Reads `hooks` of a settings file in Claude Code's format; faulty entries are left out and reported. */
export function parseHooks(found: unknown): { hooks: HookSettings; faults: string[] } {
  const hooks: HookSettings = {}
  const faults: string[] = []
  if (found === undefined) return { hooks, faults }
  if (!isMap(found)) return { hooks, faults: ['hooks: an object of events is needed'] }
  for (const [event, groups] of Object.entries(found)) {
    if (!isEvent(event)) faults.push(`hooks.${event}: there is no such event; known: ${hookEvents.join(', ')}`)
    else if (!Array.isArray(groups)) faults.push(`hooks.${event}: a list is needed`)
    else hooks[event] = groups.flatMap((group, i) => groupOf(group, `hooks.${event}[${i}]`, faults))
  }
  return { hooks, faults }
}

function groupOf(group: unknown, where: string, faults: string[]): HookGroup[] {
  if (!isMap(group) || !Array.isArray(group.hooks))
    return wrong(faults, `${where}: an object with a list "hooks" is needed`)
  const { matcher } = group
  if (matcher !== undefined && typeof matcher !== 'string') return wrong(faults, `${where}.matcher: a text is needed`)
  if (matcher !== undefined && !isPattern(matcher))
    return wrong(faults, `${where}.matcher: ${JSON.stringify(matcher)} is not a valid pattern`)
  const hooks = group.hooks.flatMap((hook, i) => hookOf(hook, `${where}.hooks[${i}]`, faults))
  return hooks.length === 0 ? [] : [defined({ matcher, hooks })]
}

function hookOf(hook: unknown, where: string, faults: string[]): Hook[] {
  if (!isMap(hook)) return wrong(faults, `${where}: an object is needed`)
  if (hook.type !== 'command')
    return wrong(faults, `${where}.type: found ${JSON.stringify(hook.type)}; only "command" is run here`)
  if (typeof hook.command !== 'string' || hook.command.trim() === '')
    return wrong(faults, `${where}.command: a command is needed`)
  const { timeout } = hook
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0))
    return wrong(faults, `${where}.timeout: a number of seconds above 0 is needed`)
  return [defined({ command: hook.command, timeout, wall: hook.wall === false ? (false as const) : undefined })]
}

function wrong(faults: string[], words: string): [] {
  faults.push(words)
  return []
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isEvent = (event: string): event is HookEvent => (hookEvents as readonly string[]).includes(event)

function isPattern(text: string): boolean {
  if (text === '*') return true
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}
