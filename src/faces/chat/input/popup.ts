import type { Clock } from '../../../base/clock.ts'
import type { Choice } from '../palette/choices.ts'
import type { Desk } from '../desk.ts'
import type { Theme } from '../theme/theme.ts'
import type { Call } from './call.ts'
import { fuzzyMatch } from '@earendil-works/pi-tui'
import { Choices } from '../palette/choices.ts'
import { called, ranked } from '../palette/ranking.ts'
import { clean } from './paste.ts'
import { written } from './call.ts'

/** `text` takes the place of what was written, `typed` is what one would have typed; one that `waits` leads on to more words. */
export type Offer = Choice & { text: string; typed: string; waits?: boolean }

/** Keys that come faster than this ask for files once. */
const pauseMs = 15
const mostFiles = 50

/** What may be meant by the words before the cursor. Answers that come too late are dropped. */
export class Popup {
  #desk: Desk
  #clock: Clock
  #changed: () => void
  #choices: Choices<Offer>
  #call: Call | undefined
  #dismissed: string | undefined
  #asking = new AbortController()

  constructor(parts: { desk: Desk; clock: Clock; theme: Theme; changed(): void }) {
    this.#desk = parts.desk
    this.#clock = parts.clock
    this.#changed = parts.changed
    this.#choices = new Choices(parts.theme)
  }

  get open(): boolean {
    return this.#choices.items.length > 0
  }

  get call(): Call | undefined {
    return this.#call
  }

  get offer(): Offer | undefined {
    return this.#choices.chosen
  }

  move(by: number): void {
    this.#choices.move(by)
  }

  point(row: number): Offer | undefined {
    return this.#choices.point(row)
  }

  render(width: number, most: number): string[] {
    return this.#choices.render(width, most)
  }

  /** Where the chosen one stands, when there are more than are shown. */
  place(most: number): string {
    return this.#choices.place(most)
  }

  /** Closed by the person: it stays so until something else is called for. */
  dismiss(): void {
    this.#dismissed = this.#call && placeOf(this.#call)
    this.close()
  }

  close(): void {
    this.#asking.abort()
    this.#call = undefined
    this.#choices.set([])
  }

  /** Follows what is called for; `wanted` when the person asks for it by Tab. */
  follow(call: Call | undefined, wanted = false): void {
    const place = call && placeOf(call)
    if (place !== this.#dismissed || wanted) this.#dismissed = undefined
    if (!call || this.#dismissed !== undefined) return this.close()
    const same = this.#call !== undefined && placeOf(this.#call) === place
    this.#asking.abort()
    this.#call = call
    // What is shown already is narrowed at once, and is never wrong for what is typed now.
    this.#choices.set(same ? this.#choices.items.filter(({ label }) => fits(label, call.typed)) : [], true)
    if (call.type === 'command') return this.#choices.set(this.#commands(call.typed))
    const { signal } = (this.#asking = new AbortController())
    void this.#ask(call, signal).then(
      (offers) => {
        if (signal.aborted) return
        this.#choices.set(offers, same)
        this.#changed()
      },
      // A finder that fails offers nothing: typing goes on.
      () => {},
    )
  }

  async #ask(call: Exclude<Call, { type: 'command' }>, signal: AbortSignal): Promise<Offer[]> {
    if (call.type === 'words') return this.#words(call.command, call.typed)
    await this.#clock.sleep(pauseMs, signal)
    if (signal.aborted) return []
    const paths = await this.#desk.files(call.typed, mostFiles, signal)
    return (
      paths
        // What cannot be typed in a line cannot be attached from one.
        .filter((path) => path === clean(path) && !path.includes('\n'))
        .map((path) => ({ label: path, text: written(path), typed: path }))
    )
  }

  #commands(typed: string): Offer[] {
    return ranked(this.#desk.commands, typed).map((command) => ({
      label: called(command),
      help: command.help,
      text: command.words ? `/${command.name} ` : `/${command.name}`,
      typed: command.name,
      ...(command.words ? { waits: true } : {}),
    }))
  }

  async #words(name: string, typed: string): Promise<Offer[]> {
    const command = this.#desk.commands.find((known) => known.name === name)
    const found = (await command?.complete?.(typed)) ?? []
    return found.filter((word) => fits(word, typed)).map((word) => ({ label: word, text: word, typed: word }))
  }
}

function placeOf(call: Call): string {
  return call.type === 'words' ? `${call.type} ${call.command} ${call.from}` : `${call.type} ${call.from}`
}

function fits(label: string, typed: string): boolean {
  return fuzzyMatch(typed.trim(), label).matches
}
