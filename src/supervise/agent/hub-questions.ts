import type { Clock } from '../../base/time/clock.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { HubAgent } from '../../hub/model/tasks/task.ts'
import type { Registration } from '../../hub/engine/hub.ts'
import type { HubClient } from '../../hub/client/hub-client.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { whenRegistered } from '../../hub/engine/hub-task-source.ts'
import { questionText } from '../../questions/question-text.ts'

type HubQuestionParts = {
  hub: HubClient
  as: Registration
  clock: Clock
  /** The ticket of the agent's present task. */
  ticket(): string | undefined
}

/** The pause before the next attempt, after a hub was unreachable or closed the stream. */
const againMs = 1_000

/**
 * Shows the dialogs of a supervised CLI at the hub, where a person answers them with `termaite task answer`. A dialog that is answered on
 * the CLI's own screen is withdrawn there. An unreachable hub is tried again until it is back.
 */
export function askAtHub({ hub, as, clock, ticket }: HubQuestionParts): Ask {
  return async (question, withdrawn) => {
    const id = newId(clock.now())
    const asked = await askedOf(question, id, ticket())
    let [kept, sent] = [false, false]
    while (!withdrawn.aborted) {
      try {
        if (!kept)
          await whenRegistered(hub, as, () => {
            sent = true
            return hub.ask(as.id, asked, withdrawn)
          })
        kept = true
        const answer = await answerTo(id, { hub, agent: as.id }, withdrawn)
        if (answer) return answer.picks
      } catch {
        // The hub is unreachable, or does not know the agent yet; meanwhile the dialog stays on the screen.
      }
      await clock.sleep(againMs, withdrawn)
    }
    // The hub may have the question even though this process did not wait for its answer.
    if (sent) await hub.withdraw(as.id).catch(() => {})
    return undefined
  }
}

/** Follows the changes at the hub until a question of the agent is answered; undefined if the stream closes first. */
async function answerTo(
  question: string,
  { hub, agent }: { hub: HubClient; agent: string },
  signal: AbortSignal,
): Promise<HubAgent['answered']> {
  const answerIn = ({ answered }: Pick<HubAgent, 'answered'>) => (answered?.ask === question ? answered : undefined)
  // The place in the stream is read before the agent, so that no answer is missed between the two.
  const place = await hub.changesPlace(signal)
  const known = answerIn(await hub.agent(agent))
  if (known) return known
  for await (const change of hub.changes(place, signal)) {
    const answer = change.type === 'agent' && change.agent.id === agent ? answerIn(change.agent) : undefined
    if (answer) return answer
  }
  return undefined
}

/** The question in the form for the hub, with everything that it shows: a person should only agree to something that they have seen. */
async function askedOf(question: Question, id: string, task: string | undefined) {
  const { about, options, multiple, marked, ordered, free } = question
  const text = await questionText({ ...question, options: [] })
  return defined({ id, text, about, options, multiple, marked, ordered, free, task })
}
