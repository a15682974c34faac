import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { Budget } from '../../core/work/budget.ts'
import type { Flags, Parsed } from './cli-command.ts'
import { defined } from '../../base/defined.ts'
import { UsageError } from '../../core/io.ts'
import { thinkings } from '../../core/talk/framework.ts'
import { leashes, strategies } from '../../core/work/agent.ts'
import { budget, noBudget } from '../../core/work/budget.ts'
import { efforts } from '../../core/profile/effort.ts'
import { priceKnowledge } from '../../settings/agent-prices.ts'
import { workModes } from '../../settings/work-mode.ts'

/** The flags that limit how much a turn may spend. */
export const limitFlags: Flags = {
  'max-cost': { value: 'usd', help: 'make no further model call once this much is spent' },
  'max-tokens': { value: 'n', help: 'make no further model call once this many tokens are spent' },
  'max-steps': {
    value: 'n',
    help: 'stop a turn after this many steps: answers of the model, or calls of another CLI',
  },
}

/** The flags of a turn: in the chat, and for one turn with -p. */
export const turnFlags: Flags = {
  prompt: {
    short: 'p',
    value: 'text',
    once: true,
    help: 'run one turn without a screen; "-" reads the prompt from stdin, and piped stdin beside a prompt is context',
  },
  agent: { short: 'a', value: 'name|auto', help: 'the agent that takes the first turn' },
  only: {
    help: 'with -p and -a: fail with exit code 75 when that agent is out of quota or busy; no other agent answers',
  },
  rotation: { short: 'r', value: 'strategy', choices: strategies, help: 'the rotation strategy for this run' },
  continue: {
    short: 'c',
    help: 'continue in the most recently used project, from any folder; --new starts a new session there',
  },
  new: { help: 'start a new session' },
  fork: { help: 'continue in a fork: a new session with the history of this one, which stays unchanged' },
  session: { value: 'name', help: 'use the session with this name or id' },
  ephemeral: { help: 'read no history and keep none' },
  mode: {
    value: 'mode',
    choices: Object.keys(workModes),
    help: 'chat: all agents take turns; agent: only termaite’s own; plan: termaite’s own agent plans and changes nothing; coordinator: one agent sends workers',
  },
  think: { value: 'how', choices: thinkings, help: 'how agents think a request through before they act' },
  'think-calls': { value: 'n', help: 'how many extra calls thinking may make in a turn without asking (default 2)' },
  leash: { value: 'level', choices: leashes, help: 'how much an agent may do' },
  model: {
    short: 'm',
    value: 'name',
    once: true,
    help: 'the model of the agent that -a names, or of the only agent that knows it, which then takes the first turn',
  },
  effort: {
    value: 'level',
    choices: efforts,
    help: 'how hard the agent’s model thinks, if the agent has such a setting',
  },
  allow: {
    value: 'rule',
    many: true,
    help: 'let termaite’s own agent do this without asking, for example "bash(npm test:*)"',
  },
  deny: { value: 'rule', many: true, help: 'forbid this to termaite’s own agent, even if another rule allows it' },
  'output-format': { value: 'format', choices: ['text', 'json', 'stream-json'], help: 'with -p: the output format' },
  'output-schema': {
    value: 'file',
    help: 'with -p: the answer is JSON that matches the JSON Schema in this file, or the exit code is 1',
  },
  ...limitFlags,
  exclusive: { help: 'with -p: wait until no other turn runs in this project' },
  'no-alt-screen': { help: 'show the chat in the terminal’s normal buffer' },
  classic: { help: 'the same as --no-alt-screen' },
  cwd: { value: 'dir', help: 'the folder that agents work in' },
  'add-dir': {
    value: 'dir',
    many: true,
    help: 'a further folder that agents may read and change like the project; repeatable',
  },
  debug: { help: 'print every event to stderr' },
  version: { short: 'v', help: 'print the version' },
}

/** The agent that the person named, checked; undefined for `auto`. */
export function chosenAgent(wanted: string | undefined, names: readonly string[]): { agent?: string } {
  if (wanted === undefined || wanted === '' || wanted === 'auto') return {}
  if (!names.includes(wanted)) throw new UsageError(`there is no agent "${wanted}"; configured: ${names.join(', ')}.`)
  return { agent: wanted }
}

/** How many extra calls thinking may make without asking. */
export function allowedCalls(given: string | undefined): { thinkCalls?: number } {
  if (given === undefined) return {}
  const number = Number(given)
  if (!Number.isInteger(number) || number < 0)
    throw new UsageError(`--think-calls: found "${given}", allowed: a whole number, 0 or more.`)
  return { thinkCalls: number }
}

/** The amounts of --max-cost and --max-tokens. */
export function spendingIn(values: Parsed['values']): { cost?: number; tokens?: number } {
  return defined({ cost: numberIn(values, 'max-cost'), tokens: numberIn(values, 'max-tokens', { short: true }) })
}

/** The number in a flag; `short` ones may end in k or M, for example 500k. */
function numberIn(values: Parsed['values'], name: string, { whole = false, short = false } = {}): number | undefined {
  const given = text(values[name])
  if (given === undefined) return undefined
  const [, digits = given, unit = ''] = (short ? /^([\d.]+)([km])$/i : /^$/).exec(given) ?? []
  const number = Number(digits) * ({ k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1)
  if (!(number > 0) || (whole && !Number.isInteger(number)))
    throw new UsageError(
      `--${name}: found "${given}", allowed: a ${whole ? 'whole ' : ''}number above 0${short ? ', as in 50000 or 50k' : ''}.`,
    )
  return short ? Math.round(number) : number
}

/** The limits that the flags set for this run; `agents` are the agents that may answer. */
export function budgetIn(values: Parsed['values'], agents: readonly AgentSettings[]): Budget {
  const { cost, tokens } = spendingIn(values)
  const steps = numberIn(values, 'max-steps', { whole: true })
  if (cost === undefined && tokens === undefined && steps === undefined) return noBudget
  const held = budget(defined({ cost, tokens, steps }))
  if (cost === undefined) return held
  const unknown = agents.filter((agent) => priceKnowledge(agent) === 'unknown').map(({ name }) => name)
  if (unknown.length > 0)
    throw new UsageError(
      `--max-cost cannot be enforced, because the price of an answer of ${unknown.join(', ')} is not known. Use --max-tokens, or add -a and --only with an agent whose price is known.`,
    )
  // A model on this machine is free, and reports no cost.
  const free = agents.some((agent) => priceKnowledge(agent) === 'free')
  return free ? { ...held, spend: (usage) => held.spend({ ...usage, cost: usage.cost ?? 0 }) } : held
}

export function text(value: Parsed['values'][string]): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export const list = (value: Parsed['values'][string]) => (Array.isArray(value) ? value : [])

export function flag<K extends string>(key: K, value: Parsed['values'][string]): { [P in K]?: string } {
  return (typeof value === 'string' ? { [key]: value } : {}) as { [P in K]?: string }
}
