import type { ClientContext, PromptRequest, PromptResponse, SessionNotification } from '@agentclientprotocol/sdk'
import type { Command, Exit, Run } from '../../base/process/run.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { ClientParts } from './acp-client.ts'
import type { AcpConnection } from './acp-connection.ts'
import type { Event, Usage } from '../../core/talk/entry.ts'
import type { WarmProcess } from '../warm-processes.ts'
import type { Session, SessionTerms, Wanted } from './acp-session.ts'
import { exitsWithin, start } from '../../base/process/run.ts'
import { connectTo, loadSdk } from './acp-connection.ts'
import { clientApp } from './acp-client.ts'
import { openSession, renewSession } from './acp-session.ts'
import { TurnProcesses } from '../turn-processes.ts'
import { knockMs } from '../warm-processes.ts'

/** The turn that a process is serving: it receives the agent's updates, and answers the agent's requests. */
export type ServedTurn = ClientParts & {
  hear(notification: SessionNotification): Promise<void>
  /** Handles a line that is not a message of the protocol. */
  junk(line: string): Promise<void>
  complaint(line: string): void
  /** Called at every sign of life. */
  heard(): void
}

/** How long an agent has to exit after its input is closed. */
const leaveMs = 500

/** How long no update must arrive before the replay of a loaded session counts as complete: some agents answer the load request first. */
const quietMs = 100

/** The process of an agent with its connection and its session. It serves one turn at a time, and is idle between two turns. */
export class AcpProcess implements WarmProcess {
  /** The cancelled turns that the session remembers, although the log does not count them as answered. */
  readonly cancelled = new Set<string>()
  readonly gone: Promise<Exit>
  #spec: PipeSpec
  #clock: Clock
  #run: Run
  #link: AcpConnection
  #client: ClientContext | undefined
  #session: Session | undefined
  #terms: SessionTerms | undefined
  #processes: TurnProcesses | undefined
  #hasServed = false
  /** The tokens of all turns so far, for an agent that reports only the sum. */
  #counted = { input: 0, output: 0, cached: 0 }
  #turn: ServedTurn | undefined
  /** Whether updates belong to the turn: updates before its prompt are replayed, or about the session. */
  #prompted = false
  /** The opening of a session ahead of its first turn. */
  #opening: Promise<Session> | undefined
  /** The number of updates so far. */
  #updates = 0

