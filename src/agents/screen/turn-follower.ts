import type { Clock } from '../../base/time/clock.ts'
import type { Journalled } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { ScreenAnswer, PastedPrompt } from './screen-answer.ts'
import type { Sight, TurnMarks } from './screen-watcher.ts'
import type { State, TerminalProgram } from './screen-program.ts'
import type { ScreenSpec } from './screen-spec.ts'
import type { Emit } from '../seat.ts'
import {
  answerText,
  fencedIn,
  journalAnswer,
  oddAnswer,
  rowsSince,
  screenAnswer,
  signOn,
  withoutSign,
} from './screen-answer.ts'
import { awaitsPrompt, enterStranded } from './prompt-delivery.ts'
import { askDialog, dialogOn } from './screen-dialogs.ts'
import { faultFailure, exitFailure } from './screen-failure.ts'

type FollowParts = {
  spec: ScreenSpec
  program: TerminalProgram
  clock: Clock
  asked: PastedPrompt
  nonce: string
  marks: TurnMarks
  emit: Emit
  ask: Ask
  signal: AbortSignal
  heard(): void
  state(state: State): Promise<void>
  /** Reads the turn's part of the CLI's own journal. */
  journal(): Promise<Journalled | undefined>
}

/**
 * How long the screen of a program that waits for its next prompt must stay unchanged, on a machine that is not busy: if its busy mark
 * was seen, if it was not, and if the prompt has been visible all the time and therefore proves little.
 */
const settleMs = { seenBusy: 300, neverBusy: 600, neverLeft: 2_000 }

/**
 * How long the screen of a program that did not close the requested fence must stay unchanged, without a child process: at its idle
 * pattern, or if it has no such pattern, at the sign behind which the prompt was typed. Silence alone never ends such a turn: `silenceMs`
 * and `timeoutMs` do.
 */
const fenceMs = { pattern: 10_000, sign: 120_000 }

/** How long a journal may lag behind the screen, and how long an idle screen may show no answer. */
const journalMs = 1_500
const emptyMs = 10_000

/** How often the journal of a busy CLI is read. */
const journalEveryMs = 1_000

/** How often a prompt that was left in the composer is entered. */
const mostEnters = 2

/** How soon a screen that has just changed is read again, in ms. */
const restlessMs = 100

/** Follows a turn in a terminal to its end. */
export class TurnFollower {
  #parts: FollowParts
  #reporter: ScreenReporter
  #text = ''
  #stillSince = -Infinity
  /** The rows at the last look, and since when they have been on the screen. */
  #rows = ''
  #rowsSince = -Infinity
  #doneSince: number | undefined
  #seenBusy = false
  /**
   * Whether the program's prompt was ever out of sight since ours was sent, and whether it was so at the last look. One look is not
   * enough: it may catch the screen while it is being redrawn and only the prompt is missing.
   */
  #promptLeft = false
  #promptAway = false
  #state: Sight['reading']['state'] = 'busy'
  #drawnAt = -Infinity
  #lookedAt = -Infinity
  /** When the journal last changed. */
  #journalAt = -Infinity
  #journal: Journalled | undefined
  #enters = 0

  constructor(following: FollowParts) {
    this.#parts = following
    this.#reporter = new ScreenReporter(following.emit)
  }

  get journal(): Journalled | undefined {
    return this.#journal
  }

