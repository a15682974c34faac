import type { Exit, Terminal } from '../core/screen/terminal.ts'
import type { Entry, Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Ref, Blobs } from '../core/talk/store.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { Ledger } from './ledger.ts'
import type { KeeperParts } from './parts.ts'
import type { Send, Slot } from './slot.ts'
import { Channel } from '../base/channel.ts'
import { newId } from '../base/id.ts'
import { messageOf } from '../base/error-message.ts'
import { nonceOf } from '../core/screen/fence.ts'
import { Conversation } from '../core/work/conversation.ts'
import { turnQuestions } from '../core/talk/turn-questions.ts'
import { keepArtifact } from './artifact.ts'
import { asksOf } from './asks.ts'
import { ending, lastScreen } from './ending.ts'
import { filled } from './filled.ts'
import { blobsOf, logOf } from './kept.ts'
import { leftTurn } from './left.ts'
import { announced, seatOf, showsWork, titleOf } from './seat.ts'
import { isOver } from './slot.ts'

/** So seldom is it kept that an agent at work showed life. */
const lifeMs = 15_000

const againMs = 1_000

/** One slot in the process that carries it: made ready, then turn after turn, until it is gone or let go of. */
export class Carrier {
  readonly done: Promise<void>
  #id: number
  #parts: KeeperParts
  #ledger: Ledger
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
  /** Whether this seat was in use here: one without a terminal never had one then. */
  #used = false
  #taken = false
  #seenAt = 0

