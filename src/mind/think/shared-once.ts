import type { Ask } from '../../core/talk/question.ts'

type Answer = string[] | undefined

/** Whether somebody may be given the conversation is asked once a turn, however many roles they have in it. */
export function sharedOnce(ask: Ask): Ask {
  const asked = new Map<string, Promise<Answer>>()
  return async (question, withdrawn, id) => {
    if (question.about !== 'sharing' || question.agent === undefined) return ask(question, withdrawn, id)
    const { agent } = question
    // What was asked for a role that was given up meanwhile was not answered: whoever waits for it asks anew.
    for (let before = asked.get(agent); before; before = asked.get(agent)) {
      const picks = await orWithdrawn(before, withdrawn)
      if (picks || withdrawn.aborted) return picks
      if (asked.get(agent) === before) asked.delete(agent)
    }
    const answer = ask(question, withdrawn, id)
    asked.set(agent, answer)
    return answer
  }
}

function orWithdrawn(answer: Promise<Answer>, withdrawn: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const left = () => resolve(undefined)
    if (withdrawn.aborted) return left()
    withdrawn.addEventListener('abort', left, { once: true })
    void answer.then((picks) => {
      withdrawn.removeEventListener('abort', left)
      resolve(picks)
    })
  })
}
