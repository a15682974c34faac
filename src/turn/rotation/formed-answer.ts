import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import { failed } from '../../core/talk/outcome.ts'
import { tag } from '../../core/talk/transcript.ts'
import { take } from '../../core/work/verbs.ts'

/** How often an agent is asked for one answer, including the first time. */
const mostTries = 3

/**
 * Makes an agent's answers match the required format of the turn. If an answer does not match, the agent is asked again, with a list of
 * the errors. The new prompt is complete in itself, because another agent or a new thread may get it.
 */
export function formedAnswer(agent: Agent): Agent {
  return {
    name: agent.name,
    get traits() {
      return agent.traits
    },
    async *turn(turn) {
      yield { type: 'end', outcome: yield* asked(agent, turn) }
    },
    close: () => agent.close(),
  }
}

async function* asked(agent: Agent, turn: Turn): AsyncGenerator<Event, Outcome> {
  let { prompt, files } = turn
  for (let tried = 1; ; tried++) {
    const outcome = yield* take(agent, { ...turn, prompt, files })
    if (!turn.form || !outcome.ok || outcome.refused || outcome.asks !== undefined) return outcome
    const read = await turn.form.check(outcome)
    if ('json' in read) {
      const { whole: _cut, ...rest } = outcome
      return { ...rest, text: read.json }
    }
    const wrong = `the answer does not match the output schema: ${read.why}`
    if (tried >= mostTries) return failed('unmet', `${wrong} (asked ${tried} times)`)
    yield { type: 'note', text: `Asking again, because ${wrong}`, by: 'termaite' }
    prompt = again(turn.prompt, outcome.text, read.why)
    files = undefined
  }
}

function again(request: string, answer: string, why: string): string {
  return [
    'You were asked the following, and your answer does not match the JSON Schema in it.',
    tag('request', '', request),
    tag('answer', '', answer),
    `What is wrong: ${why}`,
    'Give the same answer again as JSON that matches the schema, and write nothing but the JSON. What you did for the request is still in place: do not do it again.',
  ].join('\n')
}
