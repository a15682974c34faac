import type { Evidence } from '../src/turn/rotation/measured-order.ts'
import type { Row } from './measure.ts'
import { table } from '../src/base/text/table.ts'
import { agentOrder } from '../src/turn/rotation/agent-order.ts'
import { measuredOrder, priceOfSuccess } from '../src/turn/rotation/measured-order.ts'

const turns = 1000
const seeds = 40
const turnMs = 45 * 60_000

/** Part of the turns of which anybody says or checks whether they were good. */
const judged = 0.4
/** How often an agent runs out of quota, and for how many turns. */
const spent = { chance: 0.004, turns: 25 }

/** An agent of known strength: its share of good answers wanders about `good`, by at most `drift`; `cost` in dollars, `seconds` of one turn. */
type Strength = { name: string; good: number; drift: number; cost: number; seconds: number }

const agents: readonly Strength[] = [
  { name: 'steady', good: 0.7, drift: 0.05, cost: 0.4, seconds: 120 },
  { name: 'dear', good: 0.85, drift: 0.1, cost: 1.2, seconds: 200 },
  { name: 'quick', good: 0.55, drift: 0.15, cost: 0.1, seconds: 40 },
  { name: 'rising', good: 0.6, drift: 0.3, cost: 0.3, seconds: 90 },
  { name: 'falling', good: 0.65, drift: -0.3, cost: 0.25, seconds: 90 },
]
const names = agents.map(({ name }) => name)

/** How good an agent is at a turn: two of them cross half way through the run, the others go up and down. */
function shareAt({ good, drift, name }: Strength, turn: number): number {
  const wave = name === 'rising' || name === 'falling' ? 2 * (turn / turns) - 1 : Math.sin((2 * Math.PI * turn) / 400)
  return Math.min(0.97, Math.max(0.03, good + drift * wave))
}

/** The price of one success, as the strategy counts it: money, waiting and tries. The unit in which regret is counted. */
const priceOf = (agent: Strength, turn: number) =>
  priceOfSuccess(shareAt(agent, turn), agent.cost, agent.seconds * 1000)

type Policy = (world: { turn: number; evidence: readonly Evidence[]; last?: string; seed: number }) => readonly string[]

const policies: Record<string, Policy> = {
  measured: ({ turn, evidence, seed }) =>
    measuredOrder(names, evidence, { seed: seed * 7919 + turn, at: turn * turnMs }).line,
  'round-robin': ({ last }) => agentOrder(names, { strategy: 'round-robin', position: last, random: () => 0 }),
  exhaustion: ({ last }) => agentOrder(names, { strategy: 'exhaustion', position: last, random: () => 0 }),
  ...Object.fromEntries(names.map((name) => [`only ${name}`, () => [name, ...names.filter((one) => one !== name)]])),
}

type Sums = { good: number; regret: number; lost: number; cost: number; hours: number; price: number }

/** One run of a policy. The luck of the world is the same for all policies with the same seed. */
function run(policy: Policy, seed: number): Sums {
  const away = new Map<string, number>()
  const evidence: Evidence[] = []
  const sums: Sums = { good: 0, regret: 0, lost: 0, cost: 0, hours: 0, price: 0 }
  let last: string | undefined
  for (let turn = 0; turn < turns; turn++) {
    const luck = random(seed * 1_000_003 + turn)
    for (const name of names) if (luck() < spent.chance) away.set(name, turn + spent.turns)
    const free = (name: string) => (away.get(name) ?? 0) <= turn
    const able = agents.filter(({ name }) => free(name))
    if (able.length === 0) continue
    const chosen = policy({ turn, evidence, last, seed }).find(free)!
    const agent = agents.find(({ name }) => name === chosen)!
    const good = luck() < shareAt(agent, turn)
    const noise = Math.exp(0.5 * (luck() + luck() + luck() - 1.5))
    const [cost, ms] = [agent.cost * noise, agent.seconds * 1000 * noise]
    const told = luck() < judged
    evidence.unshift({ agent: chosen, here: true, ...(told ? { good } : {}), cost, ms, at: turn * turnMs })
    last = chosen
    sums.good += shareAt(agent, turn)
    sums.cost += agent.cost
    sums.hours += agent.seconds / 3600
    sums.lost += Math.max(...able.map((one) => shareAt(one, turn))) - shareAt(agent, turn)
    sums.price += priceOf(agent, turn)
    sums.regret += priceOf(agent, turn) - Math.min(...able.map((one) => priceOf(one, turn)))
  }
  return sums
}

function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length

/** The regret of the strategy `measured` against the others, in a simulation of agents whose strengths are known and drift. */
export async function measuredRotation(): Promise<Row[]> {
  const runs = Object.entries(policies).map(([name, policy]) => {
    const each = Array.from({ length: seeds }, (_, seed) => run(policy, seed + 1))
    const of = (what: keyof Sums) => mean(each.map((sums) => sums[what]))
    const worst = Math.max(...each.map(({ regret }) => regret))
    return {
      name,
      regret: of('regret'),
      worst,
      good: of('good'),
      lost: of('lost'),
      cost: of('cost'),
      hours: of('hours'),
    }
  })
  console.log(
    `measured-rotation: ${turns} turns, five agents that drift, ${seeds} seeds, ${judged * 100} % of the turns judged`,
  )
  console.log(
    table([
      ['STRATEGY', 'REGRET $', 'WORST SEED $', 'GOOD ANSWERS', 'LOST TO THE BEST', 'COST $', 'HOURS'],
      ...runs.map(({ name, regret, worst, good, lost, cost, hours }) => [
        name,
        ...[regret, worst].map((value) => value.toFixed(0)),
        ...[good, lost, cost].map((value) => value.toFixed(0)),
        hours.toFixed(1),
      ]),
    ]),
  )
  const regretOf = (name: string) => runs.find((one) => one.name === name)!.regret
  const single = runs.filter(({ name }) => name.startsWith('only ')).sort((a, b) => a.regret - b.regret)[0]!
  return ['round-robin', 'exhaustion', single.name].map((other) => ({
    what: `regret of measured against ${other === single.name ? `the best single agent (${other})` : other}`,
    value: regretOf('measured') / regretOf(other),
    unit: 'ratio',
    bar: 1,
    detail: `$${regretOf('measured').toFixed(0)} against $${regretOf(other).toFixed(0)} in ${turns} turns`,
  }))
}
