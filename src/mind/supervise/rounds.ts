import type { Clock } from '../../base/clock.ts'
import type { TaskSource } from '../../core/work/task-source.ts'

/** How often it is asked whether the CLI waits for work itself, and how often it is told that a task is still worked at. */
const everyMs = 60_000
const progressEvery = 10

export type Round = { duty: TaskSource; clock: Clock; ticket?: string; words(): string; signal: AbortSignal }

/** What goes on beside a turn: `looped` is whether the CLI was seen to wait for work itself, `lost` why its task is not its own any more. */
export type Rounds = { looped: boolean; lost?: string }

/** Beside a turn, until the signal aborts; calls `stop` when the task is lost. */
export async function goRounds(rounds: Rounds, round: Round, stop: () => void): Promise<void> {
  await Promise.all([ticking(rounds, round, stop), losing(rounds, round, stop)])
}

async function ticking(rounds: Rounds, { duty, clock, ticket, words, signal }: Round, stop: () => void): Promise<void> {
  for (let at = 1; ; at++) {
    await clock.sleep(everyMs, signal)
    if (signal.aborted) return
    rounds.looped ||= await duty.waits()
    if (ticket === undefined || at % progressEvery !== 0 || signal.aborted) continue
    if ((await duty.progress(ticket, words(), signal)) !== 'lost') continue
    rounds.lost ??= 'it was cancelled, or somebody else has it now'
    stop()
  }
}

async function losing(rounds: Rounds, { duty, ticket, signal }: Round, stop: () => void): Promise<void> {
  if (ticket === undefined || !duty.lost) return
  const why = await duty.lost(ticket, signal)
  if (why === undefined || signal.aborted) return
  rounds.lost ??= why
  stop()
}
