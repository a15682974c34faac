/**
 * The known facts about one agent's work in one turn. `here`: in this project. `kind`: the kind of request, if known. Without `good` the
 * turn was answered, but nobody has said or checked whether the answer was good.
 */
export type Evidence = {
  agent: string
  here: boolean
  kind?: string
  good?: boolean
  cost?: number
  ms?: number
  at: number
}

/** The random draw for one turn, made once and stored: the same draw and the same evidence give the same order in every process. */
export type Draw = { seed: number; at: number }

/** The agents in the order in which they are asked, and a sentence that says why the first one comes first. */
export type MeasuredOrder = {
  line: string[]
  why(agent: string): string | undefined
}

/**
 * The price, in US dollars, of the person's own effort for one try (writing the prompt and checking the result), and of an hour of
 * waiting.
 */
const priceOfTry = 2
const priceOfHour = 12

/** The price of one success: the price of one try, multiplied by the number of tries that a success needs. */
export const priceOfSuccess = (share: number, cost: number, ms: number): number =>
  (priceOfTry + cost + (ms / 3_600_000) * priceOfHour) / share

/** Agents change: the weight of evidence halves after this many days, and again after this many later turns in this project. */
const halfLifeDays = 30
const halfLifeTurns = 100

/** The weight of evidence about another kind of request, and of evidence from another project. */
const otherKind = 0.15
const elsewhere = 0.25
/**
 * All evidence from other projects together weighs as much as this many turns at most: it is a first guess, and evidence from this
 * project soon outweighs it.
 */
const mostElsewhere = 4

/** An answer without complaint was probably good, but that is weaker evidence than a check or a person's own judgement. */
const unjudged = { weight: 0.15, share: 0.8 }

/** The assumption about an agent without any evidence: a good share of successes, as if from three turns. */
const before = { good: 2, bad: 1 }

/** The assumed spread of the costs and times of single turns: the standard deviation of their logarithm. */
const spread = 0.8

/**
 * The spread of the drawn numbers around the expected ones. A number below 1 explores less, which did better in a simulation with drift
 * (bench/measured-rotation.ts).
 */
const boldness = 0.4

type Mean = { sum: number; weight: number }
type Known = {
  good: number
  bad: number
  cost: Mean
  ms: Mean
  turns: Record<Place, Counted>
}
/** Turns of this kind in this project, all turns in this project, and those elsewhere. */
type Place = 'alike' | 'here' | 'elsewhere'
type Counted = { judged: number; good: number; unjudged: number }

/**
 * Orders agents by what each success is expected to cost in money, in time and in tries, with Thompson sampling: each agent's
 * share of successes, cost and time are drawn from what is known of them. An agent that little is known of is therefore tried now and
 * then, and the better it is known, the more the best one goes first. `evidence` is sorted with the newest first. With no evidence
 * about any of the agents, and between equals, the configured order stays.
 */
export function measuredOrder(
  names: readonly string[],
  evidence: readonly Evidence[],
  draw: Draw,
  kind?: string,
): MeasuredOrder {
  const known = knownOf(names, evidence, draw.at, kind)
  const nothing = [...known.values()].every(({ turns }) => total(turns.here) + total(turns.elsewhere) === 0)
  if (nothing) return { line: [...names], why: () => undefined }
  const usual = { cost: usualOf(known, 'cost'), ms: usualOf(known, 'ms') }
  const expected = new Map(names.map((name) => [name, drawnPrice(known.get(name)!, usual, () => 0)]))
  const drawn = new Map(names.map((name) => [name, drawnPrice(known.get(name)!, usual, normals(draw.seed, name))]))
  const line = [...names].sort((a, b) => drawn.get(a)! - drawn.get(b)!)
  const best = [...names].sort((a, b) => expected.get(a)! - expected.get(b)!)[0]
  return {
    line,
    why: (agent) => whyFirst(agent, known.get(agent)!, agent !== best),
  }
}

function knownOf(
  names: readonly string[],
  evidence: readonly Evidence[],
  now: number,
  kind: string | undefined,
): Map<string, Known> {
  const known = new Map(names.map((name) => [name, nothingKnown()]))
  const foreign = new Map(names.map((name) => [name, { good: 0, bad: 0 }]))
  let later = 0
  for (const one of evidence) {
    // Turns of agents that left the roster also make earlier turns older, but are not evidence themselves.
    const age = 0.5 ** (Math.max(0, now - one.at) / (halfLifeDays * 86_400_000)) * 0.5 ** (later / halfLifeTurns)
    if (one.here) later++
    const agent = known.get(one.agent)
    if (!agent) continue
    const weight = age * (kind === undefined || one.kind === kind ? 1 : otherKind) * (one.here ? 1 : elsewhere)
    const sure = one.good === undefined ? unjudged.weight : 1
    const share = one.good === undefined ? unjudged.share : Number(one.good)
    const sum = one.here ? agent : foreign.get(one.agent)!
    sum.good += weight * sure * share
    sum.bad += weight * sure * (1 - share)
    count(agent.cost, one.cost, weight)
    count(agent.ms, one.ms, weight)
    const { alike, here, elsewhere: others } = agent.turns
    const places = one.here ? (kind !== undefined && one.kind === kind ? [alike, here] : [here]) : [others]
    for (const turns of places) {
      if (one.good === undefined) turns.unjudged++
      else turns.judged++
      if (one.good) turns.good++
    }
  }
  for (const [name, { good, bad }] of foreign) {
    const agent = known.get(name)!
    const part = Math.min(1, mostElsewhere / (good + bad || 1))
    agent.good += before.good + good * part
    agent.bad += before.bad + bad * part
  }
  return known
}

