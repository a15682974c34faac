import type { Command } from '../core/talk/command.ts'
import { buildPrompt, planAnswer, planQuestion } from '../agents/native/plan-card.ts'

export type Approval = { build(prompt: string): void; change(wish: string): void }

/** Puts a plan to the person: an approved one is the first prompt of a turn that builds it. */
export function approving(plan: string, by: string | undefined, { build, change }: Approval): Command {
  return {
    name: 'approve',
    help: 'Build, change or drop the last plan.',
    async run(_args, { ask, signal, say }) {
      const question = { ...planQuestion(plan), ...(by === undefined ? {} : { agent: by }) }
      const answer = planAnswer(await ask(question, signal))
      if (!answer || signal.aborted) return
      if (answer.then === 'build') build(buildPrompt(plan))
      else if (answer.then === 'drop') say('The plan is dropped. /plan leaves plan mode.', 'note')
      else if (answer.wish === undefined) say('Say what is to be different, and it is planned anew.', 'note')
      else change(answer.wish)
    },
  }
}
