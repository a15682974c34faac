import type { Clock } from '../base/time/clock.ts'
import type { EntryOf, Event } from '../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome } from '../core/talk/outcome.ts'
import type { Question } from '../core/talk/question.ts'
import type { FileStat } from '../safety/snapshots/snapshots.ts'
import type { ChangedFiles, Closing } from '../chat/desk/chat-desk.ts'
import type { AppRecords } from '../turn/app.ts'
import { SteadyTime, within } from '../base/time/clock.ts'
import { whyChosen } from '../turn/rotation/agent-order.ts'
import { SpentInView } from './desk-status.ts'

/** The course of one turn as the desk saw it. */
export class TurnSummary {
  turn = ''
  by: string | undefined
  outcome: Outcome | undefined
  /** The agent that failed before, and why. */
  after: { name: string; kind: FailureKind } | undefined
  /** The last agent that crashed in the turn, and its message. */
  crashed: { name: string; message: string } | undefined
  /** The questions that the turn ended with. */
  asks: readonly Question[] = []
  /** The agent whose quota the user chose to wait for. */
  waits: string | undefined
  /** The thinking framework of the turn, if one was used. */
  thought: Closing['thought']
  /** Whether several agents raced: then none of them was next in line. */
  raced = false
  readonly spent = new SpentInView()
  #time: SteadyTime
  #began: number
  #over: number | undefined
  #quota = new Map<string, string>()

  constructor(clock: Clock) {
    this.#time = new SteadyTime(clock)
    this.#began = this.#time.now()
  }

  see(event: Event): void {
    this.spent.see(event)
    if (event.type === 'prompt' && 'turn' in event && this.turn === '') this.#begin(event as EntryOf<'prompt'>)
    // Words that termaite adds to an agent's answer, such as the list of its workers, are not the work of another agent.
    if (event.type === 'reply') this.by = event.by === 'termaite' ? (this.by ?? event.by) : (event.by ?? this.by)
    if (event.type === 'race') this.raced = true
    if (event.type === 'verdict' && event.framework !== 'direct') this.#judge(event)
    if (event.type === 'attempt') this.#fail(event.by ?? '', event.failure)
    if (event.type === 'question' && event.question.about === 'quota' && event.question.agent !== undefined)
      this.#quota.set(event.ask, event.question.agent)
    if (event.type === 'answer' && event.picks?.includes('wait')) this.waits = this.#quota.get(event.ask)
    if (event.type === 'result') this.asks = (event.data as { asks?: Question[] } | undefined)?.asks ?? this.asks
    if (event.type !== 'end') return
    this.outcome = event.outcome
    this.#over = 'at' in event ? this.#time.of(Number(event.at)) : this.#time.now()
  }

  /**
   * The duration is measured by the entries' times, so that a screen that joined late shows the same; a change of the clock has no
   * effect.
   */
  get ms(): number {
    return Math.max(0, (this.#over ?? this.#time.now()) - this.#began)
  }

  /** The agent that acted signs the verdict. A report that termaite adds later is not an agent's work. */
  #judge({ framework, calls, by }: Extract<Event, { type: 'verdict' }>): void {
    this.thought = { framework, calls }
    this.by = by === 'termaite' ? undefined : by
  }

  #fail(name: string, { kind, message }: Failure): void {
    this.after = { name, kind }
    if (kind === 'crash') this.crashed = { name, message }
  }

  #begin({ turn, at }: EntryOf<'prompt'>): void {
    this.turn = turn
    this.#began = this.#time.of(at)
  }
}

/** How long the summary of a turn waits for the number of changed lines. */
const statMs = 3_000

/** The numbers of a turn's changes; undefined if it changed nothing. */
function changedIn(stat: readonly FileStat[]): ChangedFiles | undefined {
  const sum = (pick: 'added' | 'removed') => stat.reduce((total, file) => total + file[pick], 0)
  return stat.length > 0 ? { files: stat.length, added: sum('added'), removed: sum('removed') } : undefined
}

/** Counts the changes of earlier turns, one after the other. Only a turn whose snapshots differ costs a process. */
export async function* changesOf(
  { snapshots, ephemeral }: AppRecords,
  turns: readonly string[],
): AsyncGenerator<{ turn: string; changed: ChangedFiles }> {
  const records = ephemeral ? [] : await snapshots.list().catch(() => [])
  const kept = new Map(records.map((record) => [record.turn, record]))
  for (const turn of turns) {
    const { before, after, cutOff } = kept.get(turn) ?? {}
    if (after === undefined || after === before || cutOff) continue
    const changed = changedIn(await snapshots.stat(turn).catch(() => []))
    if (changed) yield { turn, changed }
  }
}

export async function closingOf(app: AppRecords, seen: TurnSummary, aimed: string | undefined): Promise<Closing> {
  const { ms, spent } = seen
  const counting = app.ephemeral ? Promise.resolve([]) : app.snapshots.stat(seen.turn).catch(() => [])
  const stat = (await within(app.io.clock, counting, statMs)) ?? []
  const changed = changedIn(stat)
  const { by, after } = seen
  const how = {
    aimed: aimed !== undefined && aimed === by,
    ...(by === undefined ? {} : { by }),
    ...(after ? { after } : {}),
  }
  const why = by === undefined || seen.raced ? undefined : whyChosen(app.settings.rotationStrategy, how)
  return {
    turn: seen.turn,
    ...(by === undefined ? {} : { by }),
    ...(why === undefined ? {} : { why }),
    ms,
    ...(seen.thought ? { thought: seen.thought } : {}),
    ...(changed ? { changed } : {}),
    ...(spent.total ? { tokens: spent.total.used, source: spent.total.source } : {}),
  }
}
