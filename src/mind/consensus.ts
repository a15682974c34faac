import type { Event, Inner } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import { merge } from '../base/merge.ts'
import { failed } from '../core/talk/outcome.ts'
import { consult, take } from '../core/work/verbs.ts'

export type Advisor = { role: string; agent: Agent }
export type Council = { advisors: readonly Advisor[]; chair: Agent; actor: Agent }

type Heard = Map<Advisor, Outcome>

/** Advisors are asked side by side, the chair joins what they say, and the actor does it. */
export function consensus(council: Council): Agent {
  const { advisors, chair, actor } = council
  return {
    name: 'consensus',
    traits: actor.traits,
    async *turn(turn) {
      yield { type: 'end', outcome: yield* agree(council, turn) }
    },
    async close() {
      await Promise.all([...advisors.map(({ agent }) => agent), chair, actor].map((agent) => agent.close()))
    },
  }
}

async function* agree({ advisors, chair, actor }: Council, turn: Turn): AsyncGenerator<Event, Outcome> {
  const heard: Heard = new Map()
  // One that cannot be held to reading might act on what it is only asked about.
  const able = advisors.filter(({ agent }) => agent.traits.talks)
  yield* merge(able.map((advisor) => advise(advisor, turn, heard)))
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (advisors.length > 0)
    yield note(`advice: ${advisors.map((advisor) => roll(advisor, heard.get(advisor))).join('; ')}`)
  const given = able.flatMap((advisor) => {
    const outcome = heard.get(advisor)
    return outcome?.ok ? [quoted('advice', advisor.role, outcome.text)] : []
  })
  const plan = given.length > 0 ? yield* synthesis(chair, turn, given) : undefined
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  return yield* take(actor, plan === undefined ? turn : { ...turn, prompt: withPlan(turn.prompt, plan) })
}

async function* advise(advisor: Advisor, turn: Turn, heard: Heard): AsyncGenerator<Inner> {
  const asked = `You are asked for advice as the ${advisor.role}; another agent will do the work. Change nothing. Say what you would do and why, what speaks against it, and what must be checked.`
  const prompt = `${turn.prompt}\n\n${asked}`
  heard.set(advisor, yield* consult(advisor.agent, advisor.role, { ...turn, prompt }))
}

/** The chair's words; without them the actor goes by its own mind. */
async function* synthesis(chair: Agent, turn: Turn, given: string[]): AsyncGenerator<Event, string | undefined> {
  const asked =
    'Advisors were asked about the message above. Join what they say into one plan, keep what only one of them saw, and name the approaches that lost and why.'
  const prompt = [turn.prompt, asked, ...given].join('\n\n')
  const outcome = yield* consult(chair, 'chair', { ...turn, prompt })
  if (outcome.ok) return outcome.text
  if (!turn.signal.aborted) yield note(`the chair gave no plan: ${outcome.failure.message}`)
  return undefined
}

function withPlan(prompt: string, plan: string): string {
  const words = 'The plan is what other agents advise: weigh it, then do the work.'
  return `${prompt}\n\n${quoted('plan', 'chair', plan)}\n\n${words}`
}

function roll({ role, agent }: Advisor, outcome: Outcome | undefined): string {
  if (!outcome) return `${role} (${agent.name}) was not asked: it cannot be held to reading`
  return outcome.ok ? `${role} (${agent.name})` : `${role} (${agent.name}) failed: ${outcome.failure.message}`
}

/** Another agent's words, marked so that nobody takes them for the person's. */
function quoted(tag: string, role: string, text: string): string {
  return `<${tag} from="${role}">\n${text.replaceAll(`</${tag}`, `<\\/${tag}`)}\n</${tag}>`
}

const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })
