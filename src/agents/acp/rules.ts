import type { Ask, Question } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Allowed } from './allowed.ts'

/** Under what an agent's requests are served in one turn. */
export type Rules = {
  name: string
  leash: Leash
  cwd: string
  /** The real path of the project, beyond which no file is read or written. */
  root: string
  ask: Ask
  /** Aborts when the turn is over: nobody waits for an answer any more. */
  over: AbortSignal
  allowed: Allowed
  /** Whether an "always" is kept by us, for an agent that cannot. */
  keepsAlways: boolean
  /** Takes down what was not allowed, where no person said so. */
  deny(what: string): void
}

/** Thrown to refuse a request: its words go to the agent, which can do something else then. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** One yes-or-no card about something that we are asked to do; throws unless somebody says yes. */
export async function mustAgree(
  rules: Rules,
  what: string,
  card: Pick<Question, 'text' | 'shows'>,
  signal: AbortSignal,
) {
  const options = [
    { id: 'once', label: 'Yes, once' },
    { id: 'no', label: 'No' },
  ]
  const withdrawn = AbortSignal.any([rules.over, signal])
  const picks = await rules.ask({ about: 'permission', from: [], options, ...card }, withdrawn)
  if (picks?.includes('once')) return
  if (picks) throw new Refusal(`${what} was refused: the person said no. Do not try it again in this turn.`)
  if (withdrawn.aborted) throw new Refusal(`${what} was cancelled.`)
  rules.deny(what)
  throw new Refusal(`${what} was refused: nobody was there to say yes.`)
}

export function forbid(rules: Rules, what: string, why: string): never {
  rules.deny(what)
  throw new Refusal(`${what} was refused: ${why}.`)
}
