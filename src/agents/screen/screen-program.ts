import type { ScreenFacts } from '../../core/profile/profile.ts'
import type { Opening, Terminal } from '../../core/screen/terminal.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { ScreenParts, ScreenSeat, ScreenSpec } from './screen-spec.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { AskedPerson } from '../enclosure.ts'
import type { Sight } from './screen-watcher.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Live } from '../../core/talk/entry.ts'
import { bypassFolderProgram } from '../../base/process/program-path.ts'
import { quotedWord } from '../../base/text/shell-word.ts'
import { defined } from '../../base/defined.ts'
import { tighter } from '../../core/work/agent.ts'
import { lentServerArguments } from '../lent-server.ts'
import { effortWords, folderWords } from '../pipe/pipe-command.ts'
import { ScreenWatcher } from './screen-watcher.ts'
import { composes, screenFactsOf } from './screen-spec.ts'
import { messageOf } from '../../base/error-message.ts'
import { endedOf, declinedFailure, exitFailure, unknownScreenFailure } from './screen-failure.ts'
import { askDialog, dialogOn } from './screen-dialogs.ts'

/** The key of a thread that lasts as long as the program in its terminal. */
const terminalThread = (id: string) => `terminal:${id}`
const isTerminalThread = (key: string) => key.startsWith('terminal:')

/** How a program got into its terminal: it began new, resumed its thread, or was already running. */
type ProgramStart = 'began' | 'resumed' | 'there'

/** One CLI in one terminal: the running one if there is one, otherwise a new one. */
export class TerminalProgram {
  readonly facts: ScreenFacts
  readonly id: string
  #spec: ScreenSpec
  #seat: ScreenSeat
  #parts: ScreenParts
  #watcher: ScreenWatcher | undefined
  #key: string | undefined
  #leash: Leash
  /** Whether the program has ever been ready for a prompt; a program that was found running counts as ready. */
  ready = true
  /** Resolves once the sandbox of a program that has exited is removed. */
  settled: Promise<unknown> = Promise.resolve()
  /** Whether the CLI's own journal has reported one of its turns. */
  journals = false

  constructor(spec: ScreenSpec, seat: ScreenSeat, parts: ScreenParts) {
    this.facts = screenFactsOf(spec)
    this.id = seat.terminal?.id ?? crypto.randomUUID()
    this.#spec = spec
    this.#seat = seat
    this.#parts = parts
    this.#leash = seat.leash
  }

  get terminal(): Terminal | undefined {
    return this.#watcher?.terminal
  }

