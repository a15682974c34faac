import type { Exit, Terminal } from '../core/screen/terminal.ts'
import type { Entry, Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Question } from '../core/talk/question.ts'
import type { Blobs, Ref } from '../core/talk/store.ts'
import type { Agent } from '../core/work/agent.ts'
import { heldLeash } from '../core/work/agent.ts'
import type { KeeperParts } from './crew-parts.ts'
import type { TurnResult } from './slot-moves.ts'
import type { Flight, LastTurn, LivingSlot, Send, Slot } from './slot.ts'
import { Channel } from '../base/channel.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { newId } from '../base/id.ts'
import { nonceOf } from '../core/screen/fence.ts'
import { StoreError } from '../core/talk/store.ts'
import { turnQuestions } from '../core/talk/turn-questions.ts'
import { Conversation } from '../core/work/conversation.ts'
import { answeredSlot, keepArtifact, withArtifacts } from './artifact.ts'
import { interruptedTurn } from './interrupted-turn.ts'
import { announceTurns, openSlotAgent, showsWork, slotAsk, titleOf } from './slot-agent.ts'
import { endSlot, lastScreen } from './slot-ending.ts'
import { patientStore } from './patient-store.ts'
import { blobsOf, logOf, shownOf, SlotLedger } from './slot-ledger.ts'
import {
  closeMessages,
  seenAtWork,
  settleSlot,
  turnBegun,
  withNotice,
  withoutQuestions,
  withoutSend,
  withPlace,
} from './slot-moves.ts'
import { isGone } from './slot.ts'
import { WorkerTurn } from './worker-turn.ts'

const retryMs = 1_000

const flightOf = ({ id }: Send): Flight => ({ turn: id, mark: nonceOf(id) })

/** Runs one slot in its keeper: prepares it, then runs turn after turn until the agent ends or the keeper leaves. */
export class SlotRunner {
  readonly done: Promise<void>
  #id: number
  #parts: KeeperParts
  #ledger: SlotLedger
  #blobs: Blobs
  #conversation: Conversation
  #agent: Agent | undefined
  #stop = new AbortController()
  #left = new AbortController()
  #news = new Channel<void>(1)
  #heard = this.#news[Symbol.asyncIterator]()
  #watched: Terminal | undefined
  #exit: Exit | undefined
  #closing: Promise<Ref | undefined> | undefined
  /** Whether this runner has opened the agent: if the agent still has no terminal then, it never gets one. */
  #used = false
  /** Whether the slot had no terminal when this runner began. */
  #fresh = false
  #taken = false
  /** The prompt of the running turn, or of the turn that is about to begin. */
  #sending: Send | undefined
  /** The running turn of a worker. */
  #work: WorkerTurn | undefined

  constructor(slot: LivingSlot, parts: KeeperParts) {
    const { workspace, clock, owner, alive } = parts
    // A command that stops or leaves the agent does not wait for a failing store.
    const store = patientStore(parts.store, clock, AbortSignal.any([this.#stop.signal, this.#left.signal]))
    this.#id = slot.id
    this.#parts = { ...parts, store }
    this.#ledger = new SlotLedger(store, workspace, clock)
    this.#blobs = blobsOf(store, workspace)
    const log = logOf(store, workspace, slot.id)
    const shown = (turn: string) => shownOf(store, workspace, turn)
    this.#conversation = new Conversation({
      log,
      blobs: this.#blobs,
      session: slot.session,
      clock,
      owner,
      alive,
      shown,
    })
    // If not even the end can be stored, the keeper does not try again at once.
    this.done = this.#run(slot).catch((error) =>
      this.#broken(error).catch(() => clock.sleep(retryMs, this.#left.signal)),
    )
  }

  /** Ends the slot after an error. A failing store is not the agent's fault: the next runner continues with the slot. */
  async #broken(error: unknown): Promise<void> {
    if (!(error instanceof StoreError)) return this.#end('failed', messageOf(error))
    if (this.#stop.signal.aborted) await this.#close()
    throw error
  }

