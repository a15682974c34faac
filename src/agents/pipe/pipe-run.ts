import type { Exit, Run } from '../../base/process/run.ts'
import type { Dialect, Step } from '../../core/profile/profile.ts'
import type { TermsAnswer, TurnTerms } from '../../core/profile/turn-terms.ts'
import type { WarmProcess } from '../warm-processes.ts'
import { AnsiStripper } from '../../base/text/ansi.ts'
import { exitsWithin } from '../../base/process/run.ts'
import type { Clock } from '../../base/time/clock.ts'
import { within } from '../../base/time/clock.ts'
import { knockMs } from '../warm-processes.ts'
import { Lines } from '../../base/text/lines.ts'

/** Receives the output of a process, without control sequences, and its exit. */
export type PipeEar = {
  /** Called with each piece of either output, before it is processed. */
  heard(): void
  out(text: string): Promise<void>
  err(text: string): Promise<void>
  /** The process has exited; its last output may still arrive. */
  exited(): void
  /** The process has exited, and all its output was processed. */
  ended(exit: Exit): void
  /** A piece of output could not be processed. */
  failed(error: unknown): void
}

/** Ignores everything. */
const deaf: PipeEar = {
  heard() {},
  async out() {},
  async err() {},
  exited() {},
  ended() {},
  failed() {},
}

/** A process that prints more than this before its first turn is stopped, since not all of its output could be stored for the turn. */
const mostBefore = 256 * 1024

/** How long a CLI may take to change the terms of its process: it may first ask its provider for the new model. */
const changeMs = 10_000

/** How long a process that is no longer needed has to exit by itself. */
const leaveMs = 300

/** A CLI behind pipes. During a turn, the turn receives its output; between two turns the process object does. */
export class PipeRun implements WarmProcess {
  readonly run: Run
  readonly gone: Promise<Exit>
  /** The dialect of the last turn, which parses the CLI's output until the next turn. */
  dialect: Dialect | undefined
  /** Whether it has taken a turn. */
  hasServed = false
  /** Output that is not a whole line yet: a line may begin in one turn and end after it. */
  readonly lines = new Lines()
  #ear: PipeEar
  #clock: Clock
  #isAlive = true
  /** The output that the process printed before its first turn, stored for that turn, and whether the turn has received it. */
  #before: { to: 'out' | 'err'; text: string }[] = []
  #held = 0
  #retold: Promise<void> | undefined
  /** The terms of its last turn, or of the turn that it was started for; left out if it serves only one turn. */
  #terms: TurnTerms | undefined
  /** Receives each line of a process that waited and is asked something before its turn. */
  #asked: ((line: string) => void) | undefined
  /** The dialect that greeted the process ahead of its first turn, and the steps that it read since, which belong to that turn. */
  greeted: { dialect: Dialect; steps: readonly Step[] } | undefined

