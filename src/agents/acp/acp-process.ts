import type { PromptResponse, SessionNotification } from '@agentclientprotocol/sdk'
import type { Run } from '../../base/process/run.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { LentServer } from '../../core/profile/profile.ts'
import type { Emit } from '../seat.ts'
import type { TurnWatch } from '../turn-watch.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { PictureText } from '../pipe/speech.ts'
import type { AcpConnection } from './acp-connection.ts'
import type { Session } from './acp-session.ts'
import type { Rules } from './acp-rules.ts'
import type { Enclose } from '../enclosure.ts'
import { exitsWithin, start } from '../../base/process/run.ts'
import { startFailure } from '../pipe/pipe-process.ts'
import { connectionFailure, isRpcError, rpcFailure, earlyStopNote, answerOutcome } from './acp-outcome.ts'
import { connectTo, loadSdk } from './acp-connection.ts'
import { clientApp } from './acp-client.ts'
import { SessionRefused, openSession } from './acp-session.ts'
import { projectRoot } from '../../base/files/git.ts'
import { askedPerson, enclosed } from '../enclosure.ts'
import { visibleQuestion } from '../visible-question.ts'
import { TurnGrants } from './acp-rules.ts'
import { Calls } from './acp-calls.ts'
import { UpdateReader, SpentTokens } from './acp-updates.ts'
import { Terminals } from './acp-terminals.ts'

type AcpJob = {
  spec: PipeSpec
  turn: Turn
  argv: [string, ...string[]]
  env: Record<string, string | undefined>
  enclose?: Enclose
  /** An MCP server that the agent is given for this turn. */
  server?: LentServer | undefined
  /** The key of the thread to resume. */
  key: string | undefined
  /** The prompt for the session: with the whole view, or with what a resumed thread has not seen. */
  prompt(session: Session): Promise<PictureText>
  /** A text that was typed during the turn, in the form that the agent gets. */
  typed(text: string): Promise<string>
  watch: TurnWatch
  emit: Emit
  /** Whether the agent is at work although it says nothing. */
  alive(since: number): Promise<boolean>
}

/** `left` holds the pids that would not die, `settled` what was removed because the agent may not leave it behind. */
type AcpResult = { outcome: Outcome; usage?: Usage; left: number[]; settled: string[] }

/** How long an agent that was cancelled may take to say so. */
const cancelMs = 2_000