  /** Resolves with the answer or the failure; undefined if the signal aborted. */
  async end(): Promise<ScreenAnswer | Failure | undefined> {
    const { spec, program, clock, ask, signal, state, marks } = this.#parts
    const { watcher, facts } = program
    while (!signal.aborted) {
      const sight = await watcher.look(marks)
      await this.#notice(sight)
      const { reading } = sight
      if (!sight.gone && (reading.state === 'asking' || reading.state === 'unknown')) {
        const dialog = dialogOn(sight, spec.name, facts)
        if (dialog) {
          await state('asking')
          await askDialog(dialog, { name: spec.name, watcher, facts, clock, ask, signal })
          // The turn continues, even if the program seems to be finished.
          if (!signal.aborted && !watcher.gone) await state('busy')
          continue
        }
      }
      const end = await this.#ended(sight)
      if (end) {
        await this.#reporter.tell(this.#text, true)
        return end
      }
      if (this.#mayBeStranded && (await enterStranded(sight, this.#parts.asked, { watcher, facts }))) this.#enters++
      await watcher.next(signal, this.#wakeMs(sight))
    }
    return undefined
  }

  /** Whether there is no sign that the program has accepted the prompt. */
  get #mayBeStranded(): boolean {
    return !this.#seenBusy && this.#journal === undefined && this.#enters < mostEnters
  }

  /** Emits the new text on the screen, and records since when the text has not changed. */
  async #notice({ screen, reading, drawnAt, at, gone }: Sight): Promise<void> {
    const { asked, nonce, program, heard, state } = this.#parts
    const { reader } = program.facts
    const since = rowsSince(withoutSign(screen.rows, screen, asked, reader), asked, reader)
    const text = answerText(since.rows, screen.cols, nonce, program.facts)
    if (text !== this.#text) this.#stillSince = at
    this.#text = text
    const rows = screen.rows.join('\n')
    if (rows !== this.#rows) this.#rowsSince = at
    this.#rows = rows
    this.#seenBusy ||= reading.state === 'busy' && reading.by === 'pattern'
    if (!gone) this.#state = reading.state
    if (drawnAt > this.#drawnAt) heard()
    this.#drawnAt = drawnAt
    if (reading.state === 'busy') await state('busy')
    // A dialog is emitted as a question.
    if (reading.state !== 'asking') await this.#reporter.tell(text)
  }

  async #ended(sight: Sight): Promise<ScreenAnswer | Failure | undefined> {
    const { spec, asked, nonce, program } = this.#parts
    const { at, now, reading, gone, stretch } = sight
    const awaits = awaitsPrompt(sight.screen, asked.text, program.facts)
    this.#promptLeft ||= (!awaits && this.#promptAway) || (reading.state !== 'idle' && reading.by === 'pattern')
    this.#promptAway = !awaits
    const waits = awaits && (!spec.fence || reading.by !== 'quiet' || signOn(sight.screen, asked) !== undefined)
    const resting = reading.state === 'idle' && (reading.by === 'fence' || waits)
    const journal = await this.#look(at, resting || gone !== undefined)
    if (journal?.failure && journal.over) return journal.failure
    if (journal?.fault !== undefined && journal.over) return faultFailure(spec, journal.fault, now)
    const written = journal && journalAnswer(journal, nonce)
    if (journal?.over && written) return written
    if (gone) return this.#left(sight, written)
    if (!resting) {
      this.#doneSince = undefined
      return this.#writtenAlone(sight, written)
    }
    const marked =
      reading.by === 'fence' || (journal?.answer !== undefined && fencedIn(journal.answer, nonce) !== undefined)
    if (!marked && this.#stillMs(sight) < this.#settleMs(sight)) return undefined
    this.#doneSince ??= at
    // The journal is complete but the screen may not be, so the turn waits until the CLI has written its journal.
    const since = journal ? Math.max(this.#doneSince, this.#journalAt) : this.#doneSince
    if (program.facts.journal && at - since < this.#writeMs(journal, written) * stretch) return undefined
    if (written) return written
    if (reading.by !== 'fence') {
      // The screen of a resumed thread may show an old error; a journal covers this turn alone.
      const words = journal ? journal.fault : this.#fault(sight)
      if (words !== undefined) return faultFailure(spec, words, now)
    }
    const answer = await this.#shown(sight, reading.by)
    if (answer.text !== '') return answer
    const odd = program.facts.reader.busy ? '' : oddAnswer(sight.screen, asked, nonce, program.facts)
    const isLate = at - this.#doneSince >= emptyMs * stretch
    // A program without patterns may print nothing at all, as a shell after `cd`: then its prompt is back, or the time is over.
    if (reading.by !== 'pattern')
      return isLate || signOn(sight.screen, asked) !== undefined ? { ...answer, text: odd } : undefined
    if (odd !== '' && (this.#promptLeft || isLate)) return { ...answer, text: odd }
    return isLate
      ? {
          kind: 'crash',
          message: `${spec.name} gave an empty answer: its screen shows its input again, but no text before it`,
        }
      : undefined
  }

  /** An answer in the journal that has not grown for a long time: it counts even though the screen does not look idle. */
  #writtenAlone({ at, reading, stretch }: Sight, written: ScreenAnswer | undefined): ScreenAnswer | undefined {
    const works = reading.state === 'busy' || reading.state === 'asking'
    return !works && written && at - this.#journalAt >= emptyMs * stretch ? written : undefined
  }

  /** The end of a turn whose program has exited: its answer if there is one, otherwise a failure. */
  async #left(sight: Sight, written: ScreenAnswer | undefined): Promise<ScreenAnswer | Failure> {
    const { spec } = this.#parts
    if (written) return written
    const answer = await this.#shown(sight, 'exit')
    const well = sight.gone?.code === 0 && !spec.fence && !this.#atWork && answer.text !== ''
    return answer.fenced || well ? answer : exitFailure(spec, sight, 'it had answered')
  }

  #shown({ screen }: Sight, by: string): Promise<ScreenAnswer> {
    const { asked, nonce, program } = this.#parts
    return screenAnswer(program.watcher, screen, asked, nonce, program.facts, by)
  }

  get #atWork(): boolean {
    return this.#seenBusy && this.#state === 'busy'
  }

  #fault({ screen }: Sight): string | undefined {
    const { asked, program } = this.#parts
    const { fault, reader } = program.facts
    if (!fault) return undefined
    const text = rowsSince(screen.rows, asked, reader).rows.join('\n')
    const words = [...text.matchAll(new RegExp(fault, `${fault.flags.replace('g', '')}g`))].at(-1)?.[1]
    return words?.replaceAll(/\s+/g, ' ')
  }

  async #look(at: number, soon: boolean): Promise<Journalled | undefined> {
    if (!soon && at - this.#lookedAt < journalEveryMs) return this.#journal
    this.#lookedAt = at
    const journal = await this.#parts.journal()
    if (journal !== this.#journal) this.#journalAt = at
    this.#parts.program.journals ||= journal !== undefined
    return (this.#journal = journal)
  }

  /** How long to wait for a journal; a prompt that is in no journal yet may be queued by a CLI that is still starting. */
  #writeMs(journal: Journalled | undefined, written: ScreenAnswer | undefined): number {
    if (written) return settleMs.seenBusy
    if (journal?.over || journal?.fault !== undefined) return journalMs
    // A journal that does not show the end of the turn yet lags behind the screen, by seconds on a busy machine. A CLI that has accepted
    // a prompt but shows no work yet may be busy drawing it.
    if (journal) return this.#seenBusy ? emptyMs : this.#longestSilenceMs
    // A CLI that wrote about an earlier turn will write about this one too, but may be seconds late on a busy machine.
    return this.#seenBusy && !this.#parts.program.journals ? journalMs : emptyMs
  }

  /** How long to wait for a silent screen, so that the turn ends before `silenceMs` would fail it. */
  get #longestSilenceMs(): number {
    return Math.min(fenceMs.sign, this.#parts.spec.silenceMs / 2)
  }

  /**
   * How long neither the text has changed nor a child process of the turn has exited. While a fence is expected, any change on the screen
   * counts as work, such as a spinner beside the prompt.
   */
  #stillMs({ at, childGoneAt }: Sight): number {
    return at - Math.max(this.#parts.spec.fence ? this.#rowsSince : this.#stillSince, childGoneAt)
  }

  /** How long a screen that shows the program at rest must stay unchanged before the turn is over. */
  #settleMs({ reading: { by }, stretch }: Sight): number {
    const { spec, program } = this.#parts
    const silent = by === 'quiet'
    // A fence was requested but has not appeared.
    if (spec.fence) return silent ? this.#longestSilenceMs : fenceMs.pattern
    // The reading of the screen has already waited for quiet.
    if (silent) return 0
    const { busy, idle } = program.facts.reader
    const says = busy !== undefined || idle === undefined || this.#promptLeft
    return (this.#seenBusy ? settleMs.seenBusy : says ? settleMs.neverBusy : settleMs.neverLeft) * stretch
  }

  /** How soon an unchanged screen would get a new meaning, in ms; undefined if time alone changes nothing. */
  #wakeMs(sight: Sight): number | undefined {
    if (this.#reporter.restless || (this.#promptAway && !this.#promptLeft)) return restlessMs
    if (sight.reading.state !== 'idle') return undefined
    if (this.#doneSince !== undefined) return restlessMs
    const left = this.#settleMs(sight) - this.#stillMs(sight)
    return left > 0 ? left : undefined
  }
}

/** How much of a turn is emitted while it runs; all of it is on the screen. */
const mostShown = 256 * 1024

/** How many lines are remembered, to recognise the new lines of a redrawn screen. */
const remembered = 500

/** Emits the new text of a screen: each line once, as soon as it is whole or no longer changes. */
export class ScreenReporter {
  #emit: Emit
  /** The lines that were emitted last, and the lines at the last look. */
  #lines: string[] = []
  #shownLines: readonly string[] = []
  #open = ''
  #seen = ''
  #shown = 0
  #restless = false

  constructor(emit: Emit) {
    this.#emit = emit
  }

  /** Whether some text will be emitted once it stops changing. */
  get restless(): boolean {
    return this.#restless
  }

  /** Handles the current text after the prompt; `over` if no more will follow. */
  async tell(text: string, over = false): Promise<void> {
    const still = over || text === this.#seen
    this.#seen = text
    this.#restless = !still
    if (text === '' || this.#shown >= mostShown) return
    const lines = text.split('\n')
    const last = lines.pop()!
    let delta = ''
    for (const line of fresh(lines, this.#shownLines, this.#lines)) delta += this.#line(line)
    this.#shownLines = lines
    if (still) delta += this.#grow(last)
    this.#shown += delta.length
    if (delta !== '') await this.#emit({ type: 'text', delta })
  }

  /** A whole line, without the part that was emitted before it was whole. */
  #line(line: string): string {
    const delta = line.startsWith(this.#open) ? line.slice(this.#open.length) : `\n${line}`
    this.#open = ''
    this.#lines = [...this.#lines, line].slice(-remembered)
    return `${delta}\n`
  }

  #grow(last: string): string {
    if (last === this.#open) return ''
    const delta = last.startsWith(this.#open) ? last.slice(this.#open.length) : `\n${last}`
    this.#open = last
    return delta
  }
}

/** The lines after those of the last look; if none of these is found, all lines that were never emitted. */
function fresh(lines: readonly string[], shown: readonly string[], told: readonly string[]): readonly string[] {
  for (let known = Math.min(lines.length, shown.length); known > 0; known--)
    if (shown.slice(-known).every((line, i) => line === lines[i])) return lines.slice(known)
  const before = new Set(told)
  return lines.filter((line) => !before.has(line))
}