  /** `ear` belongs to the first turn; without it the process waits for that turn. */
  constructor(run: Run, clock: Clock, { ear = deaf, terms }: { ear?: PipeEar; terms?: TurnTerms | undefined } = {}) {
    this.run = run
    this.#terms = terms
    this.gone = run.exited
    this.#ear = ear
    this.#clock = clock
    void run.exited.then(() => {
      this.#isAlive = false
      this.#ear.exited()
    })
    const all = Promise.all([
      run.exited,
      this.#listen(run.stdout, (text) => this.#tell('out', text)),
      this.#listen(run.stderr, (text) => this.#tell('err', text)),
    ])
    void all.then(
      ([exit]) => this.#ear.ended(exit),
      (error) => this.#ear.failed(error),
    )
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Begins a turn in the process. */
  hearWith(ear: PipeEar): void {
    this.#ear = ear
    const before = this.#before.splice(0)
    if (before.length > 0) this.#retold = retell(before, ear)
  }

  /**
   * Waits for the next turn. If the process acts meanwhile, it is stopped: nobody would see its actions, and no snapshot would cover
   * them.
   */
  rest(dialect: Dialect): void {
    this.hasServed = true
    this.dialect = dialect
    this.greeted = undefined
    this.#wait(async (text) => {
      for (const line of this.lines.push(text)) {
        this.#asked?.(line)
        if (acts(dialect, line)) this.#stop()
      }
    })
  }

  /**
   * Whether a process that waited can take a turn under these terms: it still answers, if its CLI has a request for that, and it has accepted
   * what differs from its last turn. Nothing of the turn was sent to it, so that another process can take the turn otherwise.
   */
  async takes(terms: TurnTerms, clock: Clock): Promise<boolean> {
    const knock = this.dialect?.knock
    if (knock) {
      const hear = (line: string) => (knock.isAnswer(line) ? 'accepted' : undefined)
      if (!(await this.#ask(knock.text, hear, clock, knockMs))) return false
    }
    return this.#change(terms, clock)
  }

  async #change(to: TurnTerms, clock: Clock): Promise<boolean> {
    const from = this.#terms
    if (!from || areSameTerms(from, to)) return from !== undefined
    const request = this.dialect?.change?.begin(from, to)
    if (!request) return false
    if (request.text !== '' && !(await this.#ask(request.text, request.hear, clock, changeMs))) return false
    this.#terms = to
    return true
  }

  /** Whether the CLI accepts a request, and all that follow from it. An unreadable line is no answer. */
  async #ask(
    text: string,
    hear: (line: string) => TermsAnswer | undefined,
    clock: Clock,
    limitMs: number,
  ): Promise<boolean> {
    const heard = Promise.withResolvers<boolean>()
    const send = (more: string) =>
      this.run.stdin.write(more, (error) => {
        if (error) heard.resolve(false)
      })
    this.#asked = (line) => {
      const answer = readable(() => hear(line))
      if (answer === undefined) return
      if (typeof answer === 'object') send(answer.send)
      else heard.resolve(answer === 'accepted')
    }
    send(text)
    const isAccepted = await within(clock, Promise.race([heard.promise, this.gone.then(() => false)]), limitMs)
    this.#asked = undefined
    return isAccepted === true
  }

  /**
   * Waits for the first turn, which receives the earlier output of the process. A dialect that can greet opens its thread meanwhile. If the
   * process acts without a turn, it is stopped.
   */
  waitForFirst(dialect: Dialect): void {
    const greeting = dialect.greet?.()
    if (greeting !== undefined) return this.#greet(dialect, greeting)
    const lines = new Lines()
    this.#wait(async (text) => {
      this.#hold('out', text)
      if ([...lines.push(text)].some((line) => acts(dialect, line))) this.#stop()
    }, this.#holdComplaint)
  }

  #greet(dialect: Dialect, greeting: string): void {
    const steps: Step[] = []
    this.greeted = { dialect, steps }
    this.run.stdin.write(greeting)
    this.#wait(async (text) => {
      for (const line of this.lines.push(text))
        for (const step of stepsOf(dialect, line)) {
          if (step.type === 'send') this.run.stdin.write(step.text)
          else if (quiet.has(step.type)) steps.push(step)
          else this.#stop()
        }
      // The thread could not be opened: the turn tries it again, and says why.
      if (dialect.over?.()) this.#stop()
    }, this.#holdComplaint)
  }

  #holdComplaint = async (text: string) => this.#hold('err', text)

  #hold(to: 'out' | 'err', text: string): void {
    this.#held += text.length
    this.#before.push({ to, text })
    if (this.#held > mostBefore) this.#stop()
  }

  #wait(out: PipeEar['out'], err: PipeEar['err'] = deaf.err): void {
    this.hearWith({ ...deaf, out, err, failed: () => this.#stop() })
  }

  /** The pool notices that the process is gone. */
  #stop(): void {
    void this.run.end()
  }

  async #tell(to: 'out' | 'err', text: string): Promise<void> {
    await this.#retold
    await this.#ear[to](text)
  }

  async end(): Promise<number[]> {
    this.run.stdin.end()
    await exitsWithin(this.run, leaveMs, this.#clock)
    return this.run.end()
  }

  async #listen(chunks: AsyncIterable<Uint8Array>, each: (text: string) => Promise<void>): Promise<void> {
    const stripper = new AnsiStripper()
    for await (const chunk of chunks) {
      this.#ear.heard()
      await each(stripper.push(chunk))
      this.#ear.heard()
    }
    await each(stripper.end())
  }
}

/** Passes the earlier output to a turn, once the turn listens. */
async function retell(before: readonly { to: 'out' | 'err'; text: string }[], ear: PipeEar): Promise<void> {
  try {
    await Promise.resolve()
    for (const { to, text } of before) await ear[to](text)
  } catch (error) {
    ear.failed(error)
  }
}

/** Steps by which a CLI says something about itself, and does nothing. */
const quiet: ReadonlySet<string> = new Set(['limit', 'thread', 'unask', 'note'])

/** Whether a line between two turns means that the CLI acts on its own. An unreadable line means nothing. */
const acts = (dialect: Dialect, line: string): boolean => stepsOf(dialect, line).some(({ type }) => !quiet.has(type))

const stepsOf = (dialect: Dialect, line: string): Step[] => readable(() => dialect.line(line)) ?? []

/** The meaning of a line; undefined if it cannot be read. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const areSameTerms = (a: TurnTerms, b: TurnTerms) => a.leash === b.leash && a.model === b.model && a.effort === b.effort
