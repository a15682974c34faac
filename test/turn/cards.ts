import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Ask, Question } from '../../src/core/talk/question.ts'
import type { rig } from './rig.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { memoryStore } from '../../src/store/memory-store.ts'

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

/** A person who is asked and has not answered when the turn is cancelled. */
export function pondering(abort: AbortController): Ask {
  return async (question, withdrawn) => {
    abort.abort()
    return nobody(question, withdrawn)
  }
}

/** The facts with their authors, as short as they can be asserted. */
export function told(facts: readonly Event[]): string[] {
  return facts.map((fact) => {
    if (fact.type === 'attempt') return `${fact.by} failed: ${fact.failure.kind}`
    return fact.type === 'reply' ? `${fact.by} said ${fact.text}` : fact.type
  })
}

/** A turn on a log, as the chat runs it, with somebody who looks at the card and says nothing. */
export function conversed({ agent, clock }: ReturnType<typeof rig>, history: readonly Entry[] = []) {
  const log = memoryStore().log<Entry>('log')
  const parts = { log, blobs: memoryStore().blobs('b'), session: 's', clock, owner: 'me', alive: () => true }
  const conversation = new Conversation(parts)
  const withdrawn: boolean[] = []
  const ask = (_question: Question, signal: AbortSignal) =>
    new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => {
        withdrawn.push(true)
        resolve(undefined)
      }),
    )
  const events: Event[] = []
  const stop = new AbortController()
  const done = (async () => {
    for (const entry of history) await conversation.append(entry, entry.by, entry.turn)
    const world = { cwd: '.', leash: 'ask' as const, signal: stop.signal, ask, attended: true }
    for await (const event of conversation.converse(agent(), 'go', world)) events.push(event)
  })()
  return {
    clock,
    done,
    events,
    withdrawn,
    cancel: () => stop.abort(),
    /** The last question is answered by another process. */
    async answerElsewhere(pick: string) {
      const question = events.findLast(
        (event): event is Extract<Entry, { type: 'question' }> => event.type === 'question',
      )!
      await conversation.append({ type: 'answer', ask: question.ask, picks: [pick] }, 'user', question.turn)
    },
    answers: () => events.flatMap((event) => (event.type === 'answer' ? [[event.by, event.picks]] : [])),
    outcome: () => events.flatMap((event) => (event.type === 'end' ? [event.outcome] : [])).at(-1),
  }
}
