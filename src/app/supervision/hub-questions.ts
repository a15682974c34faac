import type { Clock } from '../../base/clock.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { Registration } from '../../hub/hub.ts'
import type { HubClient } from '../hub/hub-client.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { whenRegistered } from '../../hub/hub-task-source.ts'
import { questionText } from '../../faces/question-text.ts'

type HubQuestionParts = {
  hub: HubClient
  as: Registration
  clock: Clock
  /** The ticket of the task that the agent works on now. */
  ticket(): string | undefined
}

/** How often the hub is asked for the answer. */
const lookMs = 1_000

/**
 * Puts the dialogs of a supervised CLI to the hub, where a person answers them with `termaite task answer`. A dialog that is
 * answered on the CLI's own screen is withdrawn there. A hub that is away is asked again until it is back.
 */
export function askAtHub({ hub, as, clock, ticket }: HubQuestionParts): Ask {
  return async (question, withdrawn) => {
    const id = newId(clock.now())
    const asked = await askedOf(question, id, ticket())
    let kept = false
    while (!withdrawn.aborted) {
      try {
        if (!kept) await whenRegistered(hub, as, () => hub.ask(as.id, asked, withdrawn))
        kept = true
        const { answered } = await hub.agent(as.id)
        if (answered?.ask === id) return answered.picks
      } catch {
        // The hub is away, or does not know the agent yet; the dialog stays on the screen meanwhile.
      }
      await clock.sleep(lookMs, withdrawn)
    }
    if (kept) await hub.withdraw(as.id).catch(() => {})
    return undefined
  }
}

/** The question as the hub keeps it: with everything that it shows, because a person says yes only to what they have seen. */
async function askedOf(question: Question, id: string, task: string | undefined) {
  const { about, options, multiple, marked, ordered, free } = question
  const text = await questionText({ ...question, options: [] })
  return defined({ id, text, about, options, multiple, marked, ordered, free, task })
}
