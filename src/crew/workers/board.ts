import type { Clock } from '../../base/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Leash } from '../../core/work/agent.ts'
import { tighter } from '../../core/work/agent.ts'
import type { Crew } from '../crew.ts'
import type { SlotLedger } from '../slot-ledger.ts'
import type { WorkerSlot } from '../slot.ts'
import type { Spawn } from '../spawn.ts'
import type { TreeBudget } from './tree-budget.ts'
import type { Envelope, Role, WorkerSite } from './worker.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { areSeparate, scopeFault } from '../../core/work/path-scope.ts'
import { allOf, CrewError, isGone } from '../slot.ts'
import { endedEnvelope, keepEnvelope, readEnvelope } from './worker-turn.ts'
import { roleTable, slotOf, usualMinutes, usualSteps, workerId, workerPrompt } from './worker.ts'

/** What a coordinator wants a worker to do. */
export type WorkerWish = {
  name: string
  description: string
  prompt: string
  role: Role
  agent?: string
  model?: string
  where?: WorkerSite
  scope?: readonly string[]
  steps?: number
}

export type BoardParts = {
  crew: Crew
  ledger: SlotLedger
  blobs: Blobs
  clock: Clock
  /** The turn of the coordinator. */
  turn: string
  cwd: string
  leash: Leash
  /** The PATH of this process. */
  path?: string
  /** The agent of a worker for which the coordinator names none. */
  agentFor(role: Role): string
  /** Whether an agent can be held to the files that it may change. */
  holdsScope(agent: string): boolean
  /** The most workers that one turn may send. */
  mostWorkers: number
  /** The budget of the turn, which may refuse further workers. */
  budget?: Pick<TreeBudget, 'refuses' | 'sent' | 'amounts'>
}

/** A worker as its coordinator sees it. */
export type WorkerView = {
  id: string
  slot: WorkerSlot
  /** Whether it has come to its end. */
  over: boolean
  /** Whether the coordinator has read its envelope. */
  heard: boolean
}

/**
 * The workers of one coordinator's turn. A worker is a slot of the crew: the board adds what the coordinator must answer for,
 * which is that no two workers change the same files, and that every worker is heard.
 */
export class WorkerBoard {
  #parts: BoardParts

  constructor(parts: BoardParts) {
    this.#parts = parts
  }

