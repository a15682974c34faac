import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Opening, Terminal } from '../../core/screen/terminal.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { ScreenParts, ScreenSeat, ScreenSpec } from './screen-spec.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Sight } from './screen-watcher.ts'
import type { Clock } from '../../base/clock.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Live } from '../../core/talk/entry.ts'
import { tighter } from '../../core/work/agent.ts'
import { ScreenWatcher } from './screen-watcher.ts'
import { composes, screenFactsOf } from './screen-spec.ts'
import { messageOf } from '../../base/error-message.ts'
import { endedOf, declinedFailure, exitFailure, unknownScreenFailure } from './screen-failure.ts'
import { askDialog, dialogOn } from './screen-dialogs.ts'

/** A thread that is nothing but the life of a program in its terminal. */
const terminalThread = (id: string) => `terminal:${id}`
const isTerminalThread = (key: string) => key.startsWith('terminal:')

/** How a CLI came to sit in its terminal: it began, went on with its thread, or was there. */
export type ProgramStart = 'began' | 'resumed' | 'there'

/** One CLI in one terminal: found where it lives, opened where it does not. */
export class TerminalProgram {
  readonly facts: ScreenFacts
  readonly id: string
  #spec: ScreenSpec
  #seat: ScreenSeat
  #parts: ScreenParts
  #eye: ScreenWatcher | undefined
  #key: string | undefined
  #leash: Leash
  /** Whether it has been ready to be typed to: one that was found at work has. */
  ready = true

  constructor(spec: ScreenSpec, seat: ScreenSeat, parts: ScreenParts) {
    this.facts = screenFactsOf(spec)
    this.id = seat.terminal?.id ?? crypto.randomUUID()
    this.#spec = spec
    this.#seat = seat
    this.#parts = parts
    this.#leash = seat.leash
  }

  get terminal(): Terminal | undefined {
    return this.#eye?.terminal
  }

