import { UsageError } from '../../core/io.ts'

/** The flags of a command line, by their long names. */
export type Values = Readonly<Record<string, string | boolean | string[] | undefined>>

/** A verb of `termaite crew` that calls an MCP tool: the tool's name, and its input made from the typed words. */
type ToolVerb = { tool: string; input(words: readonly string[], values: Values): Record<string, unknown> }

export const toolVerbs: Record<string, ToolVerb> = {
  list: { tool: 'list_agents', input: (words) => (noMore('list', words), {}) },
  spawn: {
    tool: 'spawn_agent',
    input([agent, ...task], values) {
      if (agent === undefined)
        throw new UsageError('crew spawn: the name of an agent is missing. Use: termaite crew spawn <agent> [task…]')
      return {
        agent_type: agent,
        ...(task.length > 0 ? { task: task.join(' ') } : {}),
        ...given(values, { model: 'model', 'spawn-mode': 'spawn_mode', leash: 'leash' }),
        ...(values['depends-on'] === undefined ? {} : { depends_on: numbers('--depends-on', values['depends-on']) }),
        ...number(values, 'depends-on-timeout', 'depends_on_timeout'),
        ...(values['worktree-name']
          ? { worktree: values['worktree-name'] }
          : values.worktree
            ? { worktree: true }
            : {}),
      }
    },
  },
  send: {
    tool: 'send_to_agent',
    input([slot, ...text]) {
      if (text.length === 0)
        throw new UsageError('crew send: the text is missing. Use: termaite crew send <slot> <text…>')
      return { slot: slotOf('send', slot), text: text.join(' ') }
    },
  },
  read: {
    tool: 'read_from_agent',
    input: ([slot, ...more], values) => (
      noMore('read', more),
      {
        slot: slotOf('read', slot),
        ...number(values, 'lines', 'lines'),
        ...number(values, 'timeout', 'timeout'),
        ...given(values, { pattern: 'pattern', clean: 'clean', 'since-last': 'since_last' }),
      }
    ),
  },
  wait: {
    tool: 'wait_for_idle',
    input: (words, values) => ({
      slot: words.length === 1 ? slotOf('wait', words[0]) : slotsOf('wait', words),
      ...(values.any ? { mode: 'any' } : {}),
      ...number(values, 'timeout', 'timeout'),
      ...number(values, 'lines', 'lines'),
    }),
  },
  kill: { tool: 'kill_agent', input: ([slot, ...more]) => (noMore('kill', more), { slot: slotOf('kill', slot) }) },
  artifact: {
    tool: 'get_artifact',
    input: ([slot, ...more]) => (noMore('artifact', more), { slot: slotOf('artifact', slot) }),
  },
}

export function slotOf(verb: string, word: string | undefined): number {
  if (word === undefined)
    throw new UsageError(`crew ${verb}: the number of a slot is missing. \`termaite crew list\` shows the slots.`)
  if (!/^[1-9]\d*$/.test(word))
    throw new UsageError(
      `crew ${verb}: found "${word}", allowed: the number of a slot. \`termaite crew list\` shows the slots.`,
    )
  return Number(word)
}

function slotsOf(verb: string, words: readonly string[]): number[] {
  return words.length === 0 ? [slotOf(verb, undefined)] : words.map((word) => slotOf(verb, word))
}

export function noMore(verb: string, words: readonly string[]): void {
  if (words.length > 0)
    throw new UsageError(`crew ${verb}: there is an argument too many: "${words.join(' ')}". See: termaite crew --help`)
}

function numbers(flag: string, value: unknown): number[] {
  return String(value)
    .split(',')
    .map((part) => {
      if (!/^\s*[1-9]\d*\s*$/.test(part))
        throw new UsageError(`${flag}: found "${part}", allowed: slot numbers such as 1,2.`)
      return Number(part)
    })
}

function number(values: Values, flag: string, name: string): Record<string, number> {
  const value = values[flag]
  if (value === undefined) return {}
  const read = Number(value)
  if (!(read >= 0)) throw new UsageError(`--${flag}: found "${String(value)}", allowed: a number.`)
  return { [name]: read }
}

function given(values: Values, names: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([flag, name]) => (values[flag] === undefined ? [] : [[name, values[flag]]])),
  )
}
