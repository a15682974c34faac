import type { Clock } from '../../base/time/clock.ts'
import type { Run } from '../../base/process/run.ts'
import type { Dialect, Ended, Profile } from '../../core/profile/profile.ts'
import type { TurnTerms } from '../../core/profile/turn-terms.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { ForeseenTurn, Turn } from '../../core/work/agent.ts'
import type { PipeSpec } from './pipe-command.ts'
import type { PictureText, Speech } from './speech.ts'
import type { TurnWatch } from '../turn-watch.ts'
import type { Enclose } from '../enclosure.ts'
import type { WarmProcesses, WarmTerms, WarmThread } from '../warm-processes.ts'
import { existsSync } from 'node:fs'
import { messageOf } from '../../base/error-message.ts'
import { exitsWithin, start as startRun } from '../../base/process/run.ts'
import { missingProgram, processFailure, closingLine } from '../process-failure.ts'
import { askedPerson, enclosed } from '../enclosure.ts'
import { PipeRun } from './pipe-run.ts'
import { TurnEar } from './turn-ear.ts'
import { failed } from '../../core/talk/outcome.ts'

type PipeJob = {
  spec: PipeSpec
  turn: Turn
  argv: [string, ...string[]]
  env: Record<string, string | undefined>
  enclose?: Enclose
  prompt: PictureText
  watch: TurnWatch
  /** How the process of the agent's last turn can serve this one; left out if each turn has its own process. */
  warm?: WarmSeat
  /** `stays`: the process is not closed after its last message. */
  speech(process: PipeRun, ear: TurnEar, stays: boolean): Speech
  alive(speech: Speech, since: number): Promise<boolean>
}

/** The pool that a turn borrows its process from, and the terms for that. */
export type WarmSeat = {
  pool: WarmProcesses
  /** Everything about the command that is fixed when its process starts, and everything that a process can change for a turn. */
  fixed: string
  terms: TurnTerms
  thread: WarmThread | undefined
  /** The thread that the turn has left open in its process; undefined if unknown. */
  opened(): WarmThread | undefined
}

/**
 * `left` are the pids that could not be killed, `settled` describes things that were removed because the process may not leave them
 * behind.
 */
export type PipeResult = { outcome: Outcome; ended?: Ended; left: number[]; settled: string[] }

/**
 * Runs the command for one turn: until it ends or is stopped. Whatever happens, its processes end with the call, except one that gave an
 * answer and stays for the next turn.
 */
export async function runCommand(job: PipeJob): Promise<PipeResult> {
  const { spec, turn, argv, env } = job
  const { leash, cwd } = turn
  const command = await enclosed(job.enclose, argv, { leash, cwd, env, ...askedPerson(turn) })
  if ('refused' in command) return { outcome: { ok: false, failure: command.refused }, left: [], settled: [] }
  const { fixed } = command
  const seat = fixed !== undefined && job.warm?.pool.open ? job.warm : undefined
  const wanted = seat && warmTerms(seat, fixed!)
  const waiting = wanted && (await seat.pool.borrow(spec.name, wanted, PipeRun))
  const isFit = waiting && (await waiting.takes(seat.terms, turn.clock))
  if (waiting && !isFit) await waiting.end()
  const start = () => startRun({ argv: command.argv, cwd, env: command.env, clock: turn.clock })
  const once = (from: PipeRun | typeof start) => takeTurn(job, from, seat && { ...seat, ...wanted })
  // If a process was gone before it received the whole prompt, it has not acted on it.
  const done = (isFit && (await once(waiting))) || (await once(start))!
  return { ...done, settled: await command.settle() }
}

/** The terms on which the pool gives a process to a turn. */
const warmTerms = ({ fixed, thread, terms }: Omit<WarmSeat, 'opened'>, enclosure: string): WarmTerms => ({
  fixed: `${fixed}\n${enclosure}`,
  thread,
  first: JSON.stringify(terms),
})

/** A command that is started before its turn, and the dialect that parses its output until then. */
type ForeseenJob = Pick<PipeJob, 'spec' | 'argv' | 'env' | 'enclose'> & {
  turn: ForeseenTurn
  warm: Omit<WarmSeat, 'opened'>
  dialect: Dialect
}

/** Starts the command of a turn before its prompt, under the terms of the turn. It waits in the pool, and nothing is sent to it. */
export async function prepareCommand({ spec, turn, argv, env, enclose, warm, dialect }: ForeseenJob): Promise<void> {
  const { leash, cwd, clock } = turn
  const command = await enclosed(enclose, argv, { leash, cwd, env, foreseen: true })
  if ('refused' in command) return
  const { fixed } = command
  try {
    if (fixed === undefined) return
    await warm.pool.prepare(spec.name, warmTerms(warm, fixed), async () => {
      const run = await startRun({ argv: command.argv, cwd, env: command.env, clock })
      const process = new PipeRun(run, clock, { terms: warm.terms })
      process.waitForFirst(dialect)
      return process
    })
  } finally {
    await command.settle()
  }
}

