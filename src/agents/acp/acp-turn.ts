import type { PromptResponse } from '@agentclientprotocol/sdk'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { ForeseenTurn, Turn } from '../../core/work/agent.ts'
import type { Session } from './acp-session.ts'
import type { TurnJob } from './turn-side.ts'
import type { PictureText } from '../pipe/speech.ts'
import type { WarmProcesses, WarmTerms } from '../warm-processes.ts'
import { startFailure } from '../pipe/pipe-process.ts'
import { connectionFailure, isRpcError, rpcFailure, earlyStopNote, answerOutcome } from './acp-outcome.ts'
import { turnOf } from '../../core/work/turn-pieces.ts'
import { loadSdk } from './acp-connection.ts'
import { AcpProcess, startAcp } from './acp-process.ts'
import { SessionRefused } from './acp-session.ts'
import { TurnSide } from './turn-side.ts'
import { askedPerson, enclosed } from '../enclosure.ts'
import { warmThread } from '../warm-processes.ts'

type AcpJob = TurnJob & {
  argv: [string, ...string[]]
  /** The key of the thread to resume. */
  key: string | undefined
  /** The pool and the terms for a process that may serve several turns; left out if each turn has its own process. */
  warm?: { pool: WarmProcesses } & WarmTerms
  /**
   * The prompt for the session: with the whole view, or with the part that a resumed thread has not seen; `seen` are the turns that it
   * has seen.
   */
  prompt(session: Session, seen: ReadonlySet<string>): Promise<PictureText>
  /** Whether the agent is working although it prints nothing. */
  alive(since: number): Promise<boolean>
}

/**
 * `left` are the pids that could not be killed, `settled` describes things that were removed because the agent may not leave them behind.
 */
type AcpResult = { outcome: Outcome; session?: Session; usage?: Usage; left: number[]; settled: string[] }

/** How long a cancelled agent has to confirm the cancellation. */
const cancelMs = 2_000

/**
 * Runs the agent for one prompt, until it answers or is stopped. Whatever happens, its processes end with the call, except one that stays
 * for the next turn.
 */
export async function runAcpTurn(job: AcpJob): Promise<AcpResult> {
  const { spec, turn, argv, env } = job
  // The library is loaded while the process starts, because the start takes longer.
  loadSdk().catch(() => {})
  const { leash, cwd, clock } = turn
  const command = await enclosed(job.enclose, argv, { leash, cwd, env, ...askedPerson(turn) })
  if ('refused' in command) return { outcome: { ok: false, failure: command.refused }, left: [], settled: [] }
  const { fixed } = command
  const warm =
    fixed !== undefined && job.warm?.pool.open ? { ...job.warm, fixed: `${job.warm.fixed}\n${fixed}` } : undefined
  const start = () => startAcp(spec, { argv: command.argv, cwd, env: command.env, clock })
  const waiting = await warm?.pool.borrow(spec.name, warm, AcpProcess)
  const isFit = waiting && remembersNoMore(waiting, turn)
  if (waiting && !isFit) await waiting.end()
  const done = (isFit && (await takeTurn(job, waiting, warm))) || (await takeTurn(job, start, warm))!
  return { ...done, settled: [...done.settled, ...(await command.settle())] }
}

/** An agent that is started before its turn. */
type ForeseenJob = Pick<AcpJob, 'spec' | 'argv' | 'env' | 'enclose' | 'server' | 'key'> & {
  turn: ForeseenTurn
  warm: NonNullable<AcpJob['warm']>
}

/** Starts the agent before the prompt of its turn, under the terms of the turn, and opens the session for it. It waits in the pool. */
export async function prepareAcpTurn({
  spec,
  turn,
  argv,
  env,
  enclose,
  server,
  key,
  warm,
}: ForeseenJob): Promise<void> {
  loadSdk().catch(() => {})
  const { leash, cwd, clock } = turn
  const command = await enclosed(enclose, argv, { leash, cwd, env, foreseen: true })
  if ('refused' in command) return
  const { fixed } = command
  try {
    if (fixed === undefined) return
    await warm.pool.prepare(spec.name, { fixed: `${warm.fixed}\n${fixed}`, thread: warm.thread }, async () => {
      const process = await startAcp(spec, { argv: command.argv, cwd, env: command.env, clock })
      process.openAhead({ spec, cwd, leash, key, server })
      return process
    })
  } finally {
    await command.settle()
  }
}

/** Whether the cancelled turns that a session remembers are still in the conversation: the person can undo them. */
const remembersNoMore = ({ cancelled }: AcpProcess, { history }: Turn): boolean =>
  [...cancelled].every((id) => history.some((entry) => turnOf(entry.turn) === id))

/**
 * Runs the turn in the process that waited for it, or in a new one. Undefined if the waiting process does not fit or is gone; then
 * nothing of the turn was sent to it.
 */