  get eye(): ScreenWatcher {
    if (!this.#eye) throw new Error('nothing sits in the terminal yet')
    return this.#eye
  }

  /** The key of its session, where that is known. */
  get key(): string | undefined {
    return this.#key
  }

  /** What its thread is called on a log: by its own key, else by the terminal it lives in. */
  get thread(): string {
    return this.#key ?? terminalThread(this.id)
  }

  learnKey(key: string | undefined): void {
    this.#key = key ?? this.#key
  }

  /** Sits down, held to the leash: `thread` is what it is to go on with, if it does not live any more. */
  async start(thread: string | undefined, leash: Leash): Promise<ProgramStart> {
    const resume = thread === undefined || isTerminalThread(thread) || !composes(this.#spec) ? undefined : thread
    const held = tighter(this.#leash, leash) === this.#leash
    if (this.#eye && !this.#eye.gone && held) return 'there'
    const host = await this.#parts.host()
    const findTerminal = await host.find(this.id)
    if (findTerminal && held && !this.#eye && (await lives(findTerminal))) {
      this.#key = resume ?? this.#key
      this.#eye = this.#watched(findTerminal)
      return 'there'
    }
    if (findTerminal) await this.#bury(findTerminal)
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
  async restart(): Promise<ProgramStart> {
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

  #watched(terminal: Terminal): ScreenWatcher {
    return new ScreenWatcher(terminal, this.facts.reader, this.#parts.clock)
  }
}

/** A terminal whose program has left is still found, with its last screen. */
async function lives(terminal: Terminal): Promise<boolean> {
  const later = new Promise<true>((resolve) => setImmediate(resolve, true))
  return Promise.race([terminal.exited.then(() => false), later])
}

export type ReadyResult = { came: ProgramStart; sight: Sight } | { failure: Failure }

/** Takes the seat and waits until it can be typed to; undefined when the wait was broken off. */
export async function readyProgram(
  sitting: TerminalProgram,
  thread: string | undefined,
  leash: Leash,
  waiting: ReadyWait,
): Promise<ReadyResult | undefined> {
  try {
    const first = await startOnce(sitting, await sitting.start(thread, leash), waiting)
    if (!first || !('failure' in first) || !sitting.eye.gone) return first
    // Whoever watches it saw it leave as well, and decides whether another one is opened.
    if (waiting.signal.aborted) return undefined
    // It had left before anyone came: it is begun again, or goes on with its thread.
    if (first.came === 'there') return await startOnce(sitting, await sitting.start(thread, leash), waiting)
    const lost = waiting.spec.profile?.lostThread?.(endedOf(await sitting.eye.look())) === true
    if (first.came !== 'resumed' || !lost) return first
    return await startOnce(sitting, await sitting.restart(), waiting)
  } catch (error) {
    return { failure: { kind: 'crash', message: `${waiting.spec.name} got no terminal: ${messageOf(error)}` } }
  }
}

async function startOnce(sitting: TerminalProgram, came: ProgramStart, waiting: ReadyWait) {
  if (came !== 'there') await waiting.state('starting')
  const seen = await untilReady(sitting, waiting)
  return seen && ('kind' in seen ? { came, failure: seen } : { came, sight: seen })
}

export type State = Extract<Live, { type: 'state' }>['state']

export type ReadyWait = {
  spec: ScreenSpec
  clock: Clock
  ask: Ask
  signal: AbortSignal
  /** A sign of life. */
  heard(): void
  state(state: State): Promise<void>
}

/** How long a screen that is not known may stand still; an empty one is only slow. */
const strangeMs = 20_000

/** How long a program that just began must draw nothing to be ready, and how long it is waited for that. */
const stillMs = 300
const mostDrawnMs = 2_000

/** Who leaves so soon after an answer leaves because of it. */
const leaveMs = 3_000

/** Waits until a prompt can be typed, and asks what the CLI asks on the way; undefined when the wait was broken off. */
export async function untilReady(
  sitting: TerminalProgram,
  { spec, clock, ask, signal, heard, state }: ReadyWait,
): Promise<Sight | Failure | undefined> {
  const { eye, facts } = sitting
  const { ready, idle } = facts.reader
  const began = !sitting.ready
  let seen = !began || ready === undefined
  let drawnAt = -Infinity
  let answered = { text: '', at: -Infinity }
  let standsSince: number | undefined
  while (!signal.aborted) {
    const sight = await eye.look()
    const { screen, reading, quietMs, at } = sight
    if (sight.gone && at - answered.at < leaveMs) return declinedFailure(spec, answered.text)
    if (sight.gone) return exitFailure(spec, sight, began ? 'it was ready' : 'it could be asked')
    if (at - quietMs > drawnAt) heard()
    drawnAt = at - quietMs
    seen ||= ready?.test(screen.rows.join('\n')) ?? true
    const dialog =
      reading.state === 'asking' || reading.state === 'unknown' ? dialogOn(sight, spec.name, facts) : undefined
    if (dialog) {
      await state('asking')
      if (await askDialog(dialog, { name: spec.name, eye, facts, clock, ask, signal }))
        answered = { text: dialog.question.text, at: clock.now() }
      if (began) await state('starting')
      continue
    }
    // A program that is known by its ready mark alone is ready when it stands there.
    const stands = seen && (reading.state === 'idle' || (ready !== undefined && idle === undefined))
    if (stands) standsSince ??= at
    // Some draw their composer first, and what was said before or what they ask only then.
    const drawing = began && quietMs < stillMs && at - (standsSince ?? at) < mostDrawnMs
    sitting.ready ||= stands && !drawing
    if (sitting.ready && (reading.state === 'idle' || began)) return sight
    if (stands && drawing) {
      await eye.next(signal, stillMs - quietMs)
      continue
    }
    const shows = screen.rows.some((row) => row.trim() !== '')
    if (reading.state === 'unknown' && shows && quietMs >= strangeMs)
      return unknownScreenFailure(spec, sight, eye.terminal.attach)
    await eye.next(signal)
  }
  return undefined
}
