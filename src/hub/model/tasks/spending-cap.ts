import type { Option } from '../../../core/talk/question.ts'
import type { Spent } from '../../../core/work/budget.ts'
import { workspaceName } from './workspace.ts'
import { defined } from '../../../base/defined.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { consentOptions } from '../../../core/talk/consent.ts'
import { dollars } from '../../../core/work/budget.ts'

/** The most that a task, or a workspace on one day, may use before a person is asked. `cost` is in dollars. */
export type SpendingCap = { tokens?: number; cost?: number }

/** The caps in the settings: for each task that does not name one, and for each workspace per day. */
export type SpendingCaps = { task?: SpendingCap; day?: SpendingCap }

/** A person's answers to a cap that was passed. */
export type CapAnswer = 'again' | 'uncapped' | 'stop'

/** The tokens and the cost of one workspace on one day, and the person's answer if they passed the cap. */
export type WorkspaceDay = {
  workspace: string
  /** The date where the hub is, for example 2026-11-16. */
  day: string
  spent: Spent
  cap?: SpendingCap
  /** The new limits after a person granted the workspace its cap once more. */
  allowed?: SpendingCap
  /** When the cap was passed, as long as no person has answered. */
  asked?: number
  /** The answer that settles the question for the day, and who gave it. */
  answer?: Exclude<CapAnswer, 'again'>
  by?: string
}

/** The sum of two amounts. If neither cost is known, the sum has no cost. */
export function addSpent(a: Spent, b: Spent): Spent {
  const sum = (x: number | undefined, y: number | undefined) =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0)
  return defined({ tokens: a.tokens + b.tokens, cost: sum(a.cost, b.cost), priced: sum(a.priced, b.priced) })
}

/** The tokens and the cost of all tries of a task. */
export function spentOn({ tries = [] }: { tries?: readonly { spent?: Spent }[] }): Spent {
  return tries.reduce<Spent>((sum, { spent }) => (spent ? addSpent(sum, spent) : sum), { tokens: 0 })
}

/** The tokens without a known price. If an agent reports a cost without the number of priced tokens, the cost covers all of them. */
const unpricedTokens = ({ tokens, cost, priced = cost === undefined ? 0 : tokens }: Spent) =>
  Math.max(0, tokens - priced)

/**
 * Says how much of a cap is used, as a phrase that completes "The task has …", once the cap is reached; undefined before. A cap on the
 * cost alone is passed with the first token of a model without a known price, because it could not be enforced.
 */
export function passedCap(spent: Spent, { tokens, cost }: SpendingCap): string | undefined {
  if (tokens !== undefined && spent.tokens >= tokens)
    return `used ${groupDigits(spent.tokens)} of ${groupDigits(tokens)} tokens`
  if (cost === undefined) return undefined
  if ((spent.cost ?? 0) >= cost) return `used ${dollars(spent.cost ?? 0)} of ${dollars(cost)}`
  if (tokens !== undefined || unpricedTokens(spent) === 0) return undefined
  return `used ${groupDigits(unpricedTokens(spent))} tokens of a model whose price is not known, so its cap of ${dollars(cost)} cannot be enforced`
}

/** The new limits if a person grants the cap once more. */
export function raisedCap(spent: Spent, cap: SpendingCap, allowed: SpendingCap = cap): SpendingCap {
  const again = (used: number, limit: number, each: number) => (used >= limit ? used + each : limit)
  const { cost: upTo = cap.cost, tokens: most = cap.tokens } = allowed
  const byTokens = most === undefined && cap.cost !== undefined && unpricedTokens(spent) > 0
  return defined({
    cost: cap.cost === undefined || upTo === undefined ? undefined : again(spent.cost ?? 0, upTo, cap.cost),
    // Without a price, only a number of tokens can limit the work.
    tokens: byTokens ? spent.tokens * 2 : most && again(spent.tokens, most, cap.tokens ?? most),
  })
}

/** Formats a cap: "$2.00", "500,000 tokens" or both. */
export function capWords({ cost, tokens }: SpendingCap): string {
  return [
    ...(cost === undefined ? [] : [dollars(cost)]),
    ...(tokens === undefined ? [] : [`${groupDigits(tokens)} tokens`]),
  ].join(' and ')
}

/** The answers that a person may give when a cap is passed; `upTo` says at which amount the next question would come. */
export function capOptions(upTo: string, subject: 'task' | 'day' | 'pipeline'): Option[] {
  const today = subject === 'day' ? ' today' : ''
  const stop = subject === 'day' ? 'Begin no further task today' : `Stop the ${subject}`
  return consentOptions({
    once: { id: 'again', label: `Go on with as much again, up to ${upTo}${today}` },
    always: { id: 'uncapped', label: `Go on without a ${subject === 'pipeline' ? 'budget' : 'cap'}${today}` },
    no: { id: 'stop', label: stop },
  })
}

/** The answers to the question whether the tasks of a workspace may continue today. */
export const dayOptions = ({ spent, cap = {}, allowed }: WorkspaceDay): Option[] =>
  capOptions(capWords(raisedCap(spent, cap, allowed)), 'day')

/** The amounts at which the hub asks next; undefined if a person removed the cap. */
export function dayLimit({ cap, allowed, answer }: WorkspaceDay): SpendingCap | undefined {
  return answer === 'uncapped' ? undefined : (allowed ?? cap)
}

/** Says why no further task of a workspace begins today; undefined if tasks may begin. */
export function dayStop(day: WorkspaceDay | undefined): string | undefined {
  const limit = day && dayLimit(day)
  const passed = limit && passedCap(day.spent, limit)
  if (!day || passed === undefined) return undefined
  const next =
    day.answer === 'stop' ? `${day.by} said to begin no further task today` : 'a person is asked in the inbox'
  return `${workspaceName(day.workspace)} has ${passed} today; ${next}`
}
