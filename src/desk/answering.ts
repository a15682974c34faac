import type { Command } from '../core/talk/command.ts'
import type { Question } from '../core/talk/question.ts'

/** Puts the questions that a turn ended with to the person; the answers are the next prompt. No answer leaves them to be typed. */
export function answering(asks: readonly Question[], by: string | undefined, send: (prompt: string) => void): Command {
  return {
    name: 'answer',
    help: 'Answer what the last turn asked.',
    async run(_args, { ask, signal }) {
      const answers: string[] = []
      for (const question of asks) {
        const picks = await ask({ ...question, ...(by === undefined ? {} : { agent: by }) }, signal)
        if (!picks || signal.aborted) return
        answers.push(`${question.text} ${picks.map((pick) => labelOf(question, pick)).join(', ')}`)
      }
      send(answers.join('\n'))
    },
  }
}

/** A pick that is no option's is the person's own words. */
function labelOf({ options }: Question, pick: string): string {
  return options.find(({ id }) => id === pick)?.label ?? pick
}
