import type { Event, Inner, Usage } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { RaceCheck, Racer } from '../core/talk/race.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { Spent } from '../core/work/budget.ts'
import type { CopyChanges, ProjectCopies, ProjectCopy } from '../hub/model/tasks/project-copy.ts'
import { callAfter } from '../base/time/clock.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { relay } from '../base/relay.ts'
import { failed } from '../core/talk/outcome.ts'
import { addUsage } from '../core/work/budget.ts'
import { straysIn } from '../hub/model/tasks/project-copy.ts'
import { take } from '../core/work/verbs.ts'
import { clipped } from '../think/prompt-text.ts'
import { allPass, secondsWords } from './race-report.ts'

/** The functions that one racer needs. */
export type RacerParts = {
  copies: ProjectCopies
  /** Opens the agent for the turn in its copy. */
  open(agent: string, copy: ProjectCopy): Agent
  /** The commands that check every result. */
  checks: readonly string[]
  /** Runs a check in a copy. */
  check(command: string, copy: ProjectCopy, turn: Turn): AsyncGenerator<Event, RaceCheck>
  /** Waits for the checks of other racers, because two at once may need the same port or the same file. */
  oneCheckAtATime: Turnstile
  /** How long an agent may work on the request. */
  longestMs: number
}

/** Lets one run in after another; the returned function lets the next one in. */
export type Turnstile = () => Promise<() => void>

/** How many characters of an agent's own text are stored. */
const longestReply = 8_000

/** One agent of a race, from its copy to its checked result. */
export class RacerRun {
  readonly racer: number
  readonly agent: string
  readonly role: string
  copy: ProjectCopy | undefined
  changes: CopyChanges | undefined
  checks: RaceCheck[] = []
  /** How the agent's turn ended; undefined while it runs. */
  outcome: Outcome | undefined
  #spent: Spent = { tokens: 0 }
  #ms = 0
  /** The failure of the agent's last attempt. */
  #failure: Failure | undefined
  /** Whether the agent itself finished: with a result, or with its own failure. */
  #finished = false
  #stopped = false

  constructor(racer: number, agent: string) {
    this.racer = racer
    this.agent = agent
    this.role = `racer ${racer}`
  }

  /** Whether the agent finished its turn and changed something. */
  get hasResult(): boolean {
    return this.outcome?.ok === true && this.outcome.asks === undefined && (this.changes?.paths.length ?? 0) > 0
  }

  /** Whether the result is right: its checks pass, and either they failed before or the agent changed something. */
  isRight(before: readonly RaceCheck[]): boolean {
    if (this.outcome?.ok !== true || allPass(this.checks) !== true) return false
    return this.hasResult || allPass(before) === false
  }

  /** Runs the turn in a copy of the project and checks the result. `enough` aborts if another result was right first. */
  async *run(turn: Turn, enough: AbortSignal, parts: RacerParts): AsyncGenerator<Event, void> {
    const inner = (event: Event): Inner => ({ type: 'inner', role: this.role, event: { by: this.agent, ...event } })
    yield inner({ type: 'state', state: 'starting' })
    const began = turn.clock.elapsed()
    const late = new AbortController()
    const over = new AbortController()
    callAfter(turn.clock, parts.longestMs, over.signal, () => late.abort())
    const ended = new AbortController()
    // A person who watches can stop one racer alone.
    const place = turn.inside?.enter(this.role, {
      agent: this.agent,
      loses: () => 'Its result then takes no part in the race.',
      stop: () => ended.abort(),
    })
    const signal = AbortSignal.any([turn.signal, enough, late.signal, ended.signal])
    try {
      this.copy = await parts.copies.open(signal)
      const own = this.#turnIn(this.copy, { ...turn, signal }, parts)
      const outcome = this.#own(yield* this.#acted(own, parts, inner))
      this.#ms = Math.round(turn.clock.elapsed() - began)
      over.abort()
      this.outcome = outcome
      if (!turn.signal.aborted) this.changes = await this.copy.changed()
      if (outcome.ok && outcome.asks === undefined && !signal.aborted) yield* this.#checked(own, parts, inner)
    } catch (error) {
      this.outcome = failed('crash', messageOf(error))
    } finally {
      over.abort()
      place?.leave()
      this.#finished = !signal.aborted
      this.#ms ||= Math.round(turn.clock.elapsed() - began)
    }
    if (!this.#finished && !turn.signal.aborted) {
      this.#stopped = enough.aborted
      this.outcome = this.#stopped
        ? failed('aborted', 'another result was right first')
        : ended.signal.aborted
          ? failed('aborted', 'you stopped it')
          : failed('timeout', `it was not done after ${secondsWords(parts.longestMs)}`)
    }
    yield inner({ type: 'end', outcome: this.outcome })
  }

