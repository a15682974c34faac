import type { Component } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/time/clock.ts'
import type { CommandProgress } from '../state/chat-state.ts'
import type { RunningTurn } from '../state/running-turn.ts'
import type { Theme } from '../style/theme.ts'
import type { AgentRow } from '../transcript/block.ts'
import type { Segment } from './line-segments.ts'
import { toolWords } from '../../core/data/tool-words.ts'
import { keyOf } from '../desk/keys.ts'
import { truncateToWidth } from '@earendil-works/pi-tui'
import { againWords, elapsed } from '../style/numbers.ts'
import { isAtWork } from '../transcript/agent-rows.ts'
import { oneLine } from '../style/safe-text.ts'
import { fitSegments } from './line-segments.ts'

/** The spinner makes four steps a second while a turn runs. */
export const stepMs = 250
const frames = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇']

/** A wait that is shorter than this is not worth a line. */
const noticedMs = 300

/** After this long without an event the line says how long it has been. */
const silentMs = 5000

/** After this long the line says how a command is sent to the background. */
const longCommandMs = 5000

/** How long the command that can be sent to the background has been running, and the name of the key for that. */
type CommandState = { runsFor(): number | undefined; key(): string }

/** The agents that work or worked inside a turn, and whether their board is open. */
type InsideState = { rows(turn: string): readonly AgentRow[]; open(): boolean }

/** The slash command or the turn that runs now; no line if neither does. */
export class WorkingLine implements Component {
  #theme: Theme
  #time: Pick<Clock, 'now'>
  #running: () => readonly RunningTurn[]
  #asked: () => boolean
  #command: CommandState
  #inside: InsideState
  #progress: () => readonly CommandProgress[]

  /** `time`: the clock of the turns' start times. `asked`: whether a question waits for the person. */
  constructor(
    theme: Theme,
    time: Pick<Clock, 'now'>,
    running: () => readonly RunningTurn[],
    asked: () => boolean,
    command: CommandState,
    inside: InsideState,
    progress: () => readonly CommandProgress[] = () => [],
  ) {
    this.#theme = theme
    this.#time = time
    this.#running = running
    this.#asked = asked
    this.#command = command
    this.#inside = inside
    this.#progress = progress
  }

  invalidate(): void {}

  render(width: number): string[] {
    // Esc cancels a slash command before the turn, but while a card is open it answers that.
    const command = this.#asked() ? undefined : this.#progress().at(-1)
    if (command) return [` ${this.#commandLine(command, width - 2)}`]
    const run = this.#running().at(-1)
    return run ? [` ${this.#line(run, width - 2)}`] : []
  }