  /** The workers of this turn, in the order in which they were spawned. */
  async all(): Promise<WorkerView[]> {
    const slots = allOf(await this.#parts.ledger.read())
    return slots
      .filter((slot): slot is WorkerSlot => slot.worker?.turn === this.#parts.turn)
      .map((slot) => ({ id: workerId(slot.id), slot, over: isGone(slot), heard: slot.worker.heard === true }))
  }

  /** The workers of this turn now, and again after each change. */
  async *watch(signal: AbortSignal): AsyncGenerator<WorkerView[]> {
    for await (const _ of this.#parts.ledger.watch(signal)) yield await this.all()
  }

  /** The terminal of a worker, while it has one. */
  terminal(slot: number): Promise<Terminal | undefined> {
    return this.#parts.crew.terminal(slot)
  }

  /** What the turn has used of its budget. */
  get budget(): ReturnType<TreeBudget['amounts']> | undefined {
    return this.#parts.budget?.amounts()
  }

  async find(id: string): Promise<WorkerView> {
    const all = await this.all()
    const slot = slotOf(id)
    const found = all.find((one) => one.slot.id === slot)
    if (found) return found
    const known = all.length === 0 ? 'No worker was spawned in this turn' : `There are ${ids(all)}`
    throw new CrewError(`there is no worker ${id}. ${known}.`)
  }

  /** Spawns workers: all of them, or none. */
  async spawn(wishes: readonly WorkerWish[]): Promise<WorkerView[]> {
    const all = await this.all()
    const { mostWorkers } = this.#parts
    if (all.length + wishes.length > mostWorkers)
      throw new CrewError(
        `this turn has ${all.length} workers, and ${mostWorkers} are allowed, so ${wishes.length} more are too many. Do the rest yourself, or give the workers larger tasks; the person can raise coordinator.workers in the settings.`,
      )
    const tokens = wishes.reduce((sum, { prompt }) => sum + estimateTokens(prompt), 0)
    const spent = this.#parts.budget?.refuses(tokens)
    if (spent)
      throw new CrewError(
        `no further worker can be sent, because the budget is spent: ${spent.message}. Do the rest yourself, or answer with what there is and say what is missing.`,
      )
    const claimed = all.filter(({ over }) => !over).flatMap(claimOf)
    for (const wish of wishes) {
      refuseBadScope(wish)
      this.#refuseUnheld(wish)
      refuseOverlap(wish, claimed)
      claimed.push(...claimOfWish(wish))
    }
    const slots = await this.#parts.crew.spawnAll(wishes.map((wish) => this.#spawnOf(wish)))
    this.#parts.budget?.sent(slots.length)
    return slots.map((slot) => ({ id: workerId(slot.id), slot: slot as WorkerSlot, over: false, heard: false }))
  }

  /** Refuses an implementer that nothing would keep from changing the files of another worker. */
  #refuseUnheld({ name, role, agent = this.#parts.agentFor(role) }: WorkerWish): void {
    if (writes(role) && !this.#parts.holdsScope(agent))
      throw new CrewError(
        `${name} cannot be an implementer: ${agent} cannot be held to a scope. Choose termaite's own agent for it, or another role.`,
      )
  }

  #spawnOf(wish: WorkerWish): Spawn {
    const { turn, cwd, leash, path, agentFor } = this.#parts
    const { name, role, where = 'background', scope = [], steps = usualSteps } = wish
    const worker = { name, role, where, turn, scope: scope.length > 0 ? [...scope] : undefined, steps }
    return {
      agent: wish.agent ?? agentFor(role),
      task: workerPrompt(worker, wish.prompt),
      cwd,
      // A role that may not write is held to reading by the leash too.
      // A scope is held by a wall, which the leash `all` has not.
      leash: !writes(role) ? 'read' : scope.length > 0 ? tighter(leash, 'edit') : leash,
      model: wish.model,
      path,
      worker: { ...worker, minutes: usualMinutes },
    }
  }

  /**
   * Waits until the workers are done, and returns the envelopes of those that are; each counts as read from then on. Without ids
   * it waits for all that were not read yet.
   */
  async gather(
    wanted: readonly string[] | undefined,
    until: number,
    signal: AbortSignal,
  ): Promise<{ envelopes: Envelope[]; open: WorkerView[] }> {
    const chosen = wanted ? await Promise.all(wanted.map((id) => this.find(id))) : await this.unheard()
    const slots = chosen.map(({ slot }) => slot.id)
    if (slots.length > 0) await this.#parts.ledger.wait(slots, { until, signal, settled: isGone })
    const now = (await this.all()).filter(({ slot }) => slots.includes(slot.id))
    const envelopes: Envelope[] = []
    for (const view of now) if (view.over) envelopes.push(await this.#hear(view))
    return { envelopes, open: now.filter(({ over }) => !over) }
  }

  /** The workers whose envelopes the coordinator has not read, running ones among them. */
  async unheard(): Promise<WorkerView[]> {
    return (await this.all()).filter(({ heard }) => !heard)
  }

  /** The envelope of a worker that is over, without counting it as read. */
  async envelope({ slot }: WorkerView): Promise<Envelope> {
    const { blobs } = this.#parts
    const ref = slot.worker.envelope
    return ref ? readEnvelope(blobs, ref) : endedEnvelope(slot, endingOf(slot))
  }

  async #hear(view: WorkerView): Promise<Envelope> {
    const { blobs, ledger } = this.#parts
    const envelope = await this.envelope(view)
    const ref = view.slot.worker.envelope ?? (await keepEnvelope(blobs, envelope))
    await ledger.edit(view.slot.id, (slot) =>
      slot.worker ? { ...slot, worker: { ...slot.worker, envelope: ref, heard: true } } : undefined,
    )
    return envelope
  }

  /** Ends a worker; its envelope says how far it came. */
  async stop(id: string): Promise<boolean> {
    const { slot } = await this.find(id)
    return this.#parts.crew.kill(slot.id)
  }

  async send(id: string, text: string): Promise<void> {
    const { slot } = await this.find(id)
    await this.#parts.crew.send(slot.id, text)
  }

  /** Ends every worker that is still at work. */
  async stopAll(): Promise<void> {
    const running = (await this.all()).filter(({ over }) => !over)
    await Promise.all(running.map(({ slot }) => this.#parts.crew.kill(slot.id)))
  }
}

export const ids = (workers: readonly Pick<WorkerView, 'id'>[]): string => workers.map(({ id }) => id).join(', ')

/** Why a worker that kept no envelope is over. */
export function endingOf({ why, last }: WorkerSlot) {
  if (last?.failure) return last.failure
  return failed(why === 'killed' ? 'aborted' : 'crash', why || 'it ended before it began').failure
}

/** The files that a worker may change: undefined for any file of the project. */
type Claim = { by: string; scope: readonly string[] }

const writes = (role: Role) => roleTable[role].limits.writes !== false

function claimOf({ id, slot: { worker } }: WorkerView): Claim[] {
  return writes(worker.role) ? [{ by: `${id} (${worker.name})`, scope: worker.scope ?? [] }] : []
}

function claimOfWish({ name, role, scope = [] }: WorkerWish): Claim[] {
  return writes(role) ? [{ by: `the worker ${name} of this call`, scope }] : []
}

function refuseBadScope({ name, scope = [] }: WorkerWish): void {
  for (const path of scope) {
    const fault = scopeFault(path)
    if (fault !== undefined)
      throw new CrewError(
        `the scope of ${name} has ${JSON.stringify(path)}, which ${fault}. Name files or folders of the project, such as "src/api".`,
      )
  }
}

/** Refuses a worker that could change the same file as another one. */
function refuseOverlap(wish: WorkerWish, claims: readonly Claim[]): void {
  for (const own of claimOfWish(wish))
    for (const { by, scope } of claims)
      if (!areSeparate(own.scope, scope))
        throw new CrewError(
          `${wish.name} may change ${scopeWords(own.scope)}, and ${by} may change ${scopeWords(scope)}: two workers must not change the same files. Give both a scope that does not overlap, or wait until the other one is done.`,
        )
}

const scopeWords = (scope: readonly string[]) => (scope.length === 0 ? 'any file' : scope.join(', '))
