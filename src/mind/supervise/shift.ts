import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Order } from '../../core/work/task-source.ts'
import type { Supervised } from '../supervise.ts'
import type { Flight, Kept, ShiftParts } from './parts.ts'
import type { Rounds } from './rounds.ts'
import type { Over, Told } from './telling.ts'
import { newId } from '../../base/id.ts'
import { nonceOf } from '../../core/screen/fence.ts'
import { addUsage } from '../../core/work/budget.ts'
import { drain } from '../../base/relay.ts'
import { supervise } from '../supervise.ts'
import { usualPolicy } from './parts.ts'
import { report } from './report.ts'
import { goRounds } from './rounds.ts'
import { taken } from './taken.ts'
import { taskWords } from './words.ts'

/** How long one that was in a loop of its own may stand idle outside of it. */
const outsideMs = 30_000

/** Keeps one CLI at work until it is quit, given up, sent away or let go of: the workflow first, then task after task. */
export async function shift(parts: ShiftParts): Promise<Over> {
  return new Shift(parts).run()
}

/** A prompt that is to be taken as a turn: `flight` is one that another process sent. */
type Errand = { prompt: string; ticket?: string; flight?: Flight }

class Shift {
  #parts: ShiftParts
  #cli: Supervised
  #kept: Kept
  #ticket: string | undefined
  #standing: Told = { type: 'waiting' }
  #over: Over | undefined
  #looped = false
  /** Aborts what is under way: nothing is typed to stop a program that goes on without us. */
  #stop = new AbortController()

  constructor(parts: ShiftParts) {
    this.#parts = parts
    this.#kept = parts.kept ?? { spent: { tokens: 0 } }
    const { open, facts, clock, mask, tell, workflow, policy = usualPolicy } = parts
    const sending = ({ id, prompt }: Pick<Turn, 'id' | 'prompt'>) => this.#fly({ turn: id, prompt })
    const session = (key: string) => void this.#keep({ session: key }).catch(() => {})
    const supervision = { ...policy, clock, facts, mask, tell, opening: workflow, sending, session }
    this.#cli = supervise(open, supervision, this.#kept.session)
  }

