import type { Approach } from '../plan-act-check.ts'
import type { Advice } from './advisors.ts'
import type { ChairDecision, DroppedApproach, RankedApproach } from './chair.ts'
import type { KnownMachine } from './machine-fit.ts'
import { defined } from '../../base/defined.ts'
import { roleLabel } from '../../core/talk/framework.ts'
import { firstLine } from '../prompt-text.ts'
import { approachKey, isSameApproach } from './advisors.ts'
import { majority, mostTried } from './chair.ts'
import { machineFit } from './machine-fit.ts'

/** The approaches in the order in which they are tried, the dropped ones with the reasons, and the dissent. */
export type ApproachPlan = { steps: PlanStep[]; dropped: DroppedApproach[]; dissent: string; by?: string }

/** `installs`: the things to install first, as text. */
type PlanStep = RankedApproach & { installs: string[]; code?: string }

/** A longer name is cut, because every line about its approach contains it. */
const longestName = 60

/** Compares a decision with the machine; if all ranked approaches are impossible, the majority of the advice decides. */
export function makePlan(decision: ChairDecision, advice: readonly Advice[], machine: KnownMachine): ApproachPlan {
  const plan = possiblePlan(decision, advice, machine)
  if (plan.steps.length > 0 || decision.ranked.length === 0) return plan
  const second = possiblePlan(majority(advice), advice, machine)
  const tried = second.steps.map(({ name }) => approachKey(name))
  return tried.length === 0
    ? plan
    : { ...second, dropped: plan.dropped.filter(({ name }) => !tried.includes(approachKey(name))) }
}

/** Drops impossible approaches, and puts those whose programs are installed before those that need an installation. */
function possiblePlan(decision: ChairDecision, advice: readonly Advice[], machine: KnownMachine): ApproachPlan {
  const proposals = advice.flatMap((one) => one.proposals)
  const seen = new Set<string>()
  const possible: PlanStep[] = []
  const impossible: DroppedApproach[] = []
  for (const one of decision.ranked) {
    const ranked = { ...one, name: firstLine(one.name, longestName) }
    const key = approachKey(ranked.name)
    if (seen.has(key)) continue
    seen.add(key)
    const same = proposals.filter(({ name }) => approachKey(name) === key)
    // The advice may contain needs that the chair left out.
    const needs = ranked.needs.length > 0 ? ranked.needs : (same.find((one) => one.needs.length > 0)?.needs ?? [])
    const { missing, installs } = machineFit(needs, machine)
    const code = same.find((one) => one.code !== undefined)?.code
    if (missing.length > 0) impossible.push({ name: ranked.name, why: `needs ${missing.join('; ')}` })
    else possible.push({ ...ranked, needs, installs, code })
  }
  const ordered = [...possible.filter(isReady), ...possible.filter((step) => !isReady(step))]
  const steps = ordered.slice(0, mostTried)
  const more = ordered.slice(mostTried).map(({ name }) => ({ name, why: `${mostTried} are enough` }))
  const chosen = [...steps, ...impossible].map(({ name }) => approachKey(name))
  const others = decision.dropped.filter(({ name }) => !chosen.includes(approachKey(name)))
  const dissent = decision.dissent || (steps[0] ? unspokenDissent(steps[0], advice, machine) : '')
  return { steps, dropped: [...impossible, ...others, ...more], dissent, by: decision.by }
}

const isReady = ({ installs }: PlanStep) => installs.length === 0

/** Advisors that prefer another possible approach, or are against the first one, although the chair named no dissent. */
function unspokenDissent(first: PlanStep, advice: readonly Advice[], machine: KnownMachine): string {
  const words = advice.flatMap(({ role, proposals }) => {
    const no = proposals.find(({ name, against }) => against !== undefined && isSameApproach(name, first.name))
    if (no) return [`one advisor (${roleLabel(role)}) says that it does not work: ${no.against}`]
    const [best] = proposals.filter(({ weight }) => weight > 1)
    const other = best && !isSameApproach(best.name, first.name) && machineFit(best.needs, machine).missing.length === 0
    return other ? [`one advisor (${roleLabel(role)}) would take ${best.name}`] : []
  })
  return words.join('; ')
}

/** A step in the form for the actor. */
export function toApproach({ name, how, why, installs, code, check }: PlanStep, dissent: string): Approach {
  const words = [
    how,
    ...(why ? [`Why: ${why}`] : []),
    ...(installs.length > 0 ? [`To be installed first: ${installs.join(', ')}`] : []),
    ...(code === undefined || how.includes(code) ? [] : [`A script that was drafted for it:\n${code}`]),
    ...(dissent ? [`What was said against it: ${dissent}`] : []),
  ]
  return defined({ name, how: words.join('\n\n'), check })
}

/** The most dropped approaches that a note names. */
const mostNamed = 5

/**
 * Notes about the plan, one line each: the chosen approach and why, the dropped ones and why, and the dissent. `passedOn`: without an
 * approach, the agent gets the advisors' text.
 */
export function planNotes({ steps: [first, ...rest], dropped, dissent, by }: ApproachPlan, passedOn = false): string[] {
  const lost = droppedWords(dropped)
  if (!first) {
    const why = lost ? `no approach is possible here: ${lost}` : 'the advisors named no approach that could be read'
    return [`${why}; ${passedOn ? 'what they wrote is passed on' : 'answering directly'}`]
  }
  const who = by === undefined ? 'chosen by majority' : `chosen by ${by}`
  return [
    [
      `${who}: ${first.name} (${[firstLine(first.why), ...installWords(first)].join('; ')})`,
      ...(rest.length > 0 ? [`then ${rest.map(stepWords).join(', ')}`] : []),
      ...(lost ? [`not ${lost}`] : []),
    ].join('; '),
    ...(dissent ? [`dissent: ${firstLine(dissent)}`] : []),
  ]
}

const installWords = ({ installs }: PlanStep) => (installs.length > 0 ? [`installs ${installs.join(', ')}`] : [])

function stepWords(step: PlanStep): string {
  const [installs] = installWords(step)
  return installs === undefined ? step.name : `${step.name} (${installs})`
}

function droppedWords(dropped: readonly DroppedApproach[]): string {
  const named = dropped.slice(0, mostNamed).map(({ name, why }) => `${firstLine(name, 60)} (${firstLine(why, 120)})`)
  return [...named, ...(dropped.length > mostNamed ? [`${dropped.length - mostNamed} more`] : [])].join(', ')
}
