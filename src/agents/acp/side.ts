import type { SessionNotification } from '@agentclientprotocol/sdk'
import type { Clock } from '../../base/clock.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../pipe/speech.ts'
import type { Watch } from '../pipe/watch.ts'
import type { AcpSpec } from './command.ts'
import type { Rules } from './rules.ts'
import { projectRoot } from '../../base/git.ts'
import { visibleQuestion } from '../visible.ts'
import { Allowed } from './allowed.ts'
import { Calls } from './calls.ts'
import { factsOf } from './command.ts'
import { Telling } from './telling.ts'
import { Terminals } from './terminals.ts'
import { Spent } from './usage.ts'

type Parts = {
  spec: AcpSpec
  turn: Turn
  env: Record<string, string | undefined>
  watch: Pick<Watch, 'ask'>
  emit: Emit
}

/** How long nothing is replayed before the replay counts as over: some answer a load before they are through. */
const quietMs = 100

/** Our side of one turn: what is heard, what is allowed, and what runs for the agent. */
export class Side {
  readonly rules: Rules
  readonly calls: Calls
  readonly telling: Telling
  readonly terminals: Terminals
  readonly spent = new Spent()
  #parts: Parts
  #denials = new Set<string>()
  #broken = false

  constructor(parts: Parts, over: AbortSignal) {
    const { spec, turn, env, watch, emit } = parts
    this.#parts = parts
    this.rules = {
      name: spec.name,
      leash: turn.leash,
      cwd: turn.cwd,
      root: projectRoot(turn.cwd),
      ask: (question, withdrawn) => watch.ask(visibleQuestion(question), withdrawn),
      over,
      allowed: new Allowed(),
      keepsAlways: factsOf(spec)?.forgets === true,
      deny: (what) => this.#denials.add(what),
    }
    this.terminals = new Terminals({ rules: this.rules, clock: turn.clock, env })
    this.calls = new Calls({ cwd: turn.cwd, emit, printed: (id) => this.terminals.printed(id) })
    this.telling = new Telling({ emit, calls: this.calls, spent: this.spent, facts: factsOf(spec), clock: turn.clock })
  }

  /** Whether something is under way that explains a silence. */
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

  /** Said once: whoever prints one line that is no message prints more. */
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
