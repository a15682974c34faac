import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Opening, Terminal } from '../../core/screen/terminal.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { ScreenParts, ScreenSeat, ScreenSpec } from './spec.ts'
import { tighter } from '../../core/work/agent.ts'
import { Eye } from './eye.ts'
import { composes, factsOf } from './spec.ts'

/** A thread that is nothing but the life of a program in its terminal. */
const living = (id: string) => `terminal:${id}`
const isLiving = (key: string) => key.startsWith('terminal:')

/** How a CLI came to sit in its terminal: it began, went on with its thread, or was there. */
export type Came = 'began' | 'resumed' | 'there'

/** One CLI in one terminal: found where it lives, opened where it does not. */
export class Sitting {
  readonly facts: ScreenFacts
  readonly id: string
  #spec: ScreenSpec
  #seat: ScreenSeat
  #parts: ScreenParts
  #eye: Eye | undefined
  #key: string | undefined
  #leash: Leash
  /** Whether it has been ready to be typed to: one that was found at work has. */
  ready = true

  constructor(spec: ScreenSpec, seat: ScreenSeat, parts: ScreenParts) {
    this.facts = factsOf(spec)
    this.id = seat.terminal?.id ?? crypto.randomUUID()
    this.#spec = spec
    this.#seat = seat
    this.#parts = parts
    this.#leash = seat.leash
  }

  get terminal(): Terminal | undefined {
    return this.#eye?.terminal
  }

  get eye(): Eye {
    if (!this.#eye) throw new Error('nothing sits in the terminal yet')
    return this.#eye
  }

  /** The key of its session, where that is known. */
  get key(): string | undefined {
    return this.#key
  }

  /** What its thread is called on a log: by its own key, else by the terminal it lives in. */
  get thread(): string {
    return this.#key ?? living(this.id)
  }

  named(key: string | undefined): void {
    this.#key = key ?? this.#key
  }

  /** Sits down, held to the leash: `thread` is what it is to go on with, if it does not live any more. */
  async sit(thread: string | undefined, leash: Leash): Promise<Came> {
    const resume = thread === undefined || isLiving(thread) || !composes(this.#spec) ? undefined : thread
    const held = tighter(this.#leash, leash) === this.#leash
    if (this.#eye && !this.#eye.gone && held) return 'there'
    const host = await this.#parts.host()
    const found = await host.find(this.id)
    if (found && held && !this.#eye && (await lives(found))) {
      this.#key = resume ?? this.#key
      this.#eye = this.#watched(found)
      return 'there'
    }
    if (found) await this.#bury(found)
    this.#leash = leash
    // A session that ended by itself is gone on with, too.
    const key = this.#key ?? resume
    await this.#open(key)
    return key === undefined ? 'began' : 'resumed'
  }

  /** A session that is over may have said by which key it goes on. */
  async #bury(terminal: Terminal): Promise<void> {
    const { farewell } = this.facts
    const screen = farewell && composes(this.#spec) ? await terminal.screen().catch(() => undefined) : undefined
    this.#key ??= farewell?.exec(screen?.rows.map((row) => row.trimEnd()).join('\n') ?? '')?.[1]
    await terminal.close()
  }

  /** What lives in the terminal that the seat names, though nobody here sat down in it. */
  async found(): Promise<Terminal | undefined> {
    return this.#seat.terminal && (await this.#parts.host()).find(this.id)
  }

  /** Ends what sits there and begins anew, on no thread. */
  async anew(): Promise<Came> {
    await this.#eye?.terminal.close()
    await this.#open(undefined)
    return 'began'
  }

  async #open(resume: string | undefined): Promise<void> {
    const { command, env, names } = this.facts
    this.ready = false
    const { model = this.#spec.model, cwd, terminal } = this.#seat
    const thread = resume === undefined && names ? crypto.randomUUID() : undefined
    this.#key = composes(this.#spec) ? (resume ?? thread) : undefined
    const line = command({
      leash: this.#leash,
      ...(resume === undefined ? {} : { resume }),
      ...(model === undefined ? {} : { model }),
      ...(thread === undefined ? {} : { thread }),
    })
    const opening: Opening = {
      cwd,
      id: this.id,
      env: { ...env, ...this.#spec.env },
      title: terminal?.title ?? this.#spec.name,
      ...(terminal?.mode ? { mode: terminal.mode } : {}),
    }
    const host = await this.#parts.host()
    this.#eye = this.#watched(await host.open(line, opening))
  }

  #watched(terminal: Terminal): Eye {
    return new Eye(terminal, this.facts.reader, this.#parts.clock)
  }
}

/** A terminal whose program has left is still found, with its last screen. */
async function lives(terminal: Terminal): Promise<boolean> {
  const later = new Promise<true>((resolve) => setImmediate(resolve, true))
  return Promise.race([terminal.exited.then(() => false), later])
}
