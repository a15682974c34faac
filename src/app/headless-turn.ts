import type { Event } from '../core/talk/entry.ts'
import type { Ask } from '../core/talk/question.ts'
import type { App } from './app.ts'
import type { TurnWishes } from './turn.ts'
import { RunningTurns } from '../core/talk/running-turns.ts'
import { Cards } from './cards.ts'
import { Line } from './prompt-queue.ts'
import { say } from '../core/io.ts'
import { closeNative, leaveSession } from './native/native-parts.ts'
import { serveTurns } from './peers.ts'
import { personAt } from '../faces/terminal-questions.ts'
import { oneLine } from '../base/table.ts'
import { runTurn } from './turn.ts'

/** One turn without a screen, which the person's other processes can follow, answer, steer and cancel. */
export async function* runReached(
  app: App,
  wishes: Omit<TurnWishes, 'ask' | 'steer' | 'shown'>,
): AsyncGenerator<Event> {
  const { io, place } = app
  const turns = new RunningTurns()
  const cards = new Cards()
  const line = new Line(() => {})
  const stop = new AbortController()
  const reach = {
    cancel: () => stop.abort(),
    // There is no next turn here for what nobody takes.
    steer: (text: string) => line.steers && (line.add(text), true),
    answer: (ask: string, picks?: string[]) => cards.answer(ask, picks),
  }
  // Whoever follows may answer; only when they have gone there is nobody.
  const watcher: Ask = async (_question, withdrawn) => {
    await turns.unwatched(withdrawn)
    return undefined
  }
  const served = serveTurns(place.home, turns, io.clock)
  try {
    yield* runTurn(app, {
      ...wishes,
      signal: AbortSignal.any([wishes.signal, stop.signal]),
      ask: firstOf(cards.ask, personAt(io, watcher)),
      steer: (until) => line.steer(until),
      shown: { turns, reach },
    })
  } finally {
    for (let text = line.next(); text !== undefined; text = line.next())
      say(io, `termaite: this was typed meanwhile, and no agent took it: ${oneLine(text, 200)}`)
    for (const words of await leaveSession(app.native, 'other')) say(io, `termaite: ${words}`)
    await Promise.all([served.close(), closeNative(app.native)])
  }
}

/** Whoever answers first; the other need not answer any more. */
function firstOf(one: Ask, other: Ask): Ask {
  return async (question, withdrawn, ask) => {
    const settled = new AbortController()
    const signal = AbortSignal.any([withdrawn, settled.signal])
    return Promise.race([one(question, signal, ask), other(question, signal, ask)]).finally(() => settled.abort())
  }
}