const nothingKnown = (): Known => ({
  good: 0,
  bad: 0,
  cost: { sum: 0, weight: 0 },
  ms: { sum: 0, weight: 0 },
  turns: { alike: noTurns(), here: noTurns(), elsewhere: noTurns() },
})

const noTurns = (): Counted => ({ judged: 0, good: 0, unjudged: 0 })

function count(mean: Mean, value: number | undefined, weight: number): void {
  if (value === undefined || !Number.isFinite(value) || value < 0) return
  mean.sum += value * weight
  mean.weight += weight
}

const total = ({ judged, unjudged: rest }: Counted) => judged + rest

/** The mean over the agents whose cost or time is known: an agent without data is assumed to be like the others. */
function usualOf(known: ReadonlyMap<string, Known>, what: 'cost' | 'ms'): number {
  const means = [...known.values()].flatMap(({ [what]: { sum, weight } }) => (weight > 0 ? [sum / weight] : []))
  return means.length === 0 ? 0 : means.reduce((all, one) => all + one, 0) / means.length
}

/** The price of a success of this agent; `normal` supplies the randomness. */
function drawnPrice({ good, bad, cost, ms }: Known, usual: { cost: number; ms: number }, normal: () => number): number {
  // The logarithm of the odds of a beta distribution has exactly this mean and variance.
  const odds = digamma(good) - digamma(bad) + normal() * Math.sqrt(trigamma(good) + trigamma(bad))
  const share = 1 / (1 + Math.exp(-odds))
  const money = drawnMean(cost, usual.cost, normal())
  return priceOfSuccess(share, money, drawnMean(ms, usual.ms, normal()))
}

/** Draws a mean that may differ more from the observed one if fewer turns were observed. One extra turn at the usual value is assumed. */
function drawnMean({ sum, weight }: Mean, usual: number, normal: number): number {
  if (weight === 0) return usual
  return (sum / weight) * Math.exp((normal * spread) / Math.sqrt(weight + 1))
}

/**
 * Normal random numbers for one agent, with `boldness` as their deviation: each agent has a row of its own, so that adding an agent does
 * not change the numbers of the others.
 */
function normals(seed: number, name: string): () => number {
  const next = uniform(seed, name)
  return () => boldness * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
}

/** Random numbers from 0 up to 1, determined by the seed and the name alone (mulberry32 over an FNV-1a hash). */
function uniform(seed: number, name: string): () => number {
  let state = (seed ^ 0x81_1c_9d_c5) >>> 0
  for (const letter of name) state = Math.imul(state ^ letter.codePointAt(0)!, 0x01_00_01_93) >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The derivative of the logarithm of the gamma function, and the derivative of that: both use their series, from 6 on. */
function digamma(of: number): number {
  let x = of
  let sum = 0
  for (; x < 6; x++) sum -= 1 / x
  const square = 1 / (x * x)
  return sum + Math.log(x) - 1 / (2 * x) - square * (1 / 12 - square * (1 / 120 - square / 252))
}

function trigamma(of: number): number {
  let x = of
  let sum = 0
  for (; x < 6; x++) sum += 1 / (x * x)
  const square = 1 / (x * x)
  return sum + 1 / x + square / 2 + (square / x) * (1 / 6 - square * (1 / 30 - square / 42))
}

/** `tries`: another agent is expected to do better, but this one is chosen to learn more about it. */
function whyFirst(agent: string, { turns }: Known, tries: boolean): string {
  const { alike, here, elsewhere: others } = turns
  const record =
    judgedWords(alike, 'to such requests') ??
    judgedWords(here, 'in this project') ??
    unjudgedWords(here) ??
    judgedWords(others, 'in other projects') ??
    'it has not answered in this project yet'
  const counted = alike.judged > 0 ? alike : total(here) > 0 ? here : others
  const rest = !tries && counted.good * 2 < counted.judged ? ', and the others did no better' : ''
  return `${agent} goes first${tries ? ' as a trial' : ''}: ${record}${rest}.`
}

function judgedWords({ judged, good }: Counted, where: string): string | undefined {
  if (judged === 0) return undefined
  if (judged === 1) return `its one judged answer ${where} was ${good === 1 ? 'good' : 'bad'}`
  if (good === judged) return `each of its ${judged} judged answers ${where} was good`
  if (good === 0) return `none of its ${judged} judged answers ${where} was good`
  return `${good} of its ${judged} judged answers ${where} ${good === 1 ? 'was' : 'were'} good`
}

function unjudgedWords({ unjudged: many }: Counted): string | undefined {
  if (many === 0) return undefined
  return many === 1
    ? 'nobody has complained about its only answer in this project'
    : `nobody has complained about its ${many} answers in this project`
}
