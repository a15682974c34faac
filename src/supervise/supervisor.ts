import type { Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { TicketState, WorkOrder } from '../hub/model/tasks/task-source.ts'
import type { RecoveringAgent } from './recovering-agent.ts'
import type { Flight, SupervisedState, SupervisionEnd, SupervisionEvent, SupervisorParts } from './supervision.ts'
import { callAfter } from '../base/time/clock.ts'
import { defined } from '../base/defined.ts'
import { newId } from '../base/id.ts'
import { drain } from '../base/relay.ts'
import { nonceOf } from '../core/screen/fence.ts'
import { answerWords, failed } from '../core/talk/outcome.ts'
import { addUsage } from '../core/work/budget.ts'
import { take } from '../core/work/verbs.ts'
import { defaultRestartPolicy } from './restart-policy.ts'
import { recoveringAgent } from './recovering-agent.ts'
import { taskPrompt } from './supervisor-prompts.ts'

/** A CLI that polled for work itself is restarted after being idle for this long. */
const idleMs = 30_000

/** How often the supervisor checks whether the CLI itself polls for work; every tenth time it reports progress on the task. */
const tickMs = 60_000
const progressEvery = 10

const lostToAnother = 'another agent has it now'

/** Keeps one CLI running until it is quit, given up, evicted or left: the workflow first, then task after task. */
export async function superviseCli(parts: SupervisorParts): Promise<SupervisionEnd> {
  return new Supervisor(parts).run()
}

/** A prompt to run as a turn; `flight` is set if an earlier process sent it. */
type Job = { prompt: string; ticket?: string; flight?: Flight }

class Supervisor {
  #parts: SupervisorParts
  #cli: RecoveringAgent
  #state: SupervisedState
  #ticket: string | undefined
  #status: SupervisionEvent = { type: 'waiting' }
  #over: SupervisionEnd | undefined
  /** Whether the CLI was seen to poll for work itself. */
  #polled = false
  /** How many consecutive answers were read from the screen, although the CLI has a session file for them. */
  #unwritten = 0
  /** Aborts the running work: no key is typed to stop a program that continues without termaite. */
  #stop = new AbortController()

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#state = parts.kept ?? { spent: { tokens: 0 } }
    const { open, facts, clock, mask, tell, workflow, policy = defaultRestartPolicy } = parts
    const sending = ({ id, prompt }: Pick<Turn, 'id' | 'prompt'>) =>
      this.#keep({ flight: defined({ turn: id, prompt, ticket: this.#ticket }) })
    // If the session key cannot be stored, the session cannot be resumed, but no work is lost.
    const session = (key: string) => {
      this.#keep({ session: key }).catch(() => {})
    }
    const supervision = { ...policy, clock, facts, mask, tell, opening: workflow, sending, session }
    this.#cli = recoveringAgent(open, supervision, this.#state.session)
  }

  async run(): Promise<SupervisionEnd> {
    const { signal, tell } = this.#parts
    let leaving: Promise<void> | undefined
    const leave = () => {
      leaving = this.#leave()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    const { flight } = this.#state
    if (flight) await this.#takeUp(flight)
    else if (!this.#cli.blank) await this.#cli.start(this.#stop.signal, this.#ask)
    let end: SupervisionEnd | undefined
    while (!(end = this.#end)) await this.#next()
    signal.removeEventListener('abort', leave)
    await (leaving ?? this.#cli.close())
    tell(end)
    return end
  }

  get #end(): SupervisionEnd | undefined {
    return this.#over ?? this.#cli.over
  }

  async #leave(): Promise<void> {
    this.#over ??= { type: 'left' }
    await (this.#parts.outlives ? this.#cli.leave() : this.#cli.close())
    this.#stop.abort()
  }

  /** Continues with a prompt that an earlier process sent: it is watched if its program is alive, repeated if not. */
  async #takeUp(flight: Flight): Promise<void> {
    const { ticket, prompt } = flight
    if (ticket === undefined) return this.#work({ prompt, flight })
    const state = await this.#parts.taskSource.progress(ticket, 'resumed after a restart', this.#stop.signal)
    if (state === 'kept') return this.#work({ prompt, flight, ticket })
    if (state === 'lost') this.#parts.tell({ type: 'dropped', ticket, why: lostToAnother })
    await this.#landed()
  }

  async #next(): Promise<void> {
    if (this.#cli.blank) return this.#work({ prompt: this.#parts.workflow })
    const order = await this.#nextOrder()
    if (order.type === 'evict') this.#over ??= { type: 'evicted', why: order.why }
    else if (order.type === 'refused') this.#over ??= { type: 'gave-up', why: order.why }
    else if (order.type === 'told') await this.#work({ prompt: order.text })
    else if (order.type === 'task') await this.#doTask(order)
  }

  /** Waits for an order, and recovers a CLI that exits in the meantime. */
  async #nextOrder(): Promise<WorkOrder> {
    const { taskSource } = this.#parts
    const signal = this.#stop.signal
    this.#tell({ type: 'waiting' })
    if (this.#polled && (await this.#restartedPolling())) return { type: 'none' }
    // If a new program does not record its answers either, the cause is different, and the program is left alone.
    if (this.#unwritten === 1) {
      this.#unwritten++
      await this.#cli.revive({ type: 'unwritten' }, signal, this.#ask)
      return { type: 'none' }
    }
    for (;;) {
      const enough = new AbortController()
      const either = AbortSignal.any([signal, enough.signal])
      const ends = this.#cli.ends(either)
      const orders = taskSource.next(either)
      await Promise.race([ends, orders])
      enough.abort()
      const [ending, order] = await Promise.all([ends, orders])
      if (ending && !signal.aborted) await this.#cli.revive(ending, signal, this.#ask)
      // An order that was given out at the same moment must not be lost.
      if (order.type !== 'none' || ending || signal.aborted) return order
    }
  }

  /** Restarts a CLI that stopped polling for work with its workflow prompt. */
  async #restartedPolling(): Promise<boolean> {
    const signal = this.#stop.signal
    this.#polled = false
    if (!(await this.#cli.rests(idleMs, signal)) || (await this.#parts.taskSource.cliPolls())) return false
    await this.#cli.revive({ type: 'silent' }, signal, this.#ask)
    return true
  }

  async #doTask({ ticket, prompt, notes }: WorkOrder & { type: 'task' }): Promise<void> {
    const { taskSource, reporting, tell } = this.#parts
    // The task is claimed before anything is typed: an agent only works on a task that it has.
    const start = await taskSource.ack(ticket, this.#stop.signal)
    if (typeof start === 'object') {
      tell({ type: 'dropped', ticket, why: 'it went back to the queue' })
      this.#over ??= { type: 'gave-up', why: start.unready }
      return
    }
    if (start === 'moved') await this.#cli.revive({ type: 'homeless' }, this.#stop.signal, this.#ask)
    else if (start !== 'kept') return tell({ type: 'dropped', ticket, why: lostToAnother })
    await this.#work({ ticket, prompt: taskPrompt(prompt, notes, reporting?.(ticket)) })
  }

  async #work({ prompt, ticket, flight }: Job): Promise<void> {
    const over = new AbortController()
    const stop = new AbortController()
    let lost: string | undefined
    let last = ''
    const lose = (why: string) => {
      lost ??= why
      stop.abort()
    }
    const lastLine = () => (last.trim().split('\n').at(-1) ?? '').slice(-200) || 'at work'
    const watching = this.#watchTask(ticket, lastLine, lose, AbortSignal.any([this.#stop.signal, over.signal]))
    this.#ticket = ticket
    this.#tell(defined({ type: 'working', ticket }))
    const turn = this.#turn(prompt, flight, AbortSignal.any([this.#stop.signal, stop.signal]))
    const outcome = await drain(keptTurn(this.#cli, turn, this.#parts), (event) => {
      if (event.type === 'text') last = (last + event.delta).slice(-2_000)
      this.#countUsage(event)
    })
    over.abort()
    await watching
    this.#ticket = undefined
    await this.#finish(outcome, ticket, lost)
  }

  /** Runs during a turn until the signal aborts: notes whether the CLI polls, reports progress, and calls `lose` if the task is lost. */
  async #watchTask(
    ticket: string | undefined,
    lastLine: () => string,
    lose: (why: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { taskSource, clock } = this.#parts
    const ticking = async () => {
      for (let tick = 1; ; tick++) {
        await clock.sleep(tickMs, signal)
        if (signal.aborted) return
        this.#polled ||= await taskSource.cliPolls()
        if (ticket === undefined || tick % progressEvery !== 0 || signal.aborted) continue
        if ((await taskSource.progress(ticket, lastLine(), signal)) === 'lost')
          lose(`it was cancelled, or ${lostToAnother}`)
      }
    }
    const revoking = async () => {
      const why = ticket === undefined ? undefined : await taskSource.revoked?.(ticket, signal)
      if (why !== undefined && !signal.aborted) lose(why)
    }
    await Promise.all([ticking(), revoking()])
  }

  #turn(prompt: string, flight: Flight | undefined, signal: AbortSignal): Turn {
    const { cwd, leash, clock, budget } = this.#parts
    const id = flight?.turn ?? newId(clock.now())
    const sent = flight && nonceOf(flight.turn)
    const empty = { history: [], attempts: [], steered: [], steer: async () => [] }
    return { ...empty, id, prompt, sent, cwd, leash, signal, clock, ask: this.#ask, budget, attended: true }
  }

  #countUsage(event: Event): void {
    if (event.type !== 'usage') return
    const { used, taskSource } = this.#parts
    used?.(event)
    const spent = addUsage(this.#state.spent, event)
    taskSource.reportUsage(spent)
    // A failed write does no harm: the next change writes the same total.
    this.#keep({ spent }).catch(() => {})
  }

  /** Reports a turn's outcome to its source; a turn that was left or quit is still on its way. */
  async #finish(outcome: Outcome, ticket: string | undefined, lost: string | undefined): Promise<void> {
    const end = this.#end
    if (end?.type === 'left' || end?.type === 'quit') return
    if (ticket !== undefined && lost !== undefined) {
      await this.#parts.taskSource.abandoned?.(ticket, lost, this.#stop.signal)
      this.#parts.tell({ type: 'dropped', ticket, why: lost })
    } else if (ticket !== undefined) this.#parts.tell(await this.#report(outcome, ticket))
    await this.#landed()
  }

  /** Reports a task's result, unless the agent itself has done that. */
  async #report(outcome: Outcome, ticket: string): Promise<SupervisionEvent> {
    const { taskSource, status = 'COMPLETED' } = this.#parts
    const signal = this.#stop.signal
    if (outcome.ok && outcome.asks !== undefined) {
      const state = await taskSource.block(ticket, outcome.text, signal)
      if (state === 'kept') return { type: 'blocked', ticket, question: outcome.text }
      return doneEvent(state, ticket, true, outcome.text)
    }
    const isWritten = outcome.ok && outcome.seen?.fenced !== false
    if (outcome.ok) this.#unwritten = isWritten || !this.#parts.facts.journal ? 0 : this.#unwritten + 1
    const ok = outcome.ok && !outcome.refused
    const message = outcome.ok ? answerWords(this.#cli.name, outcome.text, isWritten) : outcome.failure.message
    const state = await taskSource.respond(ticket, { status: ok ? status : 'FAILED', message }, signal)
    if (typeof state === 'object') return { type: 'blocked', ticket, question: state.blocked }
    return doneEvent(state, ticket, ok, message)
  }

  /** Reports a status, and reports it again after a question. */
  #tell(status: SupervisionEvent): void {
    this.#status = status
    this.#parts.tell(status)
  }

  #ask: Ask = async (question, withdrawn, id) => {
    const { ask, tell } = this.#parts
    // The supervisor itself waits until the quota is back, so the person need not be asked.
    if (question.about === 'quota') return undefined
    const isSilence = question.about === 'silence'
    const put = isSilence ? silenceQuestion(question, this.#silenceMs) : question
    tell({ type: 'asking', question: put })
    const picks = isSilence ? await this.#withinTime(put, withdrawn) : await ask(put, withdrawn, id)
    if (!this.#end) tell(this.#status)
    return picks
  }

  get #silenceMs(): number {
    return this.#parts.silenceMs ?? 5 * 60_000
  }

  /** Asks what to do with a silent program. Without an answer in time it is restarted, because nobody may be watching. */
  async #withinTime(question: Question, withdrawn: AbortSignal): Promise<string[] | undefined> {
    const { ask, clock } = this.#parts
    const late = new AbortController()
    callAfter(clock, this.#silenceMs, AbortSignal.any([late.signal, withdrawn]), () => late.abort())
    const picks = await ask(question, AbortSignal.any([withdrawn, late.signal]))
    late.abort()
    return picks ?? (withdrawn.aborted ? undefined : [restartPick])
  }

  /** The prompt on its way has arrived: no later process needs to continue with it. */
  #landed(): Promise<void> {
    return this.#keep({ flight: undefined })
  }

  #keep(part: Partial<SupervisedState>): Promise<void> {
    this.#state = defined({ ...this.#state, ...part })
    return this.#parts.keep(this.#state)
  }
}

