import type { Clock } from '../../base/time/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Leash } from '../../core/work/agent.ts'
import { tighter } from '../../core/work/agent.ts'
import type { Crew } from '../crew.ts'
import type { SlotLedger } from '../slot-ledger.ts'
import type { WorkerSlot } from '../slot.ts'
import type { Spawn } from '../spawn.ts'
import type { TreeBudget } from '../../core/work/tree-budget.ts'
import type { Envelope, Role, Worker, WorkerSite } from '../worker.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'
import { plainPrompt } from '../../core/talk/plain-prompt.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { areSeparate, scopeFault } from '../../core/data/path-scope.ts'
import { allOf, CrewError, isGone } from '../slot.ts'
import { endedEnvelope, keepEnvelope, readEnvelope, workerState } from '../worker-turn.ts'
import { roleTable, slotOf, usualMinutes, usualSteps, workerId, workerPrompt } from '../worker.ts'

/** A coordinator's request for a worker. */
export type WorkerWish = {
  name: string
  description: string
  prompt: string
  role: Role
  agent?: string
  model?: string
  where?: WorkerSite
  scope?: readonly string[]
  /** Whether the worker gets a copy of the project even if it does not need one. */
  worktree?: boolean
  steps?: number
  minutes?: number
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
  /** The agent for a worker if the coordinator names none. */
  agentFor(role: Role): string
  /** Whether termaite can limit an agent to the files that it may change; such an agent also counts its steps. */
  holdsScope(agent: string, where: WorkerSite): boolean
  /** The site for an agent if the coordinator names none, and a whole sentence that says why an agent cannot work at a site. */
  usualSite(agent: string): WorkerSite
  siteFault(agent: string, where: WorkerSite): string | undefined
  /** Why no copy of the project can be made here, as the end of a sentence. */
  noCopies?: string
  /** The model that the settings specify for an agent. */
  modelOf(agent: string): string | undefined
  /** Joins changes that stayed in a worker's copy into the project. */
  merge(slot: number, paths: readonly string[] | undefined, signal: AbortSignal): Promise<string>
  /** Shows each worker as soon as it is spawned. */
  seen?(slot: WorkerSlot, event: Event): void
  /** The most workers that one turn may send. */
  mostWorkers: number
  /** The budget of the turn, which may refuse further workers. */
  budget?: Pick<TreeBudget, 'refuses' | 'sent' | 'amounts'>
}

/** A worker in the form for its coordinator. */
export type WorkerView = {
  id: string
  slot: WorkerSlot
  /** Whether the worker has finished or was stopped. */
  over: boolean
  /** Whether the coordinator has read the worker's envelope. */
  heard: boolean
  /** Whether a turn whose process died sent the worker, so that this turn answers for it. */
  lost: boolean
}

const viewOf = (slot: WorkerSlot): WorkerView => ({
  id: workerId(slot.id),
  slot,
  over: isGone(slot),
  heard: slot.worker.heard === true,
  lost: slot.worker.lost === true,
})

/**
 * The workers of one coordinator's turn. A worker is a slot of the crew; the board adds the coordinator's duties: that no two workers
 * change the same files, and that the results of every worker are read.
 */
export class WorkerBoard {
  #parts: BoardParts

  constructor(parts: BoardParts) {
    this.#parts = parts
  }

