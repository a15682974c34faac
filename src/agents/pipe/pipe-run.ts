import type { Exit, Run } from '../../base/process/run.ts'
import type { Dialect, Step } from '../../core/profile/profile.ts'
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

/** How long a process that is no longer needed has to exit by itself. */
const leaveMs = 300

/** A CLI behind pipes. During a turn, the turn receives its output; between two turns the process object does. */
export class PipeRun implements WarmProcess {
  readonly run: Run
  readonly gone: Promise<Exit>
  /** The dialect of the last turn, which parses the CLI's output until the next turn. */
  dialect: Dialect | undefined
  /** Output that is not a whole line yet: a line may begin in one turn and end after it. */
  readonly lines = new Lines()
  #ear: PipeEar
  #clock: Clock
  #isAlive = true
  /** The output that the process printed before its first turn, stored for that turn, and whether the turn has received it. */
  #before: { to: 'out' | 'err'; text: string }[] = []
  #held = 0
  #retold: Promise<void> | undefined
  /** Called with the answer to a knock. */
  #answered: (() => void) | undefined
  /** The dialect that greeted the process ahead of its first turn, and the steps that it read since, which belong to that turn. */
  greeted: { dialect: Dialect; steps: readonly Step[] } | undefined

  /** `ear` belongs to the first turn; without it the process waits for that turn. */
  constructor(run: Run, clock: Clock, ear: PipeEar = deaf) {
    this.run = run
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
    this.dialect = dialect
    this.greeted = undefined
    this.#wait(async (text) => {
      for (const line of this.lines.push(text)) {
        if (answersKnock(dialect, line)) this.#answered?.()
        else if (acts(dialect, line)) this.#stop()
      }
    })
  }

  /**
   * Whether a process that waited still answers, if its CLI has a request for that. Nothing of the turn was sent to it then, so that another
   * process can take the turn.
   */
  async isThere(clock: Clock): Promise<boolean> {
    const knock = this.dialect?.knock
    if (!knock) return true
    const heard = Promise.withResolvers<boolean>()
    this.#answered = () => heard.resolve(true)
    this.run.stdin.write(knock.text, (error) => {
      if (error) heard.resolve(false)
    })
    return (await within(clock, Promise.race([heard.promise, this.gone.then(() => false)]), knockMs)) === true
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

/** Whether a line answers the knock of a dialect; one that cannot be read does not. */
function answersKnock({ knock }: Dialect, line: string): boolean {
  try {
    return knock?.isAnswer(line) === true
  } catch {
    return false
  }
}

/** Whether a line between two turns means that the CLI acts on its own. An unreadable line means nothing. */
const acts = (dialect: Dialect, line: string): boolean => stepsOf(dialect, line).some(({ type }) => !quiet.has(type))

function stepsOf(dialect: Dialect, line: string): Step[] {
  try {
    return dialect.line(line)
  } catch {
    return []
  }
}
