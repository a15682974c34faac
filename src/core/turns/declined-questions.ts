import type { Event } from '../talk/entry.ts'
import type { Question } from '../talk/question.ts'

/** Notices the questions of a turn that the person answered with a no, or left without an answer. */
export class DeclinedQuestions {
  /** The text of the first one. */
  first: string | undefined
  #asked = new Map<string, Question>()

  see(event: Event): void {
    if (event.type === 'inner') return this.see(event.event)
    if (event.type === 'question') this.#asked.set(event.ask, event.question)
    if (event.type !== 'answer') return
    const question = this.#asked.get(event.ask)
    const picks = event.picks ?? []
    if (question && (picks.length === 0 || picks.some((pick) => isNo(question, pick)))) this.first ??= question.text
  }
}

const isNo = ({ options }: Question, pick: string) => options.find(({ id }) => id === pick)?.means === 'no'