  async run(): Promise<Over> {
    const { signal, tell } = this.#parts
    let leaving: Promise<void> | undefined
    const letGo = () => void (leaving = this.#letGo())
    signal.addEventListener('abort', letGo, { once: true })
    if (signal.aborted) letGo()
    const { flight } = this.#kept
    if (flight) await this.#takeUp(flight)
    else if (!this.#cli.blank) await this.#cli.start(this.#stop.signal, this.#ask)
    while (!this.#ended) await this.#next()
    signal.removeEventListener('abort', letGo)
    await (leaving ?? this.#cli.close())
    const over = this.#over ?? this.#cli.over!
    tell(over)
    return over
  }

  get #ended(): Over | undefined {
    return this.#over ?? this.#cli.over
  }

  async #letGo(): Promise<void> {
    this.#over ??= { type: 'left' }
    await (this.#parts.outlives ? this.#cli.leave() : this.#cli.close())
    this.#stop.abort()
  }

  async #next(): Promise<void> {
    if (this.#cli.blank) return this.#work({ prompt: this.#parts.workflow })
    const order = await this.#order()
    if (order.type === 'evict') this.#over ??= { type: 'evicted', why: order.why }
    else if (order.type === 'told') await this.#work({ prompt: order.text })
    else if (order.type === 'task') await this.#task(order)
  }

  /** Waits for an order, and sees to a CLI that leaves meanwhile. */
  async #order(): Promise<Order> {
    const { duty } = this.#parts
    const signal = this.#stop.signal
    this.#stand({ type: 'waiting' })
    if (this.#looped && (await this.#outside())) return { type: 'none' }
    for (;;) {
      const enough = new AbortController()
      const either = AbortSignal.any([signal, enough.signal])
      const leaves = this.#cli.ends(either)
      const orders = duty.next(either)
      await Promise.race([leaves, orders])
      enough.abort()
      const [ending, order] = await Promise.all([leaves, orders])
      if (ending && !signal.aborted) await this.#cli.revive(ending, signal, this.#ask)
      // What was given out in the same moment is not let go of.
      if (order.type !== 'none' || ending || signal.aborted) return order
    }
  }

  /** One that waited for work itself and does not any more is started again with the workflow. */
  async #outside(): Promise<boolean> {
    const signal = this.#stop.signal
    this.#looped = false
    if (!(await this.#cli.rests(outsideMs, signal)) || (await this.#parts.duty.waits())) return false
    await this.#cli.revive({ type: 'silent' }, signal, this.#ask)
    return true
  }

  async #task({ ticket, prompt, notes }: Order & { type: 'task' }): Promise<void> {
    const { duty, reporting, tell } = this.#parts
    // Before anything is typed: whoever does not have it does not do it.
    if ((await duty.ack(ticket, this.#stop.signal)) !== 'kept')
      return tell({ type: 'dropped', ticket, why: 'somebody else has it now' })
    await this.#work({ ticket, prompt: taskWords(prompt, notes, reporting?.(ticket)) })
  }

  /** What another process sent: looked for where its program lives, and gone on with where it does not. */
  async #takeUp(flight: Flight): Promise<void> {
    const { ticket, prompt } = flight
    const { duty, tell } = this.#parts
    const heard = ticket === undefined ? 'kept' : await duty.progress(ticket, 'taken up again', this.#stop.signal)
    if (heard === 'kept') return this.#work({ prompt, flight, ...(ticket === undefined ? {} : { ticket }) })
    if (heard === 'lost') tell({ type: 'dropped', ticket: ticket!, why: 'somebody else has it now' })
    await this.#fly(undefined)
  }

  async #work({ prompt, ticket, flight }: Errand): Promise<void> {
    const { duty, clock } = this.#parts
    const over = new AbortController()
    const stop = new AbortController()
    const rounds: Rounds = { looped: this.#looped }
    let last = ''
    const words = () => last.trim().split('\n').at(-1)!.slice(-200) || 'at work'
    const signal = AbortSignal.any([this.#stop.signal, over.signal])
    const round = { duty, clock, words, signal, ...(ticket === undefined ? {} : { ticket }) }
    const walking = goRounds(rounds, round, () => stop.abort())
    this.#ticket = ticket
    this.#stand({ type: 'working', ...(ticket === undefined ? {} : { ticket }) })
    const turn = this.#turn(prompt, flight, AbortSignal.any([this.#stop.signal, stop.signal]))
    const outcome = await drain(taken(this.#cli, turn, this.#parts), (event) => {
      if (event.type === 'text') last = (last + event.delta).slice(-2_000)
      this.#see(event)
    })
    over.abort()
    await walking
    this.#looped = rounds.looped
    this.#ticket = undefined
    await this.#land(outcome, ticket, rounds.lost)
  }

  #turn(prompt: string, flight: Flight | undefined, signal: AbortSignal): Turn {
    const { cwd, leash, clock, budget } = this.#parts
    const sent = flight ? { sent: nonceOf(flight.turn) } : {}
    const id = flight?.turn ?? newId(clock.now())
    const empty = { history: [], attempts: [], steered: [], steer: async () => [] }
    return { ...empty, id, prompt, ...sent, cwd, leash, signal, clock, ask: this.#ask, budget }
  }

  #see(event: Event): void {
    if (event.type !== 'usage') return
    const { used, duty } = this.#parts
    used?.(event)
    const spent = addUsage(this.#kept.spent, event)
    duty.spent(spent)
    void this.#keep({ spent }).catch(() => {})
  }

  /** What a turn came to, told where it came from; what was let go of is still on its way. */
  async #land(outcome: Outcome, ticket: string | undefined, lost: string | undefined): Promise<void> {
    const { duty, tell, status } = this.#parts
    const over = this.#ended
    if (over?.type === 'left' || over?.type === 'quit') return
    if (ticket !== undefined && lost !== undefined) tell({ type: 'dropped', ticket, why: lost })
    else if (ticket !== undefined) tell(await report(outcome, ticket, { duty, status, signal: this.#stop.signal }))
    await this.#fly(undefined)
  }

  /** What it is at, told again when something came between. */
  #stand(standing: Told): void {
    this.#standing = standing
    this.#parts.tell(standing)
  }

  #ask: Ask = async (question, withdrawn, id) => {
    const { ask, tell } = this.#parts
    // What is out of quota is parked by us, and nobody need be there for that.
    if (question.about === 'quota') return undefined
    tell({ type: 'asking', question })
    const picks = await ask(question, withdrawn, id)
    if (!this.#ended) tell(this.#standing)
    return picks
  }

  #fly(flight: Omit<Flight, 'ticket'> | undefined): Promise<void> {
    if (flight) return this.#keep({ flight: { ...flight, ...(this.#ticket ? { ticket: this.#ticket } : {}) } })
    const { flight: _, ...kept } = this.#kept
    this.#kept = kept
    return this.#parts.keep(kept)
  }

  #keep(part: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...part }
    return this.#parts.keep(this.#kept)
  }
}
