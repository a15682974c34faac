import type { Event } from '../core/talk/entry.ts'
import type { Ask } from '../core/talk/question.ts'
import type { App } from '../turn/app.ts'
import type { TurnMaker, TurnRequest } from './turn.ts'
import { oneLine } from '../base/text/table.ts'
import { say } from '../core/io.ts'
import { RunningTurns } from '../core/turns/running-turns.ts'
import { personAt } from '../questions/terminal-questions.ts'
import { cancelWhenLeft, Cards } from '../border/cards.ts'
import { scanAtStart } from '../native/machine-facts.ts'
import { closeNative, leaveSession } from '../native/native-parts.ts'
import { serveTurns } from '../wire/peer/peers.ts'
import { PromptQueue } from '../turn/prompt-queue.ts'
import { runTurn } from './turn.ts'

/** Runs one turn without a screen. The person's other processes can follow, answer, steer and cancel it. */
export function runHeadless(
  app: App,
  request: Omit<TurnRequest, 'ask' | 'steer' | 'peers' | 'close'>,
  make: TurnMaker = runTurn,
): AsyncIterable<Event> {
  const { io, place } = app
  const turns = new RunningTurns()
  const cards = new Cards()
  const queue = new PromptQueue(() => {})
  const stop = new AbortController()
  const reach = {
    cancel: () => stop.abort(),
    // Text is accepted only while an agent can be steered: here it could not wait for a next turn.
    steer: (text: string) => queue.steers && (queue.add(text), true),
    answer: (ask: string, picks?: string[]) => cards.answer(ask, picks),
  }
  // A question stays open as long as another process follows the turn, because a person may answer it there.
  const untilUnwatched: Ask = async (_question, withdrawn) => {
    await turns.unwatched(withdrawn)
    return undefined
  }
  scanAtStart(app.native)
  const untilLeft = (ask: Ask) => cancelWhenLeft(ask, () => stop.abort())
  const served = serveTurns(place.home, turns, io.clock)
  return make(app, {
    ...request,
    signal: AbortSignal.any([request.signal, stop.signal]),
    ask: firstAnswer(untilLeft(cards.ask), personAt(io, untilUnwatched, untilLeft)),
    steer: (until) => queue.steer(until),
    peers: { turns, reach },
    async close() {
      app.snapshots.stop()
      for (const text of queue.takeAll())
        say(io, `termaite: No agent received the text that was typed during the turn: ${oneLine(text, 200)}`)
      for (const words of await leaveSession(app.native, 'other')) say(io, `termaite: ${words}`)
      for (const { box } of app.native.state.tools.toolboxes.values())
        for (const command of box.jobs.runningCommands) say(io, `termaite: ${endedJobWords(command)}`)
      await Promise.all([served.close(), closeNative(app.native)])
    },
  })
}

const endedJobWords = (command: string) =>
  `This background command of the agent was ended with the run: ${oneLine(command, 200)}. In the chat, background commands go on after the turn.`

/** Asks in both places; the first answer counts, and the question is withdrawn from the other. */
function firstAnswer(one: Ask, other: Ask): Ask {
  return async (question, withdrawn, ask) => {
    const settled = new AbortController()
    const signal = AbortSignal.any([withdrawn, settled.signal])
    return Promise.race([one(question, signal, ask), other(question, signal, ask)]).finally(() => settled.abort())
  }
}