  /** Makes the runner check its slot again. */
  nudge(): void {
    this.#news.offer()
  }

  /** Ends the agent with its terminal. Its turn is not asked to stop first, which would only take time. */
  kill(): void {
    this.#stop.abort()
    this.nudge()
    // The closing is not awaited here, because the end of the slot awaits it.
    void this.#close()
  }

  /** Leaves the agent to the next keeper, or stops it if its terminal does not outlive this process. */
  async leave(): Promise<void> {
    if (this.#parts.outlives() && (!this.#agent || this.#agent.leave)) {
      this.#left.abort()
      this.nudge()
      await this.#agent?.leave?.()
    } else this.kill()
    await this.done
  }

  async #run(found: LivingSlot): Promise<void> {
    await this.#prepare(found)
    for (;;) {
      const slot = await this.#ledger.slot(this.#id)
      if (!slot || isGone(slot) || slot.owner !== this.#parts.owner || this.#left.signal.aborted) return
      if (slot.wish) this.kill()
      if (this.#stop.signal.aborted)
        await this.#end('exited', slot.wish ? 'killed' : 'termaite stopped, and its terminals stopped with it')
      else if (this.#exit) await this.#exited(slot, this.#exit)
      else if (slot.flight) await this.#takeUp(slot, slot.flight)
      else if (slot.queue[0]) await this.#next(slot, slot.queue[0])
      else if (slot.state === 'starting') await this.#ready(slot)
      else if (await this.#lives(slot)) await this.#heard.next()
      else await this.#end('exited', 'its terminal was closed')
    }
  }

  /** Removes leftovers of a dead process: questions that nobody asks any more, and a prompt that was stored and never sent. */
  async #prepare(found: LivingSlot): Promise<void> {
    const { flight, worktree, cwd, worker } = found
    this.#fresh = (await this.#find(found)) === undefined
    const begun = flight ? undefined : await this.#begun(found)
    if (begun) await this.#edit((slot) => turnBegun(slot, begun, flightOf(begun)))
    else if (!flight) await this.#conversation.settle()
    await this.#edit((slot) => (slot.state === 'asking' ? withoutQuestions(slot) : slot))
    const { worktrees, host } = this.#parts
    const given = worker && !flight && !begun ? await host?.begin?.({ ...found, worker }, this.#stop.signal) : undefined
    if (given) await this.#edit((slot) => withPlace(slot, given))
    if (!worktree || worktree.made) return
    if (!worktrees) throw new Error('a worktree needs a git repository, but this project is not one')
    const made = await worktrees.make(worktree, cwd)
    await this.#edit((slot) => ({ ...slot, cwd: made.cwd, worktree: made.worktree }))
    for (const text of made.notes) await this.#conversation.append({ type: 'note', text }, 'termaite')
  }

  /** The queued prompt that a dead process had stored in the log, but not marked as under way: its turn continues. */
  async #begun({ queue: [send] }: LivingSlot): Promise<Send | undefined> {
    const { entries } = send ? await this.#conversation.read() : { entries: [] }
    return entries.some(({ type, turn }) => type === 'prompt' && turn === send?.id) ? send : undefined
  }

  #open(slot: LivingSlot): Agent {
    this.#used = true
    return (this.#agent ??= openSlotAgent(this.#parts.roster, slot))
  }

  /** Starts the agent, before its first prompt. */
  async #ready(slot: LivingSlot): Promise<void> {
    const { clock, store, workspace } = this.#parts
    const agent = this.#open(slot)
    const turn = newId(clock.now())
    const keep = async (event: Event, by: string) => {
      if (!this.#left.signal.aborted) await this.#conversation.append(event as Entry, by, turn)
    }
    const log = logOf(store, workspace, this.#id)
    const person = slotAsk(this.#questions, turn)
    const questions = turnQuestions({ log, clock, turn, person, complete: this.#complete(slot), keep })
    const signal = AbortSignal.any([this.#stop.signal, this.#left.signal])
    const failure = await agent.start?.(signal, questions.ask)
    await questions.close()
    if (!signal.aborted) await this.#settle(failure)
  }

  async #next(slot: LivingSlot, send: Send): Promise<void> {
    const text = await withArtifacts(send.text, slot, {
      answered: (id) => answeredSlot(this.#parts, this.#ledger, id),
      mask: this.#parts.mask,
    })
    // The flight is stored before anything is typed.
    const takeOff = () => this.#edit((slot) => turnBegun(slot, send, flightOf(send)))
    const agent = announceTurns(this.#open(slot), takeOff)
    this.#sending = send
    await this.#follow(this.#conversation.converse(agent, text, this.#world(slot), send.id))
  }

  /** Continues a turn that another process left unfinished. */
  async #takeUp(slot: LivingSlot, flight: Flight): Promise<void> {
    const { entries } = await this.#conversation.read()
    const terminal = await this.#find(slot)
    const found = await interruptedTurn(flight, entries, terminal, this.#parts.outlives())
    if ('over' in found) return this.#land(flight.turn, found.over)
    this.#taken = flight.taken === true
    const agent = announceTurns(this.#open(slot), async () => {})
    await this.#follow(this.#conversation.takeUp(agent, flight.turn, this.#world(slot), found.sent))
  }

  #world(slot: LivingSlot) {
    const { cwd, worker } = slot
    this.#work = worker && new WorkerTurn({ ...slot, worker }, this.#parts.host, this.#parts.clock)
    const { late, budget } = this.#work ?? {}
    return {
      cwd,
      // The leash from the agent's own settings applies too; the roster knows it.
      leash: heldLeash('all', slot),
      signal: late ? AbortSignal.any([this.#stop.signal, late]) : this.#stop.signal,
      left: this.#left.signal,
      ask: slotAsk(this.#questions),
      complete: this.#complete({ cwd }),
      budget,
      steer: worker && ((until?: AbortSignal) => this.#typed(until)),
    }
  }

  /** Gives the agent the prompts that came during the turn; with a signal, waits for one. */
  async #typed(until?: AbortSignal): Promise<string[]> {
    let texts: string[] = []
    const take = () =>
      this.#edit((slot) => {
        texts = slot.flight ? slot.queue.map(({ text }) => text) : []
        return slot.flight && texts.length > 0 ? { ...slot, queue: [] } : slot
      })
    await take()
    if (!until || texts.length > 0) return texts
    for await (const _ of this.#ledger.watch(until)) {
      await take()
      if (texts.length > 0) break
    }
    return texts
  }

  #complete({ cwd }: Pick<LivingSlot, 'cwd'>) {
    const { complete } = this.#parts
    return complete && ((question: Question) => complete(question, cwd))
  }

  async #follow(events: AsyncGenerator<Event>): Promise<void> {
    for await (const event of events) {
      if (event.type === 'end') await this.#land((event as Entry).turn, event.outcome)
      else await this.#see(event)
    }
    this.#taken = false
  }

  async #see(event: Event): Promise<void> {
    if (event.type === 'prompt') return
    this.#work?.see(event)
    if (event.type === 'notification') await this.#edit((slot) => withNotice(slot, event))
    if (event.type === 'thread') await this.#edit((slot) => ({ ...slot, thread: event.key }))
    if (this.#taken || !showsWork(event)) return
    this.#taken = true
    const slot = await this.#edit(seenAtWork)
    if (slot) await this.#lives(slot)
  }

  async #land(turn: string, outcome: Outcome): Promise<void> {
    const [work, sending] = [this.#work, this.#sending]
    this.#work = undefined
    this.#sending = undefined
    if (sending) await this.#edit((slot) => withoutSend(slot, sending))
    if (work && !this.#left.signal.aborted) return this.#handOver(work, turn, outcome)
    work?.leave()
    if (!outcome.ok) return this.#settle(outcome.failure, { last: { turn, failure: outcome.failure } })
    const { seen } = outcome
    const artifact = await keepArtifact(this.#blobs, turn, outcome, seen)
    await this.#settle(undefined, { last: defined({ turn, by: seen?.by }), artifact })
  }

  /** Stores the envelope of a worker, and ends the worker unless it got another prompt in the meantime. */
  async #handOver(work: WorkerTurn, turn: string, outcome: Outcome): Promise<void> {
    const slot = await this.#edit((slot) => (this.#stop.signal.aborted ? slot : closeMessages(slot)))
    const over = slot?.worker?.landed === true || this.#stop.signal.aborted
    // No process of the worker may change files while its work is joined into the project.
    if (over) await this.#close()
    const envelope = await work.end(outcome, this.#blobs, over ? this.#stop.signal : undefined)
    const last: LastTurn = outcome.ok ? { turn } : { turn, failure: outcome.failure }
    const now = await this.#edit((slot) => {
      const worker = slot.worker && { ...slot.worker, envelope }
      return this.#stop.signal.aborted
        ? { ...slot, last, worker }
        : { ...settleSlot(slot, { last }, undefined), worker }
    })
    if (!now || this.#stop.signal.aborted || now.state === 'busy') return
    await this.#end(outcome.ok ? 'exited' : 'failed', outcome.ok ? 'done' : outcome.failure.message)
  }

  /** Notes that the agent is ready or its turn is over; an agent that failed and has no terminal counts as exited. */
  async #settle(failure: Failure | undefined, result: TurnResult = {}): Promise<void> {
    const slot = await this.#edit((slot) =>
      // The state of an agent that is being killed changes only once, when it has exited.
      this.#stop.signal.aborted ? { ...slot, ...result } : settleSlot(slot, result, failure?.message),
    )
    if (!slot || this.#stop.signal.aborted) return
    await this.#retitle(slot)
    await this.#lives(slot)
    if (failure && !this.#watched) await this.#end('failed', failure.message)
  }

  async #find({ terminal }: Slot): Promise<Terminal | undefined> {
    return terminal && this.#parts.find(terminal.id)
  }

  /** Whether the agent has its terminal, which is watched from now on. */
  async #lives(slot: Slot): Promise<boolean> {
    const terminal = this.#agent?.terminal ?? (await this.#find(slot))
    if (!terminal) return this.#used
    if (terminal.id === this.#watched?.id) return true
    this.#watched = terminal
    if (this.#fresh) this.#parts.opened?.(slot)
    this.#fresh = false
    await this.#retitle(slot)
    // The exit nudges the runner, so this does not wait.
    void terminal.exited.then((exit) => {
      this.#exit = exit
      this.nudge()
    })
    return true
  }

  async #exited(slot: LivingSlot, { code, signal }: Exit): Promise<void> {
    if (slot.state === 'failed') return this.#end('failed', slot.why)
    await this.#end('exited', code === undefined ? `killed by signal ${signal}` : `exited with code ${code}`)
  }

  #questions = {
    edit: (change: (slot: LivingSlot) => LivingSlot) => this.#edit(change),
    shown: (slot: Slot) => this.#retitle(slot),
    left: this.#left.signal,
  }

  async #retitle(slot: Slot): Promise<void> {
    const terminal = this.#agent?.terminal ?? this.#watched
    await terminal?.retitle(titleOf(slot), slot.state === 'asking').catch(() => {})
  }

  /** Closes the agent, once; its last screen is stored before its terminal is closed. */
  #close(): Promise<Ref | undefined> {
    return (this.#closing ??= (async () => {
      const screen = await lastScreen(this.#agent?.terminal ?? this.#watched, this.#blobs).catch(() => undefined)
      await this.#agent?.close().catch(() => {})
      return screen
    })())
  }

  async #end(state: 'exited' | 'failed', why: string): Promise<void> {
    const screen = await this.#close()
    await endSlot(this.#parts, this.#ledger, this.#id, { state, why, screen })
  }

  /** Changes the slot while its agent lives and this process owns it. */
  #edit(change: (slot: LivingSlot) => LivingSlot): Promise<Slot | undefined> {
    return this.#ledger.edit(this.#id, (slot) =>
      isGone(slot) || slot.owner !== this.#parts.owner ? undefined : change(slot),
    )
  }
}
