import type { Exit, Run } from '../../base/process/run.ts'
import type { Dialect } from '../../core/profile/profile.ts'
import type { WarmProcess } from '../warm-processes.ts'
import { AnsiStripper } from '../../base/text/ansi.ts'
import { exitsWithin } from '../../base/process/run.ts'
import type { Clock } from '../../base/time/clock.ts'
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

  constructor(run: Run, ear: PipeEar, clock: Clock) {
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
      this.#listen(run.stdout, (text) => this.#ear.out(text)),
      this.#listen(run.stderr, (text) => this.#ear.err(text)),
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
  }

  /**
   * Waits for the next turn. A process that acts without one is stopped: nobody would see what it does, and no snapshot would hold it.
   */
  rest(dialect: Dialect): void {
    this.dialect = dialect
    const nothing = () => {}
    const end = () => {
      // The pool notices that the process is gone.
      void this.run.end()
    }
    this.hearWith({
      heard: nothing,
      out: async (text) => {
        if ([...this.lines.push(text)].some((line) => acts(dialect, line))) end()
      },
      err: async () => {},
      exited: nothing,
      ended: nothing,
      failed: end,
    })
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

/** Steps by which a CLI says something about itself, and does nothing. */
const quiet: ReadonlySet<string> = new Set(['limit', 'thread', 'unask', 'note'])

/** Whether a line that came between two turns means that the CLI acts by itself. A line that cannot be read means nothing. */
function acts(dialect: Dialect, line: string): boolean {
  try {
    return dialect.line(line).some(({ type }) => !quiet.has(type))
  } catch {
    return false
  }
}