/**
 * Runs the turn in the process that waited for it, or in a new one. Undefined if the waiting process was gone before it received the
 * prompt.
 */
async function takeTurn(
  job: PipeJob,
  from: PipeRun | (() => Promise<Run>),
  seat: WarmSeat | undefined,
): Promise<Omit<PipeResult, 'settled'> | undefined> {
  const { spec, turn, watch } = job
  const stays = seat !== undefined
  const ear = new TurnEar({ clock: turn.clock, watch, profile: spec.profile, stays, waited: from instanceof PipeRun })
  const { over } = ear
  let process: PipeRun
  try {
    if (from instanceof PipeRun) (process = from).hearWith(ear)
    else process = new PipeRun(await from(), turn.clock, { ear, terms: seat?.terms })
  } catch (error) {
    return { outcome: { ok: false, failure: startFailure(job, error as NodeJS.ErrnoException) }, left: [] }
  }
  const { run } = process
  let cause: Failure | undefined
  let speech: Speech | undefined
  const stop = (failure: Failure) => {
    // The first cause wins: an error that follows from the stop did not cause it.
    if (over.signal.aborted) return
    cause = failure
    const told = speech?.stop() ?? false
    over.abort()
    // The turn waits for the end of the run.
    void (told ? endAfterGrace(run, turn.clock) : run.end())
  }
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  turn.signal.addEventListener('abort', cancel, { once: true })
  if (turn.signal.aborted) cancel()
  let outcome: Outcome | undefined
  let ended: Ended | undefined
  try {
    const spoken = (speech = job.speech(process, ear, stays))
    watch.begin(over.signal, (since) => job.alive(spoken, since), stop)
    const heard = await ear.listen(process, spoken, job.prompt, stop)
    if (heard !== 'unsent') ended = heard
    if (cause) outcome = { ok: false, failure: cause }
    else if (ended) outcome = pipeOutcome(spec.name, await spoken.finish(ended), spoken.typed, ended, spec.profile)
  } catch (error) {
    const message = `the output of ${spec.name} could not be read to its end: ${messageOf(error)}`
    outcome = { ok: false, failure: cause ?? { kind: 'crash', message } }
  }
  over.abort()
  turn.signal.removeEventListener('abort', cancel)
  const isKept =
    seat !== undefined && ended?.lives === true && outcome?.ok === true && keep(process, speech, seat, spec)
  const left = isKept ? [] : await (ended?.lives ? process.end() : run.end())
  if (!outcome?.ok) await speech?.drop().catch(() => {})
  return outcome && { outcome, ended, left }
}

/** Stores a process for the next turn, if it is known which thread is open in it. */
function keep(process: PipeRun, speech: Speech | undefined, { pool, fixed, opened }: WarmSeat, { name }: PipeSpec) {
  const [dialect, thread] = [speech?.lasting(), opened()]
  if (!dialect || !thread) return false
  process.rest(dialect)
  pool.keep(name, process, { fixed, thread })
  return true
}

/** Judges a run that was not stopped: by its own report, then by its exit code and its last output. */
export function pipeOutcome(
  name: string,
  account: Outcome | undefined,
  typed: boolean,
  ended: Ended,
  profile: Profile | undefined,
): Outcome {
  const answered = account?.ok && account.text !== ''
  if (typed && answered) return account
  if (account && !account.ok && account.failure.kind !== 'crash') return account
  const failure = processFailure(name, ended, profile)
  // A message in the dialect explains a crash better than an exit code.
  if (failure && !(failure.kind === 'crash' && account && !account.ok)) return { ok: false, failure }
  if (account && !account.ok) return account
  if (answered) return account
  if (account?.ok && account.denials?.length)
    return failed('denied', `${name} was not allowed: ${account.denials.join(', ')}`)
  const words = closingLine(ended.err)
  return failed('crash', `${name} gave an empty answer${words ? ` (its last words: ${words})` : ''}`)
}

/** How long a CLI has to save its thread after we ask it to stop. */
const stopMs = 2_000

async function endAfterGrace(run: Run, clock: Clock): Promise<void> {
  await exitsWithin(run, stopMs, clock)
  await run.end()
}

export function startFailure(
  { spec, turn, argv }: Pick<PipeJob, 'spec' | 'turn' | 'argv'>,
  error: NodeJS.ErrnoException,
): Failure {
  if (!existsSync(turn.cwd))
    return { kind: 'crash', message: `${spec.name} could not be run: there is no folder ${turn.cwd}` }
  if (error.code === 'ENOENT' || error.code === 'EACCES')
    return missingProgram(
      spec.name,
      error.code === 'ENOENT' ? `${argv[0]} was not found` : `${argv[0]} is not executable`,
      spec.profile,
    )
  return { kind: 'crash', message: `${spec.name} could not be started: ${error.message}` }
}