  #commandLine({ words, since }: CommandProgress, width: number): string {
    const run = this.#time.now() - since
    const spinner = this.#theme.accent(frames[Math.floor(run / stepMs) % frames.length]!)
    return fitSegments(
      [
        {
          forms: [`${spinner} ${oneLine(words, 120)}`, `${spinner} ${clipped(oneLine(words, 120), 50)}`],
          priority: 10,
        },
        { forms: [elapsed(run), ''], priority: 5 },
        { forms: [this.#theme.quiet('Esc cancels'), ''], priority: 6 },
      ],
      Math.max(0, width),
    )
  }

  #line(run: RunningTurn, width: number): string {
    const theme = this.#theme
    const now = this.#time.now()
    const silent = now - run.lastAt
    const call = run.calls.at(-1)
    const more = this.#running().length - 1
    const spinner = theme.accent(frames[Math.floor((now - run.since) / stepMs) % frames.length]!)
    const files = run.files.length
    // While a card is open, Esc answers it; while a board is open, Esc closes it.
    const way = this.#asked() || this.#inside.open() ? 'Ctrl+C cancels' : 'Esc cancels'
    const optional = (word: string, priority: number) =>
      word === '' ? [] : [{ forms: [word, ''] as [string, string], priority }]
    return fitSegments(
      [
        ...this.#who(run, spinner),
        // A countdown needs the space more than the elapsed time.
        ...(run.waiting?.until === undefined ? [{ forms: [elapsed(now - run.since)] as [string], priority: 9 }] : []),
        ...optional(this.#asked() && (run.by !== undefined || run.phase) ? theme.warn(waitsForAnswer) : '', 8),
        ...optional(call ? oneLine(toolWords(call.tool), 40) : '', 7),
        ...optional(
          silent > silentMs && !this.#asked() && run.waiting?.until === undefined
            ? theme.quiet(`last event ${elapsed(silent)} ago`)
            : '',
          5,
        ),
        ...optional(files > 0 ? theme.quiet(`${files} ${files === 1 ? 'file' : 'files'} changed`) : '', 4),
        ...optional(more > 0 ? theme.quiet(`${more} more running`) : '', 3),
        ...this.#boardHint(run),
        ...optional(this.#backgroundHint(run), 6),
        run.stopping ? { forms: [theme.warn('cancelling')], priority: 8 } : optional(theme.quiet(way), 6)[0]!,
      ],
      Math.max(0, width),
    )
  }

  /** How many agents work inside the turn, and the key that shows them. */
  #boardHint({ turn }: RunningTurn): Segment[] {
    const rows = this.#inside.rows(turn)
    if (rows.length === 0 || this.#asked() || this.#inside.open()) return []
    const { quiet } = this.#theme
    const all = `${keyOf('board')}: ${rows.length} ${rows.length === 1 ? 'agent' : 'agents'}`
    const working = rows.filter(({ state }) => state === 'working').length
    return [
      {
        forms: [quiet(`${all}, ${working} working`), quiet(all), quiet(`${keyOf('board')}: agents`), ''],
        priority: 6.5,
      },
    ]
  }

  #backgroundHint({ stopping }: RunningTurn): string {
    const { runsFor, key } = this.#command
    const isLong = (runsFor() ?? 0) >= longCommandMs
    return isLong && !stopping && !this.#asked() ? this.#theme.quiet(`${key()}: to the background`) : ''
  }

  /** The agent that works; in a framework, the framework and its phase before it. */
  #who({ turn, by, phase, command, waiting }: RunningTurn, spinner: string): Segment[] {
    const theme = this.#theme
    if (command) return [{ forms: [`${spinner} your command`], priority: 10 }]
    const name = (agent: string) => theme.speaker(agent)(oneLine(agent, 40))
    const noticed = waiting !== undefined && this.#time.now() - waiting.since >= noticedMs
    const waits = noticed ? oneLine(waiting.words, 80) : undefined
    const waitPart =
      waiting?.until === undefined ? this.#waitPart(waits) : this.#retryPart(waiting.words, waiting.until)
    const asked = [...new Set(this.#inside.rows(turn).flatMap((row) => (isAtWork(row) ? (row.by ?? []) : [])))]
    const many = asked.length > 1 ? [`${asked.length} agents`] : []
    if (!phase && by === undefined) {
      if (asked.length > 0 && waits === undefined && !this.#asked()) {
        const forms = [asked.map(name).join(', '), ...many].map((words) => `${spinner} ${words}`)
        return [{ forms: forms as [string, ...string[]], priority: 10 }]
      }
      if (waiting?.until !== undefined && !this.#asked()) return [{ forms: [spinner], priority: 10 }, ...waitPart]
      // While a question is open, the turn waits for its answer and is not starting anything.
      const words = this.#asked() ? theme.warn(waitsForAnswer) : (waits ?? 'starting')
      return [{ forms: [`${spinner} ${words}`], priority: 10 }]
    }
    if (!phase) return [{ forms: [`${spinner} ${name(by!)}`], priority: 10 }, ...waitPart]
    const speak = asked.length > 0 ? asked : by === undefined ? [] : [by]
    const words = [56, 24].map((most) => clipped(oneLine(phase.words, 200), most)) as [string, string]
    // The agents inside the turn have their own rows, so their names are shortened first.
    const priority = asked.length > 0 ? 5 : 8
    const few = speak.length > 1 ? [`${speak.length} agents`] : []
    return [
      { forms: [`${spinner} ${theme.strong(phase.framework)}`], priority: 10 },
      { forms: [...words, ''], priority: 7 },
      ...(speak.length > 0 ? [{ forms: [speak.map(name).join(', '), ...few, ''] as const, priority }] : []),
      ...waitPart,
    ]
  }

  #waitPart(words: string | undefined): Segment[] {
    return words === undefined ? [] : [{ forms: [this.#theme.quiet(words), ''], priority: 7 }]
  }

  /** Shows what went wrong and the countdown to the next attempt; on a narrow screen, only the countdown. */
  #retryPart(words: string, until: number): Segment[] {
    const again = againWords(until, this.#time.now())
    const whole = oneLine(words, 400).replace(/\.$/, '')
    const form = (why: string) => this.#theme.warn(`${why}. ${again}`)
    // The words before the colon are termaite's own, those after it the provider's.
    const short = clipped(whole.replace(/: .*/, ''), 60)
    return [{ forms: [form(clipped(whole, 120)), form(short), this.#theme.warn(again)], priority: 8 }]
  }
}

const waitsForAnswer = 'waits for your answer'

const clipped = (words: string, most: number) => truncateToWidth(words, most, '…')

/** The line ticks only while it is needed, so that an idle screen has no timer at all. */
export class Ticker {
  #clock: Clock
  #signal: AbortSignal
  #ticking = false

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  async run(everyMs: number, wanted: () => boolean, tick: () => void): Promise<void> {
    if (this.#ticking) return
    this.#ticking = true
    while (wanted() && !this.#signal.aborted) {
      await this.#clock.sleep(everyMs, this.#signal)
      tick()
    }
    this.#ticking = false
  }
}
