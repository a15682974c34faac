import type { Event } from '../../src/core/talk/entry.ts'
import type { Ask, Question } from '../../src/core/talk/question.ts'
import { nobody } from '../../src/core/talk/question.ts'

/** A person who gives these answers in turn, and then none; and what they were asked. */
export function person(...answers: (string | undefined)[]): { ask: Ask; asked: Question[] } {
  const asked: Question[] = []
  return {
    asked,
    ask: async (question) => {
      const pick = answers[asked.push(question) - 1]
      return pick === undefined ? undefined : [pick]
    },
  }
}

/** Somebody who is asked and has not answered when the turn is cancelled. */
export function pondering(abort: AbortController): Ask {
  return async (question, withdrawn) => {
    abort.abort()
    return nobody(question, withdrawn)
  }
}

/** Who did what, as short as it can be asserted. */
export function told(facts: readonly Event[]): string[] {
  return facts.map((fact) => {
    if (fact.type === 'attempt') return `${fact.by} failed: ${fact.failure.kind}`
    return fact.type === 'reply' ? `${fact.by} said ${fact.text}` : fact.type
  })
}
