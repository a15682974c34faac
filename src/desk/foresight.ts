import type { App } from '../turn/app.ts'
import { callAfter } from '../base/time/clock.ts'

type ForesightParts = {
  app(): App
  /** The agent of the next turn, as far as it is known for the typed text. */
  next(typed: string): string | undefined
  /** The agent of the next turn, if the person chose it. */
  aimed(): string | undefined
  /** Whether typed text would not begin a turn here. */
  busy(): boolean
}

/** How long a prepared turn is preserved after its text was deleted from the input. */
const emptyMs = 60_000

/** A text that begins like this becomes a turn, and no command, shell command or note. */
const isPrompt = (text: string) => /^\s*[^\s/!#]/.test(text)

/**
 * Prepares the next turn while the person types: it starts the agent, and copies the project's files. Only the files are read and a process is
 * started; no prompt is sent, and a failure is left to the turn.
 */
export class Foresight {
  #parts: ForesightParts
  #text = ''
  /** The work so far; a turn waits for it, so that no agent is started twice. */
  #work: Promise<void> = Promise.resolve()
  /** Whether the agent is checked again after the current work. */
  #isDue = false
  #emptied = new AbortController()
  /** The copying of the files, while it runs. No turn waits for it: its own snapshot is taken after it. */
  #snapshot: Promise<void> | undefined
  #closed = false

  constructor(parts: ForesightParts) {
    this.#parts = parts
  }

  /** Called with the text of the input whenever it has changed. */
  typed(text: string): void {
    const before = this.#text
    this.#text = text
    if (text === '' && before !== '') this.#emptySoon()
    if (!isPrompt(text) || isPrompt(before)) return
    this.#emptied.abort()
    if (this.#closed || this.#parts.busy()) return
    this.#look()
    this.#snapshot ??= this.#copyFiles().finally(() => (this.#snapshot = undefined))
  }

  /** Called when another agent, leash, model or session may have the next turn. */
  changed(): void {
    if (this.#parts.busy()) return
    if (isPrompt(this.#text)) this.#look()
    // A process for an agent that will not have the turn is of no use, even if nobody types now.
    else void this.#dropOthers()
  }

  /** Resolves when nothing is being started. */
  async settled(): Promise<void> {
    await this.#work
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#emptied.abort()
    await this.#work
  }

  #look(): void {
    if (this.#isDue || this.#closed || this.#parts.busy()) return
    this.#isDue = true
    this.#work = this.#work.then(() => this.#prepare()).catch(() => {})
  }

  async #prepare(): Promise<void> {
    this.#isDue = false
    const app = this.#parts.app()
    if (this.#closed || this.#parts.busy() || !app.warm) return
    await this.#dropOthers()
    const name = this.#parts.next(this.#text)
    if (name === undefined) return
    const { prepareAgent } = await import('../app/foreseen-turn.ts')
    await prepareAgent(app, { name, aimed: this.#parts.aimed() !== undefined })
  }

  async #copyFiles(): Promise<void> {
    const { prepareSnapshot } = await import('../app/foreseen-turn.ts')
    await prepareSnapshot(this.#parts.app())
  }

  /** Ends processes that were started for an agent that will not get the next turn. */
  async #dropOthers(): Promise<void> {
    await this.#parts.app().warm?.dropForeseen(this.#parts.next(this.#text))
  }

  /** Ends the prepared processes once the input has been empty for long. */
  #emptySoon(): void {
    this.#emptied.abort()
    this.#emptied = new AbortController()
    const { warm, io } = this.#parts.app()
    callAfter(io.clock, emptyMs, this.#emptied.signal, () => {
      // Nothing waits for the end of a process that nobody needs.
      void warm?.dropForeseen()
    })
  }
}
