import type { Command, CommandScreen } from '../core/talk/command.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Audience } from './audience.ts'
import type { Cards } from '../border/cards.ts'
import type { Clock } from '../base/time/clock.ts'
import { newId } from '../base/id.ts'
import { messageOf } from '../base/error-message.ts'

type CommandRunnerParts = { audience: Audience; cards: Cards; clock: Clock; done(): Promise<void> }

/** Runs slash commands. Several may run at once; Esc cancels the newest first. */
export class CommandRunner {
  screen: CommandScreen | undefined
  #parts: CommandRunnerParts
  #atWork = new Map<AbortController, Promise<void>>()

  constructor(parts: CommandRunnerParts) {
    this.#parts = parts
  }

  /** Never rejects: an error is shown on the screen where the command was typed. */
  async run(command: Command, args: string): Promise<void> {
    const stop = new AbortController()
    const work = this.#run(command, args, stop.signal)
    this.#atWork.set(stop, work)
    await work
    this.#atWork.delete(stop)
    await this.#parts.done().catch(() => {})
  }

  /** Cancels the newest running command. Returns whether one was running. */
  cancel(): boolean {
    const newest = [...this.#atWork.keys()].findLast(({ signal }) => !signal.aborted)
    newest?.abort()
    return newest !== undefined
  }

  /** Cancels all commands and waits until they have stopped. */
  async close(): Promise<void> {
    for (const stop of this.#atWork.keys()) stop.abort()
    await Promise.all(this.#atWork.values())
  }

  async #run(command: Command, args: string, signal: AbortSignal): Promise<void> {
    const { audience, clock } = this.#parts
    const say: Audience['say'] = (text, how) => audience.say(text, how)
    const of = newId(clock.now())
    let isShown = false
    const progress = (words: string) => {
      isShown = true
      // A slow screen must not delay the command.
      void audience.tell({ type: 'progress', of, words })
    }
    try {
      if (!this.screen) throw new Error(`/${command.name} needs a screen`)
      await command.run(args, { say, ask: unkeptAsk(this.#parts), progress, signal, screen: this.screen })
    } catch (error) {
      if (!signal.aborted) say(messageOf(error), 'error')
    } finally {
      if (isShown) void audience.tell({ type: 'progress', of })
    }
  }
}

/** Asks the person outside of a turn. The question is shown like any other, but not kept in the history. */
export function unkeptAsk({ audience, cards, clock }: Pick<CommandRunnerParts, 'audience' | 'cards' | 'clock'>): Ask {
  return async (question, withdrawn) => {
    const ask = newId(clock.now())
    await audience.tell({ type: 'event', turn: '', event: { type: 'question', ask, question } })
    const picks = await cards.ask(question, withdrawn, ask)
    const event: Event = { type: 'answer', ask, ...(picks ? { picks: shownPicks(question, picks) } : {}) }
    await audience.tell({ type: 'event', turn: '', event })
    return picks
  }
}

/** The answer as the screen shows it, without secrets. */
function shownPicks({ secret, options }: Question, picks: string[]): string[] {
  return secret ? picks.map((pick) => (options.some(({ id }) => id === pick) ? pick : '(not shown)')) : picks
}