  constructor(slot: Slot, parts: KeeperParts, ledger: Ledger) {
    const { store, workspace, clock, owner, alive } = parts
    this.#id = slot.id
    this.#parts = parts
    this.#ledger = ledger
    this.#blobs = blobsOf(store, workspace)
    const log = logOf(store, workspace, slot.id)
    this.#conversation = new Conversation({ log, blobs: this.#blobs, session: slot.session, clock, owner, alive })
    // Where not even its end can be kept, the next try is not made at once.
    this.done = this.#carry(slot).catch((error) =>
      this.#end('failed', messageOf(error)).catch(() => clock.sleep(againMs, this.#left.signal)),
    )
  }

  /** There is something for it to look at. */
  nudge(): void {
    this.#news.offer()
  }

  /** Its turn is not asked to stop first, which would only take time: its terminal goes with it. */
  kill(): void {
    this.#stop.abort()
    this.nudge()
    void this.#close()
  }

  /** What would not outlive us is ended. */
  async leave(): Promise<void> {
    if (this.#parts.outlives() && (!this.#agent || this.#agent.leave)) {
      this.#left.abort()
      this.nudge()
      await this.#agent?.leave?.()
    } else this.kill()
    await this.done
  }

  async #carry(found: Slot): Promise<void> {
    await this.#prepare(found)
    for (;;) {
      const slot = await this.#ledger.slot(this.#id)
      if (!slot || slot.owner !== this.#parts.owner || isOver(slot) || this.#left.signal.aborted) return
      if (slot.wish) this.kill()
      if (this.#stop.signal.aborted) await this.#end('exited', slot.wish ? 'killed' : 'it ended with its keeper')
      else if (this.#exit) await this.#gone(slot, this.#exit)
      else if (slot.flight) await this.#takeUp(slot)
      else if (slot.queue[0]) await this.#next(slot, slot.queue[0])
      else if (slot.state === 'starting') await this.#ready(slot)
      else if (await this.#lives(slot)) await this.#heard.next()
      else await this.#end('exited', 'its terminal is gone')
    }
  }

  /** Clears what a dead process left half done: questions to nobody, a prompt that was kept and never sent. */
  async #prepare({ flight, worktree, cwd }: Slot): Promise<void> {
    if (!flight) await this.#conversation.settle()
    await this.#edit(({ asks: _asks, ...slot }) =>
      slot.state === 'asking' ? { ...slot, state: slot.flight ? 'busy' : 'starting' } : slot,
    )
    if (!worktree || worktree.made) return
    const made = await this.#parts.worktrees!.make(worktree, cwd)
    await this.#edit((slot) => ({ ...slot, cwd: made.cwd, worktree: made.worktree }))
    for (const text of made.notes) await this.#conversation.append({ type: 'note', text }, 'termaite')
  }

  #seat(slot: Slot): Agent {
    this.#used = true
    return (this.#agent ??= seatOf(this.#parts.roster, slot))
  }

  /** Made ready to be spoken to, with nothing said yet. */
  async #ready(slot: Slot): Promise<void> {
    const { clock, store, workspace } = this.#parts
    const agent = this.#seat(slot)
    const turn = newId(clock.now())
    const keep = async (event: Event, by: string) => {
      if (!this.#left.signal.aborted) await this.#conversation.append(event as Entry, by, turn)
    }
    const log = logOf(store, workspace, this.#id)
    const questions = turnQuestions({ log, clock, turn, person: asksOf(this.#asking, turn), keep })
    const signal = AbortSignal.any([this.#stop.signal, this.#left.signal])
    const failure = await agent.start?.(signal, questions.ask)
    await questions.close()
    if (signal.aborted) return
    await this.#settle(failure, ({ asks: _asks, ...slot }) => slot)
  }

  async #next(slot: Slot, send: Send): Promise<void> {
    const text = await filled(send.text, slot, this.#ledger, this.#blobs)
    // Kept before anything is typed: from here on it is on its way, and no longer in the queue.
    const takeOff = ({ id: turn }: Turn) =>
      this.#edit(({ why: _why, ...slot }) => ({
        ...slot,
        state: 'busy',
        queue: slot.queue.filter(({ id }) => id !== send.id),
        flight: { turn, mark: nonceOf(turn) },
        seen: this.#parts.clock.now(),
      }))
    const agent = announced(this.#seat(slot), takeOff)
    await this.#follow(this.#conversation.converse(agent, text, this.#world(slot)))
  }

  /** A turn that another process left. */
  async #takeUp(slot: Slot): Promise<void> {
    const { turn, taken } = slot.flight!
    const { entries } = await this.#conversation.read()
    const left = await leftTurn(slot.flight!, entries, await this.#found(slot))
    if ('over' in left) return this.#land(turn, left.over)
    this.#taken = taken === true
    const agent = announced(this.#seat(slot), async () => {})
    await this.#follow(this.#conversation.takeUp(agent, turn, this.#world(slot), left.sent))
  }

  #world({ cwd, leash }: Slot) {
    return { cwd, leash, signal: this.#stop.signal, left: this.#left.signal, ask: asksOf(this.#asking) }
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
    if (event.type === 'thread') await this.#edit((slot) => ({ ...slot, thread: event.key }))
    const now = this.#parts.clock.now()
    const taken = !this.#taken && showsWork(event)
    if (!taken && now - this.#seenAt < lifeMs) return
    this.#seenAt = now
    this.#taken ||= taken
    const slot = await this.#edit((slot) => ({
      ...slot,
      seen: now,
      ...(slot.flight && this.#taken ? { flight: { ...slot.flight, taken: true } } : {}),
    }))
    if (taken && slot) await this.#lives(slot)
  }

  async #land(turn: string, outcome: Outcome): Promise<void> {
    const { seen } = outcome.ok ? outcome : {}
    const artifact = outcome.ok
      ? { artifact: await keepArtifact(this.#blobs, turn, outcome, seen?.fenced === true) }
      : {}
    const failure = outcome.ok ? undefined : outcome.failure
    const last = { turn, ...(failure ? { failure } : {}), ...(seen ? { by: seen.by } : {}) }
    await this.#settle(failure, ({ flight: _f, asks: _a, why: _w, ...slot }) => ({ ...slot, last, ...artifact }))
  }

  /** A turn is over, or it is ready: what it is now; one that failed and lives nowhere is gone. */
  async #settle(failure: Failure | undefined, change: (slot: Slot) => Slot): Promise<void> {
    const slot = await this.#edit((before) => {
      const slot = change(before)
      // Whoever is killed is said to be so in a moment.
      if (this.#stop.signal.aborted) return slot
      if (failure) return { ...slot, state: 'failed', why: failure.message }
      return { ...slot, state: slot.queue[0] ? 'busy' : 'idle' }
    })
    if (!slot || this.#stop.signal.aborted) return
    await this.#retitle(slot)
    await this.#lives(slot)
    if (failure && !this.#watched) await this.#end('failed', failure.message)
  }

  async #found({ terminal }: Slot): Promise<Terminal | undefined> {
    return terminal && this.#parts.find(terminal.id)
  }

  /** Whether it has what it lives in, which is watched from then on. */
  async #lives(slot: Slot): Promise<boolean> {
    const terminal = this.#agent?.terminal ?? (await this.#found(slot))
    if (!terminal) return this.#used
    if (terminal.id === this.#watched?.id) return true
    this.#watched = terminal
    await this.#retitle(slot)
    void terminal.exited.then((exit) => {
      this.#exit = exit
      this.nudge()
    })
    return true
  }

  async #gone(slot: Slot, { code, signal }: Exit): Promise<void> {
    if (slot.state === 'failed') return this.#end('failed', slot.why)
    await this.#end('exited', code === undefined ? `ended by signal ${signal}` : `exited with ${code}`)
  }

  #asking = {
    edit: (change: (slot: Slot) => Slot) => this.#edit(change),
    shown: (slot: Slot) => this.#retitle(slot),
    left: this.#left.signal,
  }

  async #retitle(slot: Slot): Promise<void> {
    const terminal = this.#agent?.terminal ?? this.#watched
    await terminal?.retitle(titleOf(slot), slot.state === 'asking').catch(() => {})
  }

  /** Once: what it showed last is kept before its terminal goes. */
  #close(): Promise<Ref | undefined> {
    return (this.#closing ??= (async () => {
      const screen = await lastScreen(this.#agent?.terminal ?? this.#watched, this.#blobs).catch(() => undefined)
      await this.#agent?.close().catch(() => {})
      return screen
    })())
  }

  async #end(state: 'exited' | 'failed', why: string | undefined): Promise<void> {
    const screen = await this.#close()
    await ending(this.#parts, this.#ledger, this.#id, { state, why, screen })
  }

  #edit(change: (slot: Slot) => Slot): Promise<Slot | undefined> {
    // Whoever was replaced changes nothing any more.
    return this.#ledger.edit(this.#id, (slot) => (slot.owner === this.#parts.owner ? change(slot) : undefined))
  }
}
