import { defined } from '../../base/defined.ts'
import { isPlainObject } from '../../base/plain-object.ts'

/** One event: when its hooks run, the extra fields that they get, and the field that matchers are compared with. */
type HookRow = { when: string; fields: readonly string[]; matched?: string; block: string }

/** The events at which hooks run. */
export const hookTable = {
  PreToolUse: {
    when: 'Before termaite’s own agent calls a tool.',
    fields: ['tool_name', 'tool_input'],
    matched: 'tool_name',
    block: 'the tool is not called, and the model gets the reason',
  },
  PostToolUse: {
    when: 'After a tool was called.',
    fields: ['tool_name', 'tool_input', 'tool_response'],
    matched: 'tool_name',
    block: 'the model gets the reason, after the result',
  },
  UserPromptSubmit: {
    when: 'When a prompt is submitted.',
    fields: ['prompt'],
    block: 'the prompt is not sent',
  },
  SessionStart: {
    when: 'With the first turn of a session in a run, and after a compaction.',
    fields: ['source'],
    matched: 'source',
    block: 'nothing',
  },
  SessionEnd: {
    when: 'When a session is left.',
    fields: ['reason'],
    matched: 'reason',
    block: 'nothing',
  },
  Stop: {
    when: 'When an answer would end the turn.',
    fields: ['stop_hook_active', 'last_assistant_message'],
    block: 'the turn continues, and the model gets the reason',
  },
  PreCompact: {
    when: 'Before the conversation is summarised.',
    fields: ['trigger', 'custom_instructions'],
    matched: 'trigger',
    block: 'the conversation is not summarised',
  },
  SubagentStop: {
    when: 'When an answer would end the turn of a subagent.',
    fields: ['stop_hook_active', 'last_assistant_message'],
    block: 'the subagent continues, and gets the reason',
  },
  Notification: {
    when: 'When a person is needed.',
    fields: ['message', 'title', 'notification_type'],
    matched: 'notification_type',
    block: 'nothing',
  },
} as const satisfies Record<string, HookRow>

export type HookEvent = keyof typeof hookTable
const hookEvents = Object.keys(hookTable) as HookEvent[]

/** The field of an event's input that matchers are compared with. */
export function matchedField(event: HookEvent): string | undefined {
  const row: HookRow = hookTable[event]
  return row.matched
}

/** A command and its time limit in seconds. `wall: false` lets a hook of the person run outside the sandbox. */
export type Hook = {
  command: string
  timeout?: number
  wall?: false
  /** Whether the hook came with the project. */ project?: true
}
type HookGroup = { matcher?: string; hooks: Hook[] }
export type HookSettings = Partial<Record<HookEvent, HookGroup[]>>

/** The hooks that `parseHooks` accepts, for the JSON Schema of the settings. */
export const hooksSchema = {
  type: 'object',
  propertyNames: { enum: hookEvents },
  additionalProperties: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        matcher: {
          type: 'string',
          anyOf: [{ const: '*' }, { format: 'regex' }],
          description: 'A regular expression for the whole name of a tool, or of the subject of the event.',
        },
        hooks: {
          type: 'array',
          description: 'The commands.',
          items: {
            type: 'object',
            properties: {
              type: { const: 'command' },
              command: { type: 'string', pattern: '\\S', description: 'The command, for /bin/sh.' },
              timeout: { type: 'number', exclusiveMinimum: 0, description: 'How many seconds it may take (60).' },
              wall: { description: 'false lets a hook of the person run outside the sandbox.' },
            },
            required: ['type', 'command'],
          },
        },
      },
      required: ['hooks'],
    },
  },
}

/** Parses `hooks` of a settings file in Claude Code's format; wrong entries are left out and reported. */
export function parseHooks(found: unknown): { hooks: HookSettings; faults: string[] } {
  const hooks: HookSettings = {}
  const faults: string[] = []
  if (found === undefined) return { hooks, faults }
  if (!isPlainObject(found)) return { hooks, faults: ['hooks: an object of events is needed'] }
  for (const [event, groups] of Object.entries(found)) {
    if (!isEvent(event)) faults.push(`hooks.${event}: there is no such event; known: ${hookEvents.join(', ')}`)
    else if (!Array.isArray(groups)) faults.push(`hooks.${event}: a list is needed`)
    else hooks[event] = groups.flatMap((group, i) => groupOf(group, `hooks.${event}[${i}]`, faults))
  }
  return { hooks, faults }
}

function groupOf(group: unknown, where: string, faults: string[]): HookGroup[] {
  if (!isPlainObject(group) || !Array.isArray(group.hooks))
    return wrong(faults, `${where}: an object with a list "hooks" is needed`)
  const { matcher } = group
  if (matcher !== undefined && typeof matcher !== 'string') return wrong(faults, `${where}.matcher: a text is needed`)
  if (matcher !== undefined && !isPattern(matcher))
    return wrong(faults, `${where}.matcher: ${JSON.stringify(matcher)} is not a valid pattern`)
  const hooks = group.hooks.flatMap((hook, i) => hookOf(hook, `${where}.hooks[${i}]`, faults))
  return hooks.length === 0 ? [] : [defined({ matcher, hooks })]
}

function hookOf(hook: unknown, where: string, faults: string[]): Hook[] {
  if (!isPlainObject(hook)) return wrong(faults, `${where}: an object is needed`)
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

const isEvent = (event: string): event is HookEvent => Object.hasOwn(hookTable, event)

function isPattern(text: string): boolean {
  if (text === '*') return true
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}
