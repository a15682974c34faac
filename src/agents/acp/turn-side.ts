import type { SessionNotification } from '@agentclientprotocol/sdk'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { LentServer } from '../../core/profile/profile.ts'
import type { Emit } from '../seat.ts'
import type { TurnWatch } from '../turn-watch.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { ServedTurn } from './acp-process.ts'
import type { Rules } from './acp-rules.ts'
import type { Enclose } from '../enclosure.ts'
import { projectRoot } from '../../base/files/git.ts'
import { visibleQuestion } from '../visible-question.ts'
import { TurnGrants } from './acp-rules.ts'
import { Calls } from './acp-calls.ts'
import { UpdateReader, SpentTokens } from './acp-updates.ts'
import { Terminals } from './acp-terminals.ts'

export type TurnJob = {
  spec: PipeSpec
  turn: Turn
  env: Record<string, string | undefined>
  enclose?: Enclose
  watch: TurnWatch
  emit: Emit
  server?: LentServer | undefined
  /** Converts a text that was typed during the turn into the form that the agent gets. */
  typed(text: string): Promise<string>
}

/** Our side of one turn: the update reader, the rules, and the terminals that run for the agent. */
export class TurnSide implements ServedTurn {
  readonly rules: Rules
  readonly calls: Calls
  readonly telling: UpdateReader
  readonly terminals: Terminals
  readonly spent = new SpentTokens()
  /** The plan that waits for the person's approval. */
  plan: string | undefined
  #job: TurnJob
  #stop: (failure: Failure) => void
  #denials = new Set<string>()
  #broken = false

  constructor(job: TurnJob, over: AbortSignal, stop: (failure: Failure) => void) {
    const { spec, turn, env, enclose, watch, emit, server } = job
    const title = spec.profile?.acp?.serverTool
    this.#job = job
    this.#stop = stop
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
      ...(spec.plans && {
        planned: (plan: string) => {
          this.plan = plan
        },
      }),
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

  async steer(): Promise<string[]> {
    const { turn, typed } = this.#job
    return Promise.all((await turn.steer()).map((text) => typed(text)))
  }

  async hear(notification: SessionNotification): Promise<void> {
    try {
      await this.telling.hear(notification)
    } catch {
      await this.junk(JSON.stringify(notification) ?? '')
    }
  }

  /** Reports the first unreadable line: an agent that prints one usually prints more. */
  async junk(line: string): Promise<void> {
    if (this.#broken) return
    this.#broken = true
    const { spec, emit } = this.#job
    await emit({ type: 'note', text: `${spec.name} printed a line that could not be read: ${line.slice(0, 200)}` })
  }

  heard(): void {
    this.#job.watch.heard()
  }

  /** Ends the turn if the agent reports that it was refused and would keep retrying for too long. */
  complaint(line: string): void {
    const { spec, turn } = this.#job
    const failure = spec.profile?.retrying?.(line, turn.clock.now())
    if (failure) this.#stop(failure)
  }
}