  constructor(spec: PipeSpec, clock: Clock, run: Run) {
    this.#spec = spec
    this.#clock = clock
    this.#run = run
    this.gone = run.exited
    this.#link = connectTo(run, {
      update: (params) => this.#hear(params as SessionNotification),
      junk: async (line) => this.#turn?.junk(line),
      heard: () => {
        this.#processes?.heard()
        this.#turn?.heard()
      },
      complaint: (line) => this.#turn?.complaint(line),
    })
  }

  /** Begins to serve a turn. `mayStay`: the process may serve another turn after this one. */
  serve(turn: ServedTurn, mayStay: boolean): void {
    this.#turn = turn
    this.#processes = mayStay ? new TurnProcesses(this.#run, this.#clock, this.#hasServed) : undefined
    this.#hasServed = true
  }

  /** Called with each event of the turn. */
  see(event: Event): void {
    this.#processes?.see(event)
  }

  /** Whether a process that the turn started is still running. */
  async leavesProcesses(): Promise<boolean> {
    return (await this.#processes?.areLeft()) ?? false
  }

  /** Returns the tokens of the last turn alone, even if the agent reports the sum over all turns of the process. */
  ofTurn(usage: Usage): Usage {
    const { input, output, cached = 0 } = usage
    const before = this.#counted
    if (!this.#spec.profile?.acp?.countsTogether || input < before.input || output < before.output) return usage
    this.#counted = { input, output, cached }
    return {
      ...usage,
      input: input - before.input,
      output: output - before.output,
      cached: Math.max(0, cached - before.cached),
    }
  }

  /** Serves no turn until the next one begins: the agent's updates are ignored, and its requests are refused. */
  rest(): void {
    this.#turn = undefined
    this.#prompted = false
  }

  /** Initializes the agent and opens the session for the prompts. */
  async open(wanted: Omit<Wanted, 'quiet'>): Promise<Session> {
    const sdk = await loadSdk()
    const app = clientApp(sdk, this.#spec.profile?.acp?.steering, () => this.#turn)
    this.#client = app.connect(this.#link.stream).agent
    this.#session = await openSession(this.#client, sdk, { ...wanted, quiet: () => this.quiet() })
    this.#terms = wanted
    return this.#session
  }

  /**
   * Opens the session before its first turn. If no session opens, or only one that cannot last, the agent is stopped, and the turn will
   * report the reason.
   */
  openAhead(wanted: Omit<Wanted, 'quiet'>): void {
    this.#opening = this.open(wanted)
    const stays = this.#opening.then(
      ({ lasting }) => lasting,
      () => false,
    )
    void stays.then((stays) => (stays ? [] : this.kill()))
  }

  /**
   * Adapts the open session to another turn. Undefined if that is impossible or the agent does not answer in time: then nothing of the
   * turn was sent yet.
   */
  async renew(wanted: SessionTerms): Promise<Session | undefined> {
    const [sdk, ahead] = await Promise.all([loadSdk(), this.#opening?.catch(() => undefined)])
    this.#opening = undefined
    const [client, session, before] = [this.#client, this.#session, this.#terms]
    if (!client || !session || !before) return undefined
    this.#terms = wanted
    const answered = new AbortController()
    const renewed = renewSession(client, sdk, session, wanted, before).catch(() => false)
    const late = this.#clock.sleep(knockMs, answered.signal).then(() => false)
    const fits = await Promise.race([renewed, late, this.gone.then(() => false)])
    answered.abort()
    // A session that was opened before its turn has not been reported to the person yet, and has not received the conversation.
    return fits ? (ahead ?? { ...session, resumed: true, note: undefined }) : undefined
  }

  /** Whether the prompt of the turn was sent. */
  get prompted(): boolean {
    return this.#prompted
  }

  /** Sends the prompt of the turn to the open session, and returns the agent's answer to the request. */
  async prompt(prompt: PromptRequest['prompt']): Promise<PromptResponse> {
    const { methods } = await loadSdk()
    this.#prompted = true
    return this.#client!.request(methods.agent.session.prompt, { sessionId: this.#session!.id, prompt })
  }

  /** Asks the agent to stop its work; returns false if it has no session yet, since only a session can be cancelled. */
  cancel(): boolean {
    if (!this.#session) return false
    const { id: sessionId } = this.#session
    const told = loadSdk().then(({ methods }) => this.#client!.notify(methods.agent.session.cancel, { sessionId }))
    told.catch(() => {})
    return true
  }

  /** The last text of both outputs, after both were read to the end. */
  get words(): AcpConnection['words'] {
    return this.#link.words
  }

  /** Gives the agent a moment to exit, ends all remaining processes, and returns the pids that could not be killed. */
  async end(): Promise<number[]> {
    this.#run.stdin.end()
    await exitsWithin(this.#run, leaveMs, this.#clock)
    return this.kill()
  }

  /** Ends every process of the agent at once. */
  kill(): Promise<number[]> {
    return this.#run.end()
  }

  /** Resolves once no update has arrived for a while. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.#updates;) {
      before = this.#updates
      await this.#clock.sleep(quietMs)
    }
  }

  async #hear(notification: SessionNotification): Promise<void> {
    this.#updates++
    this.#remember(notification.update)
    if (this.#prompted) return this.#turn?.hear(notification)
    // An agent that acts between two turns is stopped: nobody would see its actions, and no snapshot would cover them.
    if (!this.#turn && actions.has(notification.update?.sessionUpdate)) void this.kill()
  }

  /** Records the session's current mode and options as the agent reports them. */
  #remember(update: SessionNotification['update'] | undefined): void {
    const { modes } = this.#session?.made ?? {}
    if (update?.sessionUpdate === 'current_mode_update' && modes) modes.currentModeId = update.currentModeId
    if (update?.sessionUpdate === 'config_option_update' && this.#session)
      this.#session.made.configOptions = update.configOptions
  }
}

/** The updates about a tool that runs. */
const actions: ReadonlySet<string | undefined> = new Set(['tool_call', 'tool_call_update'])

/** Starts the command of an agent; rejects when it cannot be started at all. */
export async function startAcp(spec: PipeSpec, command: Command): Promise<AcpProcess> {
  return new AcpProcess(spec, command.clock, await start(command))
}