/** Runs the agent for one prompt, to its answer or until it is stopped. None of its processes survives the call, whatever happened. */
export async function runAcpProcess(job: AcpJob): Promise<AcpResult> {
  const { spec, turn, argv, env } = job
  // The library is loaded while the process starts, which takes longer.
  const loading = loadSdk()
  loading.catch(() => {})
  const over = new AbortController()
  const { leash, cwd } = turn
  const command = await enclosed(job.enclose, argv, { leash, cwd, env, ...askedPerson(turn) })
  if ('refused' in command) return { outcome: { ok: false, failure: command.refused }, left: [], settled: [] }
  let run: Run
  let side: ClientSide
  try {
    side = new ClientSide(job, over.signal)
    run = await start({ argv: command.argv, cwd: turn.cwd, env: command.env, clock: turn.clock })
  } catch (error) {
    const settled = await command.settle()
    return { outcome: { ok: false, failure: startFailure(job, error as NodeJS.ErrnoException) }, left: [], settled }
  }
  const settled = new AbortController()
  let cause: Failure | undefined
  let cancelSession: (() => void) | undefined
  const stop = (failure: Failure) => {
    // The first cause wins: an error that follows from the stop did not cause it.
    if (over.signal.aborted) return
    cause = failure
    over.abort()
    cancelSession?.()
    // The turn waits for the end of the run.
    void turn.clock.sleep(cancelSession ? cancelMs : 0, settled.signal).then(() => run.end())
  }
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  turn.signal.addEventListener('abort', cancel, { once: true })
  if (turn.signal.aborted) cancel()

  job.watch.begin(over.signal, async (since) => side.busy || job.alive(since), stop)
  const link = connectTo(run, {
    update: (params) => side.hear(params as SessionNotification),
    junk: (line) => side.junk(line),
    heard: () => job.watch.heard(),
    complaint(line) {
      const failure = spec.profile?.retrying?.(line, turn.clock.now())
      if (failure) stop(failure)
    },
  })
  const talk = async (): Promise<PromptResponse> => {
    const sdk = await loading
    const { agent } = clientApp(sdk, {
      ...side,
      steering: spec.profile?.acp?.steering,
      steer: async () => Promise.all((await turn.steer()).map((text) => job.typed(text))),
    }).connect(link.stream)
    const { key, server } = job
    const wanted = { spec, cwd: turn.cwd, leash: turn.leash, key, server, quiet: () => side.quiet(turn.clock) }
    const session = await openSession(agent, sdk, wanted)
    const { id: sessionId } = session
    if (session.note) await job.emit({ type: 'note', text: session.note })
    side.telling.listening = true
    cancelSession = () => {
      agent.notify(sdk.methods.agent.session.cancel, { sessionId }).catch(() => {})
    }
    const { text, pictures } = await job.prompt(session)
    const prompt = [
      { type: 'text' as const, text },
      ...pictures.map(({ media, data }) => ({ type: 'image' as const, mimeType: media, data })),
    ]
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
  const outcome = await acpOutcome(job, heard, cause, run, link, side)
  const usage = 'response' in heard ? side.spent.usage(heard.response) : undefined
  return { outcome, usage, left, settled: [...side.terminals.settled, ...(await command.settle())] }
}

async function acpOutcome(
  { spec, turn, emit }: AcpJob,
  heard: { response: PromptResponse } | { error: unknown },
  cause: Failure | undefined,
  run: Run,
  link: AcpConnection,
  side: ClientSide,
): Promise<Outcome> {
  const words = await link.words
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
  return { ok: false, failure: connectionFailure(spec, { ...words, ...(await run.exited), now }, error) }
}

/** How long an agent may take to exit once its input is closed. */
const leaveMs = 500

async function leave(run: Run, clock: Clock): Promise<number[]> {
  run.stdin.end()
  await exitsWithin(run, leaveMs, clock)
  return run.end()
}

type SideParts = {
  spec: PipeSpec
  turn: Turn
  env: Record<string, string | undefined>
  enclose?: Enclose
  watch: Pick<TurnWatch, 'ask'>
  emit: Emit
  server?: LentServer | undefined
}

/** How long no update may come before the replay of a loaded session counts as over: some agents answer the load first. */
const quietMs = 100

/** Our side of one turn: the updates that are read, the rules, and the terminals that run for the agent. */
class ClientSide {
  readonly rules: Rules
  readonly calls: Calls
  readonly telling: UpdateReader
  readonly terminals: Terminals
  readonly spent = new SpentTokens()
  #parts: SideParts
  #denials = new Set<string>()
  #broken = false

  constructor(parts: SideParts, over: AbortSignal) {
    const { spec, turn, env, enclose, watch, emit, server } = parts
    const title = spec.profile?.acp?.serverTool
    this.#parts = parts
    this.rules = {
      name: spec.name,
      leash: turn.leash,
      cwd: turn.cwd,
      root: projectRoot(turn.cwd),
      added: spec.folders ?? [],
      ask: (question, withdrawn) => watch.ask(visibleQuestion(question), withdrawn),
      over,
      allowed: new TurnGrants(),
      keepsAlways: spec.profile?.acp?.forgets === true,
      lent: server && title && { server: server.name, title },
      deny: (what) => this.#denials.add(what),
    }
    this.terminals = new Terminals({ rules: this.rules, clock: turn.clock, env, enclose })
    this.calls = new Calls({ cwd: turn.cwd, emit, printed: (id) => this.terminals.printed(id) })
    this.telling = new UpdateReader({
      emit,
      calls: this.calls,
      spent: this.spent,
      facts: spec.profile?.acp,
      clock: turn.clock,
    })
  }

  /** Whether a tool or a terminal is running, which explains a silence. */
  get busy(): boolean {
    return this.calls.open || this.terminals.running
  }

  get denials(): string[] {
    return [...this.#denials]
  }

  async hear(notification: SessionNotification): Promise<void> {
    try {
      await this.telling.hear(notification)
    } catch {
      await this.junk(JSON.stringify(notification) ?? '')
    }
  }

  /** Notes an unreadable line, once: an agent that prints one prints more. */
  async junk(line: string): Promise<void> {
    if (this.#broken) return
    this.#broken = true
    const { spec, emit } = this.#parts
    await emit({ type: 'note', text: `${spec.name} printed a line that could not be read: ${line.slice(0, 200)}` })
  }

  async quiet(clock: Clock): Promise<void> {
    for (let before = -1; before !== this.telling.told;) {
      before = this.telling.told
      await clock.sleep(quietMs)
    }
  }
}
