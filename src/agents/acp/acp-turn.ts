import type { PromptResponse } from '@agentclientprotocol/sdk'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Session } from './acp-session.ts'
import type { TurnJob } from './turn-side.ts'
import type { PictureText } from '../pipe/speech.ts'
import type { LentServer } from '../../core/profile/profile.ts'
import { startFailure } from '../pipe/pipe-process.ts'
import { connectionFailure, isRpcError, rpcFailure, earlyStopNote, answerOutcome } from './acp-outcome.ts'
import { loadSdk } from './acp-connection.ts'
import { AcpProcess } from './acp-process.ts'
import { SessionRefused } from './acp-session.ts'
import { TurnSide } from './turn-side.ts'
import { askedPerson, enclosed } from '../enclosure.ts'

type AcpJob = TurnJob & {
  argv: [string, ...string[]]
  /** An MCP server that the agent is given for this turn. */
  server?: LentServer | undefined
  /** The key of the thread to resume. */
  key: string | undefined
  /** The prompt for the session: with the whole view, or with what a resumed thread has not seen. */
  prompt(session: Session): Promise<PictureText>
  /** Whether the agent is at work although it says nothing. */
  alive(since: number): Promise<boolean>
}

/** `left` holds the pids that would not die, `settled` what was removed because the agent may not leave it behind. */
type AcpResult = { outcome: Outcome; session?: Session; usage?: Usage; left: number[]; settled: string[] }

/** How long an agent that was cancelled may take to say so. */
const cancelMs = 2_000

/** Runs the agent for one prompt, to its answer or until it is stopped. None of its processes survives the call, whatever happened. */
export async function runAcpTurn(job: AcpJob): Promise<AcpResult> {
  const { spec, turn, argv, env } = job
  // The library is loaded while the process starts, which takes longer.
  loadSdk().catch(() => {})
  const over = new AbortController()
  const { leash, cwd, clock } = turn
  const command = await enclosed(job.enclose, argv, { leash, cwd, env, ...askedPerson(turn) })
  if ('refused' in command) return { outcome: { ok: false, failure: command.refused }, left: [], settled: [] }
  const settled = new AbortController()
  let process: AcpProcess | undefined
  let cause: Failure | undefined
  const stop = (failure: Failure) => {
    // The first cause wins: an error that follows from the stop did not cause it.
    if (over.signal.aborted) return
    cause = failure
    over.abort()
    // The turn waits for the end of the process.
    void clock.sleep(process?.cancel() ? cancelMs : 0, settled.signal).then(() => process?.kill())
  }
  let side: TurnSide
  try {
    side = new TurnSide(job, over.signal, stop)
    process = await AcpProcess.start(spec, { argv: command.argv, cwd, env: command.env, clock })
  } catch (error) {
    const settled = await command.settle()
    return { outcome: { ok: false, failure: startFailure(job, error as NodeJS.ErrnoException) }, left: [], settled }
  }
  const running = process
  running.serve(side)
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  turn.signal.addEventListener('abort', cancel, { once: true })
  if (turn.signal.aborted) cancel()
  job.watch.begin(over.signal, async (since) => side.busy || job.alive(since), stop)
  let session: Session | undefined
  const talk = async (): Promise<PromptResponse> => {
    const { key, server } = job
    session = await running.open({ spec, cwd, leash, key, server })
    if (session.note) await job.emit({ type: 'note', text: session.note })
    const { text, pictures } = await job.prompt(session)
    return running.prompt([
      { type: 'text', text },
      ...pictures.map(({ media, data }) => ({ type: 'image' as const, mimeType: media, data })),
    ])
  }
  const heard = await talk().then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  )
  settled.abort()
  over.abort()
  turn.signal.removeEventListener('abort', cancel)
  const left = [...(await side.terminals.end()), ...(await running.leave())]
  const outcome = await acpOutcome(job, heard, cause, running, side)
  const usage = 'response' in heard ? side.spent.usage(heard.response) : undefined
  return { outcome, session, usage, left, settled: [...side.terminals.settled, ...(await command.settle())] }
}

async function acpOutcome(
  { spec, turn, emit }: AcpJob,
  heard: { response: PromptResponse } | { error: unknown },
  cause: Failure | undefined,
  process: AcpProcess,
  side: TurnSide,
): Promise<Outcome> {
  const words = await process.words
  await side.telling.pause()
  const failure = cause ?? side.telling.fault
  if (failure) return { ok: false, failure }
  if ('response' in heard) {
    const short = earlyStopNote(spec.name, heard.response)
    if (short) await emit({ type: 'note', text: short })
    const outcome = answerOutcome(spec.name, heard.response, side.telling.answer, side.denials)
    // The text of a turn that reached a limit is kept, although it is not a finished answer.
    if (!outcome.ok && outcome.failure.kind === 'unfinished' && side.telling.answer !== '')
      await emit({ type: 'reply', text: side.telling.answer })
    return outcome
  }
  const { error } = heard
  const now = turn.clock.now()
  if (error instanceof SessionRefused) return { ok: false, failure: error.failure }
  if (isRpcError(error)) return { ok: false, failure: rpcFailure(spec, error, now) }
  return { ok: false, failure: connectionFailure(spec, { ...words, ...(await process.exited), now }, error) }
}