  /** The outcome with the agent's own failure: a rotation of one agent only says that nobody could answer. */
  #own(outcome: Outcome): Outcome {
    if (outcome.ok || !this.#failure) return outcome
    return { ok: false, failure: defined({ retryAt: outcome.failure.retryAt, ...this.#failure }) }
  }

  /** The agent's own turn: its events are marked as its own, and its thread is not continued. */
  async *#acted(turn: Turn, parts: RacerParts, inner: (event: Event) => Inner): AsyncGenerator<Event, Outcome> {
    const agent = parts.open(this.agent, this.copy!)
    try {
      return yield* relay(
        take(agent, turn, (event) => {
          for (const usage of usageIn(event)) this.#spent = addUsage(this.#spent, usage)
          if (event.type === 'attempt') this.#failure = event.failure
        }),
        inner,
      )
    } finally {
      await agent.close().catch(() => {})
    }
  }

  async *#checked(turn: Turn, parts: RacerParts, inner: (event: Event) => Inner): AsyncGenerator<Event, void> {
    if (parts.checks.length === 0) return
    const leave = await parts.oneCheckAtATime()
    try {
      for (const command of parts.checks) {
        if (turn.signal.aborted) return
        this.checks.push(yield* relay(parts.check(command, this.copy!, turn), inner))
      }
    } finally {
      leave()
    }
  }

  #turnIn({ cwd, lacks }: ProjectCopy, turn: Turn, { checks }: RacerParts): Turn {
    const { sent: _, attended: __, waits: ___, form: ____, machine: _____, ...own } = turn
    return {
      ...own,
      prompt: racerPrompt(turn.prompt, lacks, checks),
      // The agent's own thread is not continued: it belongs to the project's own folder, and a racer may lose.
      history: turn.history.filter(({ type }) => type !== 'thread'),
      cwd,
      leash: 'edit',
      budget: turn.budget.turn?.() ?? turn.budget,
      ask: (question, withdrawn) => turn.ask({ ...question, from: [this.role, ...question.from] }, withdrawn),
      steer: async () => [],
    }
  }

  /** The result in the form in which it is stored. */
  get result(): Racer {
    const { outcome, changes } = this
    const asks = outcome?.ok === true && outcome.asks !== undefined
    const { failure } = this
    const strays = changes ? straysIn(changes) : []
    return defined<Racer>({
      racer: this.racer,
      agent: this.agent,
      state: this.#stopped ? 'stopped' : outcome?.ok === true && !asks ? 'done' : 'failed',
      why: this.#stopped ? undefined : asks ? 'it asked a question instead of working' : failure?.message,
      files: [...(changes?.files ?? [])],
      tree: changes?.tree,
      strays: strays.length > 0 ? strays : undefined,
      checks: this.checks,
      denials: outcome?.ok === true && outcome.denials?.length ? outcome.denials : undefined,
      ms: this.#ms,
      tokens: this.#spent.tokens > 0 ? this.#spent.tokens : undefined,
      cost: this.#spent.cost,
      reply: outcome?.ok === true ? clipped(outcome.text, longestReply) : '',
      folder: (changes?.paths.length ?? 0) > 0 ? this.copy?.root : undefined,
    })
  }

  /** Removes the copy, or keeps it for a day. */
  async leave(keep: boolean): Promise<void> {
    if (keep) await this.copy?.keep()
    else await this.copy?.drop()
  }

  /** The failure that decides how a race without any result ends. */
  get failure(): Failure | undefined {
    return this.outcome && !this.outcome.ok ? this.outcome.failure : undefined
  }
}

/** The usage that an event reports, even if it comes from an agent that the racer consulted. */
function usageIn(event: Event): Usage[] {
  if (event.type === 'inner') return usageIn(event.event)
  return event.type === 'usage' ? [event] : []
}

function racerPrompt(request: string, lacks: string, checks: readonly string[]): string {
  const checked =
    checks.length === 0 ? '' : ` When you are done, this is run there to check your work: ${checks.join('; ')}.`
  return `${request}\n\nYour working folder is a copy of the project, for this request alone. ${lacks} Change nothing outside of it, and do not commit, stash or check out anything there. Nobody can answer a question now: decide yourself and do the work.${checked}`
}
