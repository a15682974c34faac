import type { Approach } from '../pac.ts'
import { firstLine } from '../words.ts'
import type { Advice } from './advise.ts'
import type { Dropped, Ranked, Verdict } from './verdict.ts'
import type { Machine } from './viable.ts'
import { counted } from './count.ts'
import { isSame, keyOf } from './proposal.ts'
import { mostTried } from './verdict.ts'
import { fitOf } from './viable.ts'

/** What is done: the approaches in their order, what is left out and why, and who would have it otherwise. */
export type Plan = { steps: Step[]; dropped: Dropped[]; dissent: string; by?: string }

/** One of them; `installs`: what it must first bring, in words. */
export type Step = Ranked & { installs: string[]; code?: string }

/** A name stands in every line about it. */
const longestName = 60

/** A verdict held against the machine; where all that it ranks is impossible, what the advisors named besides is counted. */
export function planOf(verdict: Verdict, advice: readonly Advice[], machine: Machine): Plan {
  const plan = heldAgainst(verdict, advice, machine)
  if (plan.steps.length > 0 || verdict.ranked.length === 0) return plan
  const second = heldAgainst(counted(advice), advice, machine)
  const tried = second.steps.map(({ name }) => keyOf(name))
  return tried.length === 0
    ? plan
    : { ...second, dropped: plan.dropped.filter(({ name }) => !tried.includes(keyOf(name))) }
}

/** What the machine cannot do goes, whoever ranked it, and what is there comes before what must first be installed. */
function heldAgainst(verdict: Verdict, advice: readonly Advice[], machine: Machine): Plan {
  const proposals = advice.flatMap(({ proposals }) => proposals)
  const seen = new Set<string>()
  const possible: Step[] = []
  const impossible: Dropped[] = []
  for (const one of verdict.ranked) {
    const ranked = { ...one, name: firstLine(one.name, longestName) }
    if (seen.has(keyOf(ranked.name))) continue
    seen.add(keyOf(ranked.name))
    const same = proposals.filter(({ name }) => keyOf(name) === keyOf(ranked.name))
    // What the chair left out somebody may have said.
    const needs = ranked.needs.length > 0 ? ranked.needs : (same.find((one) => one.needs.length > 0)?.needs ?? [])
    const { missing, installs } = fitOf(needs, machine)
    const code = same.find((one) => one.code !== undefined)?.code
    if (missing.length > 0) impossible.push({ name: ranked.name, why: `needs ${missing.join('; ')}` })
    else possible.push({ ...ranked, needs, installs, ...(code === undefined ? {} : { code }) })
  }
  const ordered = [...possible.filter(isReady), ...possible.filter((step) => !isReady(step))]
  const steps = ordered.slice(0, mostTried)
  const more = ordered.slice(mostTried).map(({ name }) => ({ name, why: `${mostTried} are enough` }))
  const chosen = [...steps, ...impossible].map(({ name }) => keyOf(name))
  const dropped = [...impossible, ...verdict.dropped.filter(({ name }) => !chosen.includes(keyOf(name))), ...more]
  const dissent = verdict.dissent || (steps[0] ? otherwise(steps[0], advice, machine) : '')
  return { steps, dropped, dissent, ...(verdict.by === undefined ? {} : { by: verdict.by }) }
}

const isReady = ({ installs }: Step) => installs.length === 0

/** Who stood for something else that would work, or against this, though nobody said that they do. */
function otherwise(first: Step, advice: readonly Advice[], machine: Machine): string {
  const words = advice.flatMap(({ role, proposals }) => {
    const no = proposals.find(({ name, against }) => against !== undefined && isSame(name, first.name))
    if (no) return [`the ${role} says that it does not work: ${no.against}`]
    const [best] = proposals.filter(({ weight }) => weight > 1)
    const other = best && !isSame(best.name, first.name) && fitOf(best.needs, machine).missing.length === 0
    return other ? [`the ${role} would take ${best.name}`] : []
  })
  return words.join('; ')
}

/** What whoever acts is told of one. */
export function approachOf({ name, how, why, installs, code, check }: Step, dissent: string): Approach {
  const words = [
    how,
    ...(why ? [`Why: ${why}`] : []),
    ...(installs.length > 0 ? [`First to be installed: ${installs.join(', ')}`] : []),
    ...(code === undefined || how.includes(code) ? [] : [`A script that was drafted for it:\n${code}`]),
    ...(dissent ? [`What was said against it: ${dissent}`] : []),
  ]
  return { name, how: words.join('\n\n'), ...(check ? { check } : {}) }
}