  /** The workers of this turn, and those taken over from a turn whose process died, in the order in which they were spawned. */
  async all(): Promise<WorkerView[]> {
    return (await this.#known()).filter(({ slot }) => slot.worker.turn === this.#parts.turn)
  }

  /** The workers of the cancelled turn before this one whose envelopes nobody has read. */
  async earlier(): Promise<WorkerView[]> {
    return (await this.#known()).filter(({ slot, heard }) => slot.worker.closed === 'cancelled' && !heard)
  }

  /** The workers of the conversation whose envelopes the coordinator has read. */
  async read(): Promise<WorkerView[]> {
    return (await this.#known()).filter(({ heard }) => heard)
  }

  /** Every worker of the conversation. */
  async #known(): Promise<WorkerView[]> {
    const slots = allOf(await this.#parts.ledger.read())
    return slots.flatMap((slot) => (slot.worker ? [viewOf({ ...slot, worker: slot.worker })] : []))
  }

  /** The present workers of this turn, and again after each change. */
  async *watch(signal: AbortSignal): AsyncGenerator<WorkerView[]> {
    for await (const _ of this.#parts.ledger.watch(signal)) yield await this.all()
  }

  /** The terminal of a worker, while it has one. */
  terminal(slot: number): Promise<Terminal | undefined> {
    return this.#parts.crew.terminal(slot)
  }

  /** How much of its budget the turn has used. */
  get budget(): ReturnType<TreeBudget['amounts']> | undefined {
    return this.#parts.budget?.amounts()
  }

  /** Finds a worker of this turn, or of an earlier turn of the conversation. */
  async find(id: string): Promise<WorkerView> {
    const known = await this.#known()
    const slot = slotOf(id)
    const found = known.find((one) => one.slot.id === slot)
    if (found) return found
    const there = known.length === 0 ? 'No worker was spawned in this turn' : `There are ${ids(known)}`
    throw new CrewError(`there is no worker ${id}. ${there}.`)
  }

  /** Spawns workers: all of them, or none. */
  async spawn(wishes: readonly WorkerWish[]): Promise<WorkerView[]> {
    const all = await this.all()
    const { mostWorkers } = this.#parts
    const sent = all.filter(({ lost }) => !lost).length
    if (sent + wishes.length > mostWorkers)
      throw new CrewError(
        `this turn has ${sent} workers, and ${mostWorkers} are allowed, so ${wishes.length} more are too many. Do the rest yourself, or give the workers larger tasks; the person can raise coordinator.workers in the settings.`,
      )
    const tokens = wishes.reduce((sum, { prompt }) => sum + estimateTokens(prompt), 0)
    const spent = this.#parts.budget?.refuses(tokens)
    if (spent)
      throw new CrewError(
        `no further worker can be sent, because the budget is spent: ${spent.message}. Do the rest yourself, or answer with what there is and say what is missing.`,
      )
    const claims = all
      .filter(({ over }) => !over)
      .flatMap(({ id, slot: { worker } }) => claimOf(worker, `${id} (${worker.name})`))
    const spawns = wishes.map((wish) => {
      refuseBadScope(wish)
      const spawn = this.#spawnOf(wish, claims)
      const own = claimOf(spawn.worker, `the worker ${wish.name} of this call`)
      refuseOverlap(wish.name, own, claims)
      claims.push(...own)
      return spawn
    })
    const slots = await this.#parts.crew.spawnAll(spawns)
    this.#parts.budget?.sent(slots.length)
    const workers = slots as WorkerSlot[]
    for (const slot of workers) this.#parts.seen?.(slot, workerState(slot))
    return workers.map(viewOf)
  }

  #spawnOf(wish: WorkerWish, claims: readonly Claim[]): Spawn & { worker: Worker } {
    const { turn, cwd, leash, path, agentFor, holdsScope, usualSite, siteFault, modelOf } = this.#parts
    const { name, role, scope = [], model, steps = usualSteps, minutes = usualMinutes } = wish
    const agent = wish.agent ?? agentFor(role)
    const where = wish.where ?? usualSite(agent)
    const fault = siteFault(agent, where)
    if (fault !== undefined) throw new CrewError(fault)
    const isHeld = holdsScope(agent, where)
    const apart = this.#apart(wish, { agent, isHeld }, claims)
    const worker: Worker = defined({
      ...{ name, role, where, turn, apart, minutes },
      scope: scope.length > 0 ? [...scope] : undefined,
      model: model ?? modelOf(agent),
      steps: isHeld ? steps : undefined,
    })
    // The leash also limits a role that may not write to reading, unless the role runs commands in a copy whose changes are discarded. A
    // wall enforces a scope, and the leash `all` has no wall; work in a copy needs no more than the project's files.
    const bounded = scope.length > 0 || apart !== undefined
    const reads = !writes(role) && !(roleTable[role].runsInCopy && !isHeld && apart !== undefined)
    const own = reads ? 'read' : bounded ? tighter(leash, 'edit') : leash
    return { agent, task: plainPrompt(workerPrompt(worker, wish.prompt)), cwd, leash: own, model, path, worker }
  }

  /**
   * Decides whether a worker needs a copy of the project: at most one worker changes files of the project itself, and only one whose
   * scope is enforced.
   */
  #apart(
    { name, role, worktree = false }: WorkerWish,
    { agent, isHeld }: { agent: string; isHeld: boolean },
    claims: readonly Claim[],
  ): Worker['apart'] {
    const { noCopies } = this.#parts
    const other = claims.find(({ apart }) => !apart)
    if (!worktree && !writes(role))
      return roleTable[role].runsInCopy && !isHeld && noCopies === undefined ? {} : undefined
    if (!worktree && isHeld && !other) return undefined
    if (noCopies === undefined) return worktree ? { asked: true } : {}
    if (worktree)
      throw new CrewError(`${name} cannot work in a copy of the project, because ${noCopies}. Leave "worktree" out.`)
    if (!isHeld)
      throw new CrewError(
        `${name} cannot be an implementer: only termaite's own agent in the background can be restricted to its scope. ${agent} would need a copy of the project, and no copy can be made because ${noCopies}. Choose termaite's own agent, or another role.`,
      )
    throw new CrewError(
      `${name} cannot work beside ${other!.by}, which changes files of the project: a second worker would need a copy of the project, and no copy can be made because ${noCopies}. Wait until the other one is done.`,
    )
  }

  /**
   * Waits until the workers are done, and returns the envelopes of the finished ones; each counts as read from then on. Without ids it
   * waits for all whose envelopes were not read yet.
   */
  async gather(
    wanted: readonly string[] | undefined,
    until: number,
    signal: AbortSignal,
  ): Promise<{ envelopes: Envelope[]; open: WorkerView[] }> {
    const chosen = wanted ? await Promise.all(wanted.map((id) => this.find(id))) : await this.unheard()
    const slots = chosen.map(({ slot }) => slot.id)
    if (slots.length > 0) await this.#parts.ledger.wait(slots, { until, signal, settled: isGone })
    const now = (await this.#known()).filter(({ slot }) => slots.includes(slot.id))
    const envelopes: Envelope[] = []
    for (const view of now) if (view.over) envelopes.push(await this.#hear(view))
    return { envelopes, open: now.filter(({ over }) => !over) }
  }

  /** The workers whose envelopes the coordinator has not read, including running ones. */
  async unheard(): Promise<WorkerView[]> {
    return (await this.all()).filter(({ heard }) => !heard)
  }

  /** The envelope of a finished worker, without counting it as read. */
  async envelope({ slot }: WorkerView): Promise<Envelope> {
    const { blobs } = this.#parts
    const ref = slot.worker.envelope
    return ref ? readEnvelope(blobs, ref) : endedEnvelope(slot, { ok: false, failure: endingOf(slot) })
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

  /** Stops a worker; its envelope says how far it got. */
  async stop(id: string): Promise<boolean> {
    const { slot } = await this.find(id)
    return this.#parts.crew.kill(slot.id)
  }

  async send(id: string, text: string): Promise<void> {
    const { slot } = await this.find(id)
    await this.#parts.crew.send(slot.id, plainPrompt(text))
  }

  /** Joins changes that stayed in a worker's copy into the project; without paths, all of them. Returns a report of the result. */
  async merge(id: string, paths: readonly string[] | undefined, signal: AbortSignal): Promise<string> {
    const { slot } = await this.find(id)
    return this.#parts.merge(slot.id, paths, signal)
  }

  /** Stops every worker that is still working. */
  async stopAll(): Promise<void> {
    const running = (await this.all()).filter(({ over }) => !over)
    await Promise.all(running.map(({ slot }) => this.#parts.crew.kill(slot.id)))
  }
}

export const ids = (workers: readonly Pick<WorkerView, 'id'>[]): string => workers.map(({ id }) => id).join(', ')

/** Why a worker without a result stopped. */
export function endingOf({ why, last }: WorkerSlot) {
  if (last?.failure) return last.failure
  return failed(why === 'killed' ? 'aborted' : 'crash', why || 'it was stopped before it began').failure
}

/** The files that a worker may change; no scope means any file of the project. */
type Claim = { by: string; scope: readonly string[]; apart: Worker['apart'] }

const writes = (role: Role) => roleTable[role].limits.writes !== false

function claimOf({ role, scope = [], apart }: Worker, by: string): Claim[] {
  return writes(role) ? [{ by, scope, apart }] : []
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

/**
 * Refuses a worker that could change the same file as another one. A coordinator that asks for a copy wants two versions: they are merged
 * at the end, and the person decides about lines that both changed.
 */
function refuseOverlap(name: string, own: readonly Claim[], claims: readonly Claim[]): void {
  for (const { scope, apart } of own)
    for (const other of claims)
      if (!apart?.asked && !other.apart?.asked && !areSeparate(scope, other.scope))
        throw new CrewError(
          `${name} may change ${scopeWords(scope)}, and ${other.by} may change ${scopeWords(other.scope)}: two workers must not change the same files. Give both a scope that does not overlap, or wait until the other one is done.`,
        )
}

const scopeWords = (scope: readonly string[]) => (scope.length === 0 ? 'any file' : scope.join(', '))
