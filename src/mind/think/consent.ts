import type { Event } from '../../core/talk/entry.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Framework } from '../../core/talk/framework.ts'
import type { Asked, Minds } from './minds.ts'
import type { Way } from './thinker.ts'
import { messageOf } from '../../base/error-message.ts'
import { estimateTokens, viewTokens } from '../../core/talk/tokens.ts'
import { note, toldOf } from './course.ts'
import { count } from './words.ts'

/** More extra calls than this are not made behind anybody's back. */
export const mostUnasked = 2

/** A consultation's own words and its answer, and how long one takes, where nothing better is known. */
const usual = { tokens: 1_500, seconds: 20 }

/** Whether the cost was agreed to before, and how a yes that is meant for good is remembered. */
export type Agreement = { agreed: boolean; agree(): Promise<void> }

export type Proposed = Agreement & { framework: Framework; why: string; way: Way; minds: Minds }

/** Says what was chosen and why in one quiet line; where it is dear, with its cost first, and waits for a yes. */
export async function* consented(o: Proposed, turn: Turn): AsyncGenerator<Event, boolean> {
  const { framework, why, way, minds } = o
  const asks = way.asks(minds)
  const chosen = `thinking: ${framework}, ${why}`
  const calls = count(asks.length, 'extra call')
  const cost = `about ${costOf(asks, way.rounds, minds, turn)}`
  const dear = asks.length > mostUnasked
  if (!dear || o.agreed || !turn.attended) {
    yield note(dear ? `${chosen}; ${calls} (${assignment(asks).join('; ')}), ${cost}` : chosen)
    return true
  }
  const text = `${framework}: ${why}. It takes ${calls}, ${cost}.`
  const go = yield* agreedTo({ text, shows: [{ type: 'text', text: assignment(asks).join('\n') }] }, o, turn)
  if (turn.signal.aborted) return false
  yield note(go ? chosen : `thinking: direct, ${framework} was not wanted`)
  return go
}

/** What goes beyond what was shown: an answer sent back, one more judge. */
export function beyond({ framework, way, minds, ...agreement }: Omit<Proposed, 'why'>): NonNullable<Minds['more']> {
  return {
    agreed: Math.max(mostUnasked, way.asks(minds).length),
    async *may(asked, calls, turn) {
      if (agreement.agreed || !turn.attended) return true
      const whom = `${asked.agent} as ${asked.role}`
      const text = `${framework}: ${count(calls, 'call')} were made, and ${whom} would be one more, about ${costOf([asked], 1, minds, turn)}.`
      return yield* agreedTo({ text }, agreement, turn, 'No, ask nobody else')
    },
  }
}

/** Waits for a yes to what is dear. */
export async function* agreedTo(
  card: Pick<Question, 'text' | 'shows'>,
  { agree }: Agreement,
  turn: Turn,
  without = 'Without: one agent, directly',
): AsyncGenerator<Event, boolean> {
  const options = [
    { id: 'go', label: 'Go on' },
    { id: 'always', label: 'Go on, and do not ask again in this project' },
    { id: 'direct', label: without },
  ]
  const picks = await turn.ask({ about: 'choice', agent: 'termaite', ...card, from: [], options }, turn.signal)
  if (turn.signal.aborted) return false
  if (picks?.includes('always'))
    for (const words of await agree().then(
      () => [],
      (error) => [messageOf(error)],
    ))
      yield note(`that is not remembered: ${words}`)
  return picks?.includes('go') || picks?.includes('always') || false
}

/** Who is asked as what: "claude as enumerator, chair". */
function assignment(asks: readonly Asked[]): string[] {
  const roles = new Map<string, string[]>()
  for (const { role, agent } of asks) roles.set(agent, [...(roles.get(agent) ?? []), role])
  return [...roles].map(([agent, as]) => `${agent} as ${as.join(', ')}`)
}

export function costOf(asks: readonly Asked[], rounds: number, { machine }: Minds, turn: Turn): string {
  const each = usual.tokens + estimateTokens(turn.prompt + machine.words) + viewTokens(toldOf(turn))
  const tokens = Math.ceil((asks.length * each) / 1000)
  const seconds = rounds * usual.seconds
  return `${tokens}k tokens and ${seconds < 60 ? `${seconds} s` : count(Math.round(seconds / 60), 'minute')}`
}
