import type { Event } from '../core/talk/entry.ts'
import type { Framework } from '../core/talk/framework.ts'
import type { Question } from '../core/talk/question.ts'
import type { Turn } from '../core/work/agent.ts'
import type { FrameworkDefinition } from './framework-agent.ts'
import type { Resources, RoleAssignment } from './resources.ts'
import { messageOf } from '../base/error-message.ts'
import { roleLabel } from '../core/talk/framework.ts'
import { estimateTokens, viewTokens } from '../core/talk/tokens.ts'
import { plural } from './prompt-text.ts'
import { consultedHistory, note } from './thinking-turn.ts'
import { consentOptions } from '../core/talk/consent.ts'

/** The tokens of one consultation's own prompt and answer, and its seconds, if there is no better estimate. */
const usual = { tokens: 1_500, seconds: 20 }

export type Agreement = {
  /** Whether the person agreed to the cost before: in this project, or by the mode. */
  agreed: boolean
  /** The most extra calls in a turn that are made without asking the person. */
  freeCalls: number
  /** Records for this project that the person need not confirm the cost again. */
  agree(): Promise<void>
}

type ProposedFramework = Agreement & {
  framework: Framework
  why: string
  definition: FrameworkDefinition
  resources: Resources
}

/** Says which framework was chosen and why; for an expensive one, first shows its cost and waits for a yes. */
export async function* announced(o: ProposedFramework, turn: Turn): AsyncGenerator<Event, boolean> {
  const { framework, why, definition, resources } = o
  const asks = definition.asks(resources)
  const chosen = `thinking: ${framework}, ${why}${unwalledWords(asks, resources)}`
  const calls = plural(asks.length, 'extra call')
  const cost = `about ${costWords(asks, definition.rounds, resources, turn)}`
  const expensive = asks.length > o.freeCalls
  if (!expensive || o.agreed || !turn.attended) {
    yield note(expensive ? `${chosen}; ${calls} (${assignmentLines(asks).join('; ')}), ${cost}` : chosen)
    return true
  }
  const text = `${framework}: ${why}. It takes ${calls}, ${cost}.`
  const shows: Question['shows'] = [{ type: 'text', text: assignmentLines(asks, resources).join('\n') }]
  const go = yield* askAgreement({ text, shows }, o, turn)
  if (turn.signal.aborted) return false
  yield note(go ? chosen : `thinking: direct, you declined ${framework}`)
  return go
}

/** Asks before each call beyond the announced ones: for an answer that is sent back, or one more judge. */
export function consentForMore({
  framework,
  definition,
  resources,
  ...agreement
}: Omit<ProposedFramework, 'why'>): NonNullable<Resources['moreCalls']> {
  return {
    agreed: Math.max(agreement.freeCalls, definition.asks(resources).length),
    async *may(asked, calls, turn) {
      if (agreement.agreed || !turn.attended) return true
      const cost = costWords([asked], 1, resources, turn)
      const text = `${framework}: ${plural(calls, 'call')} were made, and ${asked.agent} as ${roleLabel(asked.role)} would be one more, about ${cost}.`
      return yield* askAgreement({ text }, agreement, turn, 'No, make no more calls')
    },
    async *mayConvene(asks, turn) {
      if (agreement.agreed || !turn.attended) return true
      const cost = costWords(asks, 2, resources, turn)
      const text = `${framework}: every known approach failed. The council can be asked for others: ${plural(asks.length, 'extra call')}, about ${cost}.`
      const shows: Question['shows'] = [{ type: 'text', text: assignmentLines(asks, resources).join('\n') }]
      return yield* askAgreement({ text, shows }, agreement, turn, 'No, stop and say what was tried')
    },
  }
}

/**
 * The meaning of a missing answer to a question about a cost: the turn stops, because even a no would let one agent begin and use tokens.
 */
export const spendNothing = { unanswered: 'stop here and keep the text', cancels: true } as const

/**
 * Asks the person to agree to a cost. `enough` is the "no" of a person who is content with the work so far; without it, a no means that
 * one agent answers directly.
 */
export async function* askAgreement(
  card: Pick<Question, 'text' | 'shows'>,
  { agree }: Pick<Agreement, 'agree'>,
  turn: Turn,
  enough?: string,
): AsyncGenerator<Event, boolean> {
  const options = consentOptions({
    once: { id: 'go', label: 'Yes, go on' },
    always: { id: 'always', label: 'Yes, and do not ask again in this project' },
    no: { id: 'direct', label: enough ?? 'No, one agent answers directly' },
  })
  const left = enough === undefined ? spendNothing : {}
  const picks = await turn.ask({ about: 'choice', agent: 'termaite', ...card, from: [], options, ...left }, turn.signal)
  if (turn.signal.aborted) return false
  if (picks?.includes('always')) {
    const error = await agree().catch(messageOf)
    if (error !== undefined) yield note(`your choice could not be saved: ${error}`)
  }
  return picks?.includes('go') || picks?.includes('always') || false
}

/** Names the agents that are asked without a wall: only their own flags keep them from writing. */
function unwalledWords(asks: readonly RoleAssignment[], { unwalledReaders = [] }: Resources): string {
  const names = [...new Set(asks.map(({ agent }) => agent))].filter((agent) => unwalledReaders.includes(agent))
  return names.length === 0 ? '' : ` (not in a sandbox: ${names.join(', ')})`
}

/** One line for each agent with its roles: "claude: lists options, chair". */
export function assignmentLines(
  asks: readonly RoleAssignment[],
  { unwalledReaders = [] }: Partial<Resources> = {},
): string[] {
  const roles = new Map<string, string[]>()
  for (const { role, agent } of asks) roles.set(agent, [...(roles.get(agent) ?? []), roleLabel(role)])
  return [...roles].map(
    ([agent, as]) => `${agent}: ${as.join(', ')}${unwalledReaders.includes(agent) ? ' (not in a sandbox)' : ''}`,
  )
}

export function costWords(asks: readonly RoleAssignment[], rounds: number, { machine }: Resources, turn: Turn): string {
  const each = usual.tokens + estimateTokens(turn.prompt + machine.description) + viewTokens(consultedHistory(turn))
  const tokens = Math.ceil((asks.length * each) / 1000)
  const seconds = rounds * usual.seconds
  return `${tokens}k tokens and ${seconds < 60 ? `${seconds} s` : plural(Math.round(seconds / 60), 'minute')}`
}
