import type { PromptResponse, SessionNotification } from '@agentclientprotocol/sdk'
import type { Run } from '../../base/process/run.ts'
import type { Clock } from '../../base/clock.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../pipe/speech.ts'
import type { Watch } from '../pipe/watch.ts'
import type { AcpSpec } from './command.ts'
import type { Link } from './link.ts'
import type { Session } from './session.ts'
import { start } from '../../base/process/run.ts'
import { notStarted } from '../pipe/once.ts'
import { factsOf } from './command.ts'
import { brokenOff, isRpcError, rpcFailure } from './failure.ts'
import { linkTo } from './link.ts'
import { cutShort, outcomeOf } from './outcome.ts'
import { loadSdk } from './sdk.ts'
import { served } from './served.ts'
import { Hindered, openSession } from './session.ts'
import { Side } from './side.ts'

export type Job = {
  spec: AcpSpec
  turn: Turn
  argv: [string, ...string[]]
  env: Record<string, string | undefined>
  /** The thread to go on with. */
  key: string | undefined
  /** What is said to it: all there is, or what its thread has not heard. */
  prompt(resumed: boolean): string
  watch: Watch
  emit: Emit
  /** Whether something shows that it works, though it says nothing. */
  alive(since: number): Promise<boolean>
}

/** `left` are the pids that would not die. */
export type Done = { outcome: Outcome; session?: Session; usage?: Usage; left: number[] }

/** How long an agent that was told to stop may take to say that it did. */
const cancelMs = 2_000

/** Runs the agent for one prompt, to its answer or until it is stopped; nothing of it is left then, whatever happened. */
export async function runOnce(job: Job): Promise<Done> {
  const { spec, turn, argv, env } = job
  // Read while the process starts, which takes longer.
  const loading = loadSdk()
  loading.catch(() => {})
  const over = new AbortController()
  let run: Run
  let side: Side
  try {
    side = new Side(job, over.signal)
    run = await start({ argv, cwd: turn.cwd, env, clock: turn.clock })
  } catch (error) {
    return { outcome: { ok: false, failure: notStarted(job, error as NodeJS.ErrnoException) }, left: [] }
  }
  const settled = new AbortController()
  let cause: Failure | undefined
  let cancelSession: (() => void) | undefined
  const stop = (failure: Failure) => {
    // The first cause wins: what follows from being stopped is not why it was.
    if (over.signal.aborted) return
    cause = failure
    over.abort()
    cancelSession?.()
    void turn.clock.sleep(cancelSession ? cancelMs : 0, settled.signal).then(() => run.end())
  }
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  turn.signal.addEventListener('abort', cancel, { once: true })
  if (turn.signal.aborted) cancel()

  job.watch.begin(over.signal, async (since) => side.busy || job.alive(since), stop)
  const link = linkTo(run, {
    update: (params) => side.hear(params as SessionNotification),
    junk: (line) => side.junk(line),
    heard: () => job.watch.heard(),
    complaint(line) {
      const failure = spec.profile?.retrying?.(line, turn.clock.now())
      if (failure) stop(failure)
    },
  })
  let session: Session | undefined
  const talk = async (): Promise<PromptResponse> => {
    const sdk = await loading
    const { agent } = served(sdk, { ...side, steering: factsOf(spec)?.steering, steer: () => turn.steer() }).connect(
      link.stream,
    )
    const wanted = { spec, cwd: turn.cwd, leash: turn.leash, key: job.key, quiet: () => side.quiet(turn.clock) }
    const { id: sessionId } = (session = await openSession(agent, sdk, wanted))
    side.telling.listening = true
    cancelSession = () => void agent.notify(sdk.methods.agent.session.cancel, { sessionId }).catch(() => {})
    const prompt = [{ type: 'text' as const, text: job.prompt(session.resumed) }]
    return agent.request(sdk.methods.agent.session.prompt, { sessionId, prompt })
  }
  const heard = await talk().then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  )
  settled.abort()
  over.abort()
  turn.signal.removeEventListener('abort', cancel)
  const left = [...(await side.terminals.end()), ...(await leave(run, turn.clock))]
  const outcome = await verdict(job, heard, cause, run, link, side)
  const usage = 'response' in heard ? side.spent.usage(heard.response) : undefined
  return { outcome, ...(session ? { session } : {}), ...(usage ? { usage } : {}), left }
}

async function verdict(
  { spec, turn, emit }: Job,
  heard: { response: PromptResponse } | { error: unknown },
  cause: Failure | undefined,
  run: Run,
  link: Link,
  side: Side,
): Promise<Outcome> {
  const words = await link.words
  await side.telling.pause()
  const failure = cause ?? side.telling.fault
  if (failure) return { ok: false, failure }
  if ('response' in heard) {
    const short = cutShort(spec.name, heard.response)
    if (short) await emit({ type: 'note', text: short })
    return outcomeOf(spec.name, heard.response, side.telling.answer, side.denials)
  }
  const { error } = heard
  const now = turn.clock.now()
  if (error instanceof Hindered) return { ok: false, failure: error.failure }
  if (isRpcError(error)) return { ok: false, failure: rpcFailure(spec, error, now) }
  return { ok: false, failure: brokenOff(spec, { ...words, ...(await run.exited), now }, error) }
}

/** How long an agent may take to leave once its input is closed. */
const leaveMs = 500

async function leave(run: Run, clock: Clock): Promise<number[]> {
  const gone = new AbortController()
  void run.exited.then(() => gone.abort())
  run.stdin.end()
  await clock.sleep(leaveMs, gone.signal)
  return run.end()
}
