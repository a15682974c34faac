import type { Clock } from '../../base/time/clock.ts'
import type { Run } from '../../base/process/run.ts'
import type { Ended, Profile } from '../../core/profile/profile.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { PipeSpec } from './pipe-command.ts'
import type { PictureText, Speech } from './speech.ts'
import type { TurnWatch } from '../turn-watch.ts'
import type { Enclose } from '../enclosure.ts'
import { existsSync } from 'node:fs'
import { messageOf } from '../../base/error-message.ts'
import { AnsiStripper } from '../../base/text/ansi.ts'
import { exitsWithin, start } from '../../base/process/run.ts'
import { missingProgram, processFailure, Tail, closingLine } from '../process-failure.ts'
import { askedPerson, enclosed } from '../enclosure.ts'
import { Lines } from '../../base/text/lines.ts'
import { failed } from '../../core/talk/outcome.ts'

/** A longer line of stderr cannot be a message about a retry. */
const longestComplaint = 64 * 1024

type PipeJob = {
  spec: PipeSpec
  turn: Turn
  argv: [string, ...string[]]
  env: Record<string, string | undefined>
  enclose?: Enclose
  prompt: PictureText
  watch: TurnWatch
  speech(run: Run, withdrawn: AbortSignal): Speech
  alive(speech: Speech, since: number): Promise<boolean>
}

/** `left` holds the pids that would not die, `settled` what was removed because the process may not leave it behind. */
export type PipeResult = { outcome: Outcome; ended?: Ended; left: number[]; settled: string[] }

/** Runs the command to its end, or until it is stopped. None of its processes survives the call, whatever happened. */
export async function runCommand(job: PipeJob): Promise<PipeResult> {
  const { spec, turn, argv, env } = job
  const { leash, cwd } = turn
  const command = await enclosed(job.enclose, argv, { leash, cwd, env, ...askedPerson(turn) })
  if ('refused' in command) return { outcome: { ok: false, failure: command.refused }, left: [], settled: [] }
  let run: Run
  try {
    run = await start({ argv: command.argv, cwd: turn.cwd, env: command.env, clock: turn.clock })
  } catch (error) {
    const settled = await command.settle()
    return { outcome: { ok: false, failure: startFailure(job, error as NodeJS.ErrnoException) }, left: [], settled }
  }
  const over = new AbortController()
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
  let outcome: Outcome
  let ended: Ended | undefined
  try {
    const spoken = (speech = job.speech(run, over.signal))
    job.watch.begin(over.signal, (since) => job.alive(spoken, since), stop)
    ended = await listenToEnd(job, run, spoken, over, stop)
    outcome = cause
      ? { ok: false, failure: cause }
      : pipeOutcome(spec.name, await spoken.finish(ended), spoken.typed, ended, spec.profile)
  } catch (error) {
    const message = `the output of ${spec.name} could not be read to its end: ${messageOf(error)}`
    outcome = { ok: false, failure: cause ?? { kind: 'crash', message } }
  }
  over.abort()
  turn.signal.removeEventListener('abort', cancel)
  const left = await run.end()
  if (!outcome.ok) await speech?.drop().catch(() => {})
  return { outcome, ended, left, settled: await command.settle() }
}

/** Sends the prompt, then reads both outputs until the process has exited and everything it wrote is read. */
async function listenToEnd(
  job: PipeJob,
  run: Run,
  speech: Speech,
  over: AbortController,
  stop: (failure: Failure) => void,
): Promise<Ended> {
  const { text, stays } = speech.open(job.prompt)
  if (stays) run.stdin.write(text)
  else run.stdin.end(text)
  const out = new Tail()
  const err = new Tail()
  const complaints = new Lines(longestComplaint)
  const listen = async (chunks: AsyncIterable<Uint8Array>, each: (text: string) => Promise<void>) => {
    const stripper = new AnsiStripper()
    for await (const chunk of chunks) {
      job.watch.heard()
      await each(stripper.push(chunk))
      job.watch.heard()
    }
    await each(stripper.end())
  }
  let lingering: Promise<boolean> | undefined
  const [exit] = await Promise.all([
    run.exited.finally(() => over.abort()),
    listen(run.stdout, async (text) => {
      out.add(text)
      await speech.hear(text)
      if (speech.over()) lingering ??= endLingering(job, run, over)
    }),
    listen(run.stderr, async (text) => {
      err.add(text)
      for (const line of complaints.push(text)) {
        const failure = job.spec.profile?.retrying?.(line, job.turn.clock.now())
        if (failure) stop(failure)
      }
    }),
  ])
  // A CLI that we stopped after its last word did not fail.
  const how = (await lingering) ? { code: 0 } : exit
  return { out: out.text, err: err.text, ...how, now: job.turn.clock.now() }
}

/** Judges a run that was not stopped: by its own account, then by its exit code and its last words. */
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
  // The message of a dialect says more about a crash than an exit code does.
  if (failure && !(failure.kind === 'crash' && account && !account.ok)) return { ok: false, failure }
  if (account && !account.ok) return account
  if (answered) return account
  if (account?.ok && account.denials?.length)
    return failed('denied', `${name} was not allowed: ${account.denials.join(', ')}`)
  const words = closingLine(ended.err)
  return failed('crash', `${name} gave an empty answer${words ? ` (its last words: ${words})` : ''}`)
}

/** How long a CLI may take to exit after its last word. */
const leaveMs = 5_000

/** Ends a process that stays after its last word; false when it exited by itself. */
async function endLingering(job: PipeJob, run: Run, over: AbortController): Promise<boolean> {
  await job.turn.clock.sleep(leaveMs, over.signal)
  if (over.signal.aborted) return false
  // The answer is complete, so the watch over silence and time ends here.
  over.abort()
  await run.end()
  return true
}

/** How long a CLI may take to save its thread after we ask it to stop. */
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
