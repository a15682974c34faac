import type { ClientContext, PromptRequest, PromptResponse, SessionNotification } from '@agentclientprotocol/sdk'
import type { Command, Exit, Run } from '../../base/process/run.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { ClientParts } from './acp-client.ts'
import type { AcpConnection } from './acp-connection.ts'
import type { Session, Wanted } from './acp-session.ts'
import { exitsWithin, start } from '../../base/process/run.ts'
import { connectTo, loadSdk } from './acp-connection.ts'
import { clientApp } from './acp-client.ts'
import { openSession } from './acp-session.ts'

/** The turn that a process is taking: it hears what the agent says, and answers what the agent asks for. */
export type ServedTurn = ClientParts & {
  hear(notification: SessionNotification): Promise<void>
  /** Takes a line that is not a message of the protocol. */
  junk(line: string): Promise<void>
  complaint(line: string): void
  /** Called at every sign of life. */
  heard(): void
}

/** How long an agent may take to exit once its input is closed. */
const leaveMs = 500

/** How long no update may come before the replay of a loaded session counts as over: some agents answer the load first. */
const quietMs = 100

/** The process of an agent with its connection and its session. It serves one turn at a time. */
export class AcpProcess {
  #spec: PipeSpec
  #clock: Clock
  #run: Run
  #link: AcpConnection
  #client: ClientContext | undefined
  #session: Session | undefined
  #turn: ServedTurn | undefined
  /** Whether updates belong to the turn: those before its prompt are replayed, or about the session. */
  #prompted = false
  /** The number of updates so far. */
  #updates = 0

  /** Rejects when the command cannot be started at all. */
  static async start(spec: PipeSpec, command: Command): Promise<AcpProcess> {
    return new AcpProcess(spec, command.clock, await start(command))
  }

  private constructor(spec: PipeSpec, clock: Clock, run: Run) {
    this.#spec = spec
    this.#clock = clock
    this.#run = run
    this.#link = connectTo(run, {
      update: async (params) => {
        this.#updates++
        if (this.#prompted) await this.#turn?.hear(params as SessionNotification)
      },
      junk: async (line) => this.#turn?.junk(line),
      heard: () => this.#turn?.heard(),
      complaint: (line) => this.#turn?.complaint(line),
    })
  }

  /** Begins to serve a turn. */
  serve(turn: ServedTurn): void {
    this.#turn = turn
  }

  /** Initializes the agent and opens the session that the prompts go to. */
  async open(wanted: Omit<Wanted, 'quiet'>): Promise<Session> {
    const sdk = await loadSdk()
    const app = clientApp(sdk, this.#spec.profile?.acp?.steering, () => this.#turn)
    this.#client = app.connect(this.#link.stream).agent
    this.#session = await openSession(this.#client, sdk, { ...wanted, quiet: () => this.#quiet() })
    return this.#session
  }

  /** Sends the prompt of the turn to the open session, and returns the agent's answer to the request. */
  async prompt(prompt: PromptRequest['prompt']): Promise<PromptResponse> {
    const { methods } = await loadSdk()
    this.#prompted = true
    return this.#client!.request(methods.agent.session.prompt, { sessionId: this.#session!.id, prompt })
  }

  /** Asks the agent to stop its work; returns false if it has no session yet, and therefore cannot be asked. */
  cancel(): boolean {
    if (!this.#session) return false
    const { id: sessionId } = this.#session
    const told = loadSdk().then(({ methods }) => this.#client!.notify(methods.agent.session.cancel, { sessionId }))
    told.catch(() => {})
    return true
  }

  /** The last words of both outputs, once both are read to the end. */
  get words(): AcpConnection['words'] {
    return this.#link.words
  }

  /** How the process ended. */
  get exited(): Promise<Exit> {
    return this.#run.exited
  }

  /** Gives the agent a moment to exit, ends every process that is left, and returns the pids that would not die. */
  async leave(): Promise<number[]> {
    this.#run.stdin.end()
    await exitsWithin(this.#run, leaveMs, this.#clock)
    return this.kill()
  }

  /** Ends every process of the agent at once. */
  kill(): Promise<number[]> {
    return this.#run.end()
  }

  async #quiet(): Promise<void> {
    for (let before = -1; before !== this.#updates;) {
      before = this.#updates
      await this.#clock.sleep(quietMs)
    }
  }
}