/** The option of a question about silence that stops the program; the supervision then restarts it. */
const restartPick = 'switch'

/** A question about silence, worded for a supervision: no other agent takes over, and the task is not stopped. */
function silenceQuestion(question: Question, ms: number): Question {
  const labels: Readonly<Record<string, string>> = { [restartPick]: 'Restart the program in its session' }
  const options = question.options.filter(({ id }) => id !== 'stop')
  return {
    ...question,
    text: `${question.text} It is restarted in ${Math.round(ms / 1000)} s unless you decide otherwise.`,
    options: options.map((option) => ({ ...option, label: labels[option.id] ?? option.label })),
  }
}

function doneEvent(state: TicketState, ticket: string, ok: boolean, message: string): SupervisionEvent {
  if (state === 'lost') return { type: 'dropped', ticket, why: lostToAnother }
  return { type: 'done', ticket, ok, by: state === 'settled' ? 'agent' : 'supervisor', message }
}

/** A turn of the CLI, stored in the conversation if there is one. */
async function* keptTurn(
  cli: Agent,
  turn: Turn,
  { conversation, outlives, signal: left }: Pick<SupervisorParts, 'conversation' | 'outlives' | 'signal'>,
): AsyncGenerator<Event, Outcome> {
  if (!conversation) return yield* take(cli, turn)
  const { prompt, cwd, leash, signal, ask, budget, attended } = turn
  const world = { cwd, leash, signal, ask, budget, attended, left: outlives ? left : undefined }
  let outcome: Outcome = failed('aborted', 'cancelled')
  for await (const event of conversation.converse(ownMemory(cli, turn), prompt, world))
    if (event.type === 'end') outcome = event.outcome
    else yield event
  // A turn that was done but could not be stored counts as done.
  return !outcome.ok && outcome.unkept ? { ok: true, ...outcome.unkept } : outcome
}

/** The CLI, called without a history, because it remembers its own; a prompt of an earlier process is recognized by its mark. */
function ownMemory(cli: Agent, { id, sent }: Turn): Agent {
  return {
    name: cli.name,
    traits: cli.traits,
    async *turn(kept) {
      const marked = sent === undefined ? kept : { ...kept, id, sent }
      yield { type: 'end', outcome: yield* take(cli, { ...marked, history: [] }) }
    },
    close: () => cli.close(),
  }
}
