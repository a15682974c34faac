import type { Exit, Run } from '../../base/process/run.ts'
import type { Dialect } from '../../core/profile/profile.ts'
import type { WarmProcess } from '../warm-processes.ts'
import { AnsiStripper } from '../../base/text/ansi.ts'
import { exitsWithin } from '../../base/process/run.ts'
import type { Clock } from '../../base/time/clock.ts'
import { within } from '../../base/time/clock.ts'
import { knockMs } from '../warm-processes.ts'
import { Lines } from '../../base/text/lines.ts'

/** Hears what a process prints, without control sequences, and how it ends. */
export type PipeEar = {
  /** Called with each piece of either output, before it is taken. */
  heard(): void
  out(text: string): Promise<void>
  err(text: string): Promise<void>
  /** The process has exited; its last output may still come. */
  exited(): void
  /** The process has exited, and everything that it printed was taken. */
  ended(exit: Exit): void
  /** A piece of output could not be taken. */
  failed(error: unknown): void
}

/** Hears nothing. */
const deaf: PipeEar = {
  heard() {},
  async out() {},
  async err() {},
  exited() {},
  ended() {},
  failed() {},
}

/** A process that prints more before its first turn is stopped: its words could not all be kept for the turn. */
const mostBefore = 256 * 1024

/** How long a process that is not needed any more may take to exit by itself. */
const leaveMs = 300

/** A CLI behind pipes. A turn hears it; between two turns the process itself does. */
export class PipeRun implements WarmProcess {
  readonly run: Run
  readonly gone: Promise<Exit>
  /** The dialect of the last turn, which reads what the CLI prints until the next turn. */
  dialect: Dialect | undefined
  /** The output that is not a whole line yet: a line may begin in one turn and end after it. */
  readonly lines = new Lines()
  #ear: PipeEar
  #clock: Clock
  #isAlive = true
  /** The words that the process printed before its first turn, for that turn; and whether the turn has heard them. */
  #before: { to: 'out' | 'err'; text: string }[] = []
  #retold: Promise<void> | undefined
  /** Called with the answer to a knock. */
  #answered: (() => void) | undefined

  /** `ear` hears the first turn; without it the process waits for that turn. */
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
   * Waits for the next turn. A process that acts without one is stopped: nobody would see what it does, and no snapshot would hold it.
   */
  rest(dialect: Dialect): void {
    this.dialect = dialect
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

  /** Waits for the first turn, which hears what the process printed before it. A process that acts without a turn is stopped. */
  waitForFirst(dialect: Dialect): void {
    const lines = new Lines()
    let bytes = 0
    const hold = async (to: 'out' | 'err', text: string) => {
      bytes += text.length
      this.#before.push({ to, text })
      if (bytes > mostBefore) this.#stop()
    }
    this.#wait(
      async (text) => {
        await hold('out', text)
        if ([...lines.push(text)].some((line) => acts(dialect, line))) this.#stop()
      },
      (text) => hold('err', text),
    )
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

/** Lets a turn hear what came before it, once the turn listens. */
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

/** Whether a line that came between two turns means that the CLI acts by itself. A line that cannot be read means nothing. */
function acts(dialect: Dialect, line: string): boolean {
  try {
    return dialect.line(line).some(({ type }) => !quiet.has(type))
  } catch {
    return false
  }
}