async function takeTurn(
  job: AcpJob,
  from: AcpProcess | (() => Promise<AcpProcess>),
  warm: AcpJob['warm'],
): Promise<AcpResult | undefined> {
  const { spec, turn } = job
  const { leash, cwd, clock } = turn
  const over = new AbortController()
  const settled = new AbortController()
  const isWaiting = from instanceof AcpProcess
  let process = isWaiting ? from : undefined
  let cause: Failure | undefined
  const stop = (failure: Failure) => {
    // The first cause wins: an error that follows from the stop did not cause it.
    if (over.signal.aborted) return
    cause = failure
    over.abort()
    // The turn waits for the end of the process, or until the agent confirms that it has stopped.
    void clock.sleep(process?.cancel() ? cancelMs : 0, settled.signal).then(() => {
      if (!settled.signal.aborted) void process?.kill()
    })
  }
  let side: TurnSide
  try {
    const emit: TurnJob['emit'] = (event) => {
      process?.see(event)
      return job.emit(event)
    }
    side = new TurnSide({ ...job, emit }, over.signal, stop)
    process ??= await (from as () => Promise<AcpProcess>)()
  } catch (error) {
    return {
      outcome: { ok: false, failure: startFailure(job, error as NodeJS.ErrnoException) },
      left: [],
      settled: [],
    }
  }
  const running = process
  running.serve(side, warm !== undefined)
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  turn.signal.addEventListener('abort', cancel, { once: true })
  if (turn.signal.aborted) cancel()
  job.watch.begin(over.signal, async (since) => side.busy || job.alive(since), stop)
  let session: Session | undefined
  const talk = async (): Promise<PromptResponse | undefined> => {
    const { key, server } = job
    session = isWaiting ? await running.renew({ spec, leash }) : await running.open({ spec, cwd, leash, key, server })
    if (!session) return undefined
    if (session.note) await job.emit({ type: 'note', text: session.note })
    const { text, pictures } = await job.prompt(session, running.cancelled)
    // A prompt that is cancelled before it is sent is never sent.
    if (isWaiting && over.signal.aborted) return undefined
    return running.prompt([
      { type: 'text', text },
      ...pictures.map(({ media, data }) => ({ type: 'image' as const, mimeType: media, data })),
    ])
  }
  const heard: Heard = await talk().then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  )
  settled.abort()
  const mayStay = warm && maySpeakAgain(heard, session, cause, side)
  // Some agents answer the request before they have sent their last words.
  if (mayStay) await running.quiet()
  over.abort()
  turn.signal.removeEventListener('abort', cancel)
  const left = await side.terminals.end()
  const leave = async () => left.push(...(await (cause ? running.kill() : running.end())))
  // A tool that is not over when the agent answers may still change files, which the next turn's snapshots would not show.
  const isIdle = cause !== undefined || !side.calls.open
  const stays = mayStay && isIdle && left.length === 0 && !(await running.leavesProcesses())
  if (!stays) await leave()
  if (isWaiting && !running.prompted && !cause) return undefined
  const outcome = await acpOutcome(job, heard, cause, stays ? undefined : running, side)
  if (stays && !keep(job, running, session!, outcome, warm)) await leave()
  const usage = 'response' in heard && heard.response ? side.spent.usage(heard.response) : undefined
  return { outcome, session, usage: usage && running.ofTurn(usage), left, settled: side.terminals.settled }
}

/** The answer to the prompt; undefined if it was not sent. */
type Heard = { response: PromptResponse | undefined } | { error: unknown }

/** Whether an agent may serve another turn: it answered, by itself or after a cancellation, and remembers no yes of the person. */
function maySpeakAgain(
  heard: Heard,
  session: Session | undefined,
  cause: Failure | undefined,
  side: TurnSide,
): boolean {
  const answered = 'response' in heard && heard.response !== undefined && session?.lasting === true
  return answered && (!cause || cause.kind === 'aborted') && !side.rules.allowed.agentKeepsOne
}

/** Stores the process for the next turn if the log will cover everything that its session knows. */
function keep(
  { spec, turn }: AcpJob,
  process: AcpProcess,
  { id: key }: Session,
  outcome: Outcome,
  { pool, fixed, thread }: NonNullable<AcpJob['warm']>,
): boolean {
  if (outcome.ok) {
    process.cancelled.clear()
    process.rest()
    pool.keep(spec.name, process, { fixed, thread: warmThread({ key, turn: turn.id }) })
    return true
  }
  // The log adds nothing to the thread for a cancelled turn, but the session remembers it.
  if (outcome.failure.kind !== 'aborted' || thread?.key !== key) return false
  process.cancelled.add(turnOf(turn.id))
  process.rest()
  pool.keep(spec.name, process, { fixed, thread })
  return true
}

async function acpOutcome(
  { spec, turn, emit }: AcpJob,
  heard: Heard,
  cause: Failure | undefined,
  ended: AcpProcess | undefined,
  side: TurnSide,
): Promise<Outcome> {
  const words = await ended?.words
  await side.telling.pause()
  const failure = cause ?? side.telling.fault
  if (failure) return { ok: false, failure }
  if ('response' in heard) {
    if (side.plan !== undefined) return { ok: true, text: side.plan, plan: true }
    const short = earlyStopNote(spec.name, heard.response!)
    if (short) await emit({ type: 'note', text: short })
    const outcome = answerOutcome(spec.name, heard.response!, side.telling.answer, side.denials)
    // The text of a turn that reached a limit is preserved, although it is not a finished answer.
    if (!outcome.ok && outcome.failure.kind === 'unfinished' && side.telling.answer !== '')
      await emit({ type: 'reply', text: side.telling.answer })
    return outcome
  }
  const { error } = heard
  const now = turn.clock.now()
  if (error instanceof SessionRefused) return { ok: false, failure: error.failure }
  if (isRpcError(error)) return { ok: false, failure: rpcFailure(spec, error, now) }
  return {
    ok: false,
    failure: connectionFailure(spec, { out: '', err: '', ...words, ...(await ended?.gone), now }, error),
  }
}