  get watcher(): ScreenWatcher {
    if (!this.#watcher) throw new Error('no program runs in the terminal yet')
    return this.#watcher
  }

  /** The key of the CLI's session, if known. */
  get key(): string | undefined {
    return this.#key
  }

  /** The name of the thread in the log: the session's key, otherwise the terminal. */
  get thread(): string {
    return this.#key ?? terminalThread(this.id)
  }

  learnKey(key: string | undefined): void {
    this.#key = key ?? this.#key
  }

  /** Makes sure that the program runs within the leash; resumes `thread` if the program no longer runs. */
  async start(thread: string | undefined, leash: Leash, ask: AskedPerson): Promise<ProgramStart> {
    const resume = thread === undefined || isTerminalThread(thread) || !composes(this.#spec) ? undefined : thread
    const held = tighter(this.#leash, leash) === this.#leash
    if (this.#watcher && !this.#watcher.gone && held) return 'there'
    const host = await this.#parts.host()
    const found = await host.find(this.id)
    if (found && held && !this.#watcher && (await isRunning(found))) {
      this.#key = resume ?? this.#key
      this.#watcher = this.#watched(found)
      return 'there'
    }
    if (found) await this.#closeEnded(found)
    this.#leash = leash
    // A session that ended by itself is resumed, too.
    const key = this.#key ?? resume
    await this.#open(key, ask)
    return key === undefined ? 'began' : 'resumed'
  }

  /** Closes the terminal of a program that has exited, which may have printed the key for resuming. */
  async #closeEnded(terminal: Terminal): Promise<void> {
    const { farewell } = this.facts
    const screen = farewell && composes(this.#spec) ? await terminal.screen().catch(() => undefined) : undefined
    this.#key ??= farewell?.exec(screen?.rows.map((row) => row.trimEnd()).join('\n') ?? '')?.[1]
    await terminal.close()
  }

  /** The terminal that the seat names, if this process did not start the program. */
  async findTerminal(): Promise<Terminal | undefined> {
    return this.#seat.terminal && (await this.#parts.host()).find(this.id)
  }

  /** Stops the program and starts it again, without a thread. */
  async restart(ask: AskedPerson): Promise<ProgramStart> {
    await this.#watcher?.terminal.close()
    await this.#open(undefined, ask)
    return 'began'
  }

  async #open(resume: string | undefined, ask: AskedPerson): Promise<void> {
    const { command, env, names, lends } = this.facts
    this.ready = false
    const { model = this.#spec.model, cwd, terminal } = this.#seat
    const thread = resume === undefined && names ? crypto.randomUUID() : undefined
    this.#key = composes(this.#spec) ? (resume ?? thread) : undefined
    const path: Record<string, string> = terminal?.path === undefined ? {} : { PATH: terminal.path }
    const all = { ...this.#parts.env, ...path, ...env, ...this.#spec.env }
    const lent = composes(this.#spec) ? (await lentServerArguments(lends, this.#parts.lend)).words : ''
    const opens = composes(this.#spec) ? folderWords(this.#spec.profile, this.#spec.folders) : ''
    const thinks = composes(this.#spec) ? effortWords(this.#spec.profile, this.#spec.effort) : ''
    const parts = [command({ leash: this.#leash, resume, model, thread }), lent, opens, thinks]
    const words = parts.filter((part) => part !== '')
    const line = bypassFolderProgram(words.join(' '), all, cwd)
    const seat = { leash: this.#leash, cwd, env: all, terminal: this.id, ask }
    const walled = await this.#parts.enclose?.(['bash', '-c', line], seat)
    if (walled && 'refused' in walled) throw new Error(walled.refused.message)
    const opening: Opening = defined({
      cwd,
      id: this.id,
      env: { ...path, ...env, ...this.#spec.env, ...walled?.vars },
      withheld: this.#spec.withheld,
      title: terminal?.title ?? this.#spec.name,
      mode: terminal?.mode,
    })
    let opened: Terminal
    try {
      const host = await this.#parts.host()
      opened = await host.open(walled ? walled.argv.map(quotedWord).join(' ') : line, opening)
    } catch (error) {
      await walled?.settle()
      throw error
    }
    if (walled) this.settled = opened.exited.then(() => walled.settle()).catch(() => [])
    this.#watcher = this.#watched(opened)
  }

  #watched(terminal: Terminal): ScreenWatcher {
    return new ScreenWatcher(terminal, this.facts.reader, this.#parts.clock)
  }
}

/** Whether the program still runs: after its exit the terminal can still be found, with its last screen. */
async function isRunning(terminal: Terminal): Promise<boolean> {
  const later = new Promise<true>((resolve) => setImmediate(resolve, true))
  return Promise.race([terminal.exited.then(() => false), later])
}

type ReadyResult = { how: ProgramStart; sight: Sight } | { failure: Failure }

/**
 * Starts the program, or finds it running, and waits until it can be given a prompt; undefined when the wait was
 * stopped.
 */
export async function readyProgram(
  program: TerminalProgram,
  thread: string | undefined,
  leash: Leash,
  waiting: ReadyWait,
): Promise<ReadyResult | undefined> {
  const ask: AskedPerson = (question) => waiting.ask(question, waiting.signal)
  try {
    const first = await startOnce(program, await program.start(thread, leash, ask), waiting)
    if (!first || !('failure' in first) || !program.watcher.gone) return first
    // The supervisor noticed the exit as well, and decides whether to start another program.
    if (waiting.signal.aborted) return undefined
    // The program had exited before this turn: start it again, or resume its thread.
    if (first.how === 'there') return await startOnce(program, await program.start(thread, leash, ask), waiting)
    const lost = waiting.spec.profile?.lostThread?.(endedOf(await program.watcher.look())) === true
    if (first.how !== 'resumed' || !lost) return first
    return await startOnce(program, await program.restart(ask), waiting)
  } catch (error) {
    return {
      failure: {
        kind: 'crash',
        message: `${waiting.spec.name} could not be started in a terminal: ${messageOf(error)}`,
      },
    }
  }
}

async function startOnce(program: TerminalProgram, how: ProgramStart, waiting: ReadyWait) {
  if (how !== 'there') await waiting.state('starting')
  const seen = await untilReady(program, waiting)
  return seen && ('kind' in seen ? { how, failure: seen } : { how, sight: seen })
}

export type State = Extract<Live, { type: 'state' }>['state']

export type ReadyWait = {
  spec: ScreenSpec
  clock: Clock
  ask: Ask
  signal: AbortSignal
  /** Called at every sign of life. */
  heard(): void
  state(state: State): Promise<void>
  /** Whether the screen shows a prompt of this turn that was pasted but not entered: then the idle mark will not appear. */
  unsent?(sight: Sight): boolean
}

/** How long an unknown screen may stay unchanged before the wait fails; an empty screen is merely slow. */
const strangeMs = 20_000

/**
 * How long a program without patterns may show nothing before it counts as a program that never shows anything. The terminal changes keys
 * that arrive before a program reads it itself: an Enter would arrive as a new line.
 */
const emptyMs = 20_000

/** How long a program that just started must draw nothing to count as ready, and the most time to wait for that. */
const stillMs = 300
const mostDrawnMs = 2_000

/**
 * How long a program must draw nothing after an answer to a question at its start: some programs then restart themselves, and their old
 * screen stays meanwhile.
 */
const stillAfterAnswerMs = 1_000

/** If a program exits this soon after an answer, it exited because of the answer. */
const leaveMs = 3_000

/** Waits until the program accepts a prompt, and passes the CLI's questions on to the person; undefined if the wait was stopped. */
async function untilReady(
  program: TerminalProgram,
  { spec, clock, ask, signal, heard, state, unsent }: ReadyWait,
): Promise<Sight | Failure | undefined> {
  const { watcher, facts } = program
  const { ready, idle } = facts.reader
  const began = !program.ready
  let seen = !began || ready === undefined
  let drawnAt = -Infinity
  let answered = { text: '', at: -Infinity }
  let standsSince: number | undefined
  while (!signal.aborted) {
    const sight = await watcher.look()
    const { screen, reading, quietMs, at, stretch } = sight
    const needMs = (answered.at > -Infinity ? stillAfterAnswerMs : stillMs) * stretch
    if (sight.gone && at - answered.at < leaveMs) return declinedFailure(spec, answered.text)
    if (sight.gone) return exitFailure(spec, sight, began ? 'it was ready' : 'it could be asked')
    if (sight.drawnAt > drawnAt) heard()
    drawnAt = sight.drawnAt
    seen ||= ready?.test(screen.rows.join('\n')) ?? true
    const dialog =
      reading.state === 'asking' || reading.state === 'unknown' ? dialogOn(sight, spec.name, facts) : undefined
    if (dialog) {
      await state('asking')
      if (await askDialog(dialog, { name: spec.name, watcher, facts, clock, ask, signal }))
        answered = { text: dialog.question.text, at: clock.elapsed() }
      if (began) await state('starting')
      continue
    }
    const shows = screen.rows.some((row) => row.trim() !== '')
    const starts = began && !shows && reading.by === 'quiet' && quietMs < emptyMs
    // A program without an idle mark is ready once its ready mark has appeared.
    const stands = seen && !starts && (reading.state === 'idle' || (ready !== undefined && idle === undefined))
    if (stands) standsSince ??= at
    // Some programs draw their composer first, and the old conversation or a question only then.
    const drawing = began && quietMs < needMs && at - (standsSince ?? at) < Math.max(mostDrawnMs * stretch, needMs)
    program.ready ||= stands && !drawing
    if (program.ready && (reading.state === 'idle' || began)) return sight
    if (unsent?.(sight)) {
      if (quietMs >= stillMs) return sight
      await watcher.next(signal, needMs - quietMs)
      continue
    }
    if (stands && drawing) {
      await watcher.next(signal, stillMs - quietMs)
      continue
    }
    if (reading.state === 'unknown' && shows && quietMs >= strangeMs)
      return unknownScreenFailure(spec, sight, watcher.terminal.attach)
    await watcher.next(signal)
  }
  return undefined
}
