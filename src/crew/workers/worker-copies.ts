import type { Clock } from '../../base/time/clock.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { CopyChanges, ProjectCopies, ProjectCopy, ProjectTree, Stray } from '../../hub/model/tasks/project-copy.ts'
import type { WorkerSlot } from '../slot.ts'
import type { CheckSeen } from './measured-envelope.ts'
import type { Envelope, WorkerPlace } from '../worker.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { newId } from '../../base/id.ts'
import { isInScope } from '../../core/data/path-scope.ts'
import { copyWords, straysIn } from '../../hub/model/tasks/project-copy.ts'
import { sizeWords } from '../../hub/model/tasks/task-changes.ts'
import { CrewError } from '../slot.ts'
import { checkWords, partial, withChecks, withPaths } from './measured-envelope.ts'
import { conflictCard, fileChanges, firstPaths, strayCard, strayWords, textsOf } from './merge-card.ts'
import { roleTable, workerId } from '../worker.ts'

type WorkerCopyParts = {
  /** The root of the project. */
  root: string
  clock: Clock
  /** Makes copies of the project; missing if none can be made. */
  copies?: ProjectCopies
  tree?: ProjectTree
  /** Asks the person who watches the coordinator. */
  ask: Ask
  seen(slot: WorkerSlot, event: Event): void
  /** Runs the tests and the build of the project. */
  check(see: (event: Event) => void): Promise<CheckSeen[]>
  /** Whether no action of a worker can reach files beyond its limits. */
  isHeld(slot: WorkerSlot): boolean
}

/** The files that were joined into the project, and those that stay in the copy, with the reason. */
type Brought = { files: readonly string[]; left: readonly string[]; why?: string; notes: string[] }

/**
 * The work of a coordinator's workers on files: the folder of each worker, its changes, and the joining of a copy's changes into the
 * project. No change is lost: a copy is preserved unless all its changes are in the project.
 */
export class WorkerCopies {
  #parts: WorkerCopyParts
  #copies = new Map<number, ProjectCopy>()
  /** Changes in a copy that are not in the project. */
  #waiting = new Map<number, { slot: WorkerSlot; changes: CopyChanges; paths: readonly string[] }>()
  /** The changes of each worker that the person rejected. */
  #declined = new Map<number, readonly string[]>()
  /** The state of the project when each worker began, and how many files had been joined into it by then. */
  #marks = new Map<number, { tree?: string; brought: number }>()
  /** Every file that was joined into the project, in order. */
  #brought: string[] = []
  /** The workers that change files of the project itself. */
  #inTree: WorkerSlot[] = []
  #rounds: CheckRounds

  constructor(parts: WorkerCopyParts) {
    this.#parts = parts
    this.#rounds = new CheckRounds(parts.check)
  }

  /** Prepares the folder of a worker; undefined if that is the project itself. */
  async begin(slot: WorkerSlot, signal: AbortSignal): Promise<WorkerPlace | undefined> {
    const { copies, tree, isHeld } = this.#parts
    const { apart } = slot.worker
    const needsMark = (writes(slot) && !apart) || !isHeld(slot)
    this.#marks.set(
      slot.id,
      defined({ tree: needsMark ? await tree?.mark() : undefined, brought: this.#brought.length }),
    )
    if (writes(slot) && !apart) this.#inTree.push(slot)
    if (!apart) return undefined
    if (!copies) throw new Error('no copy of the project can be made here')
    const copy = await copies.open(signal)
    this.#copies.set(slot.id, copy)
    return { cwd: copy.cwd, path: copy.root, told: copyWords(copy.lacks) }
  }

  /**
   * Joins the work of a worker into the project and completes its envelope. `done`: the worker itself finished its turn; the work of a
   * worker that failed or was stopped stays in its copy until the coordinator asks for it.
   */
  async settle(slot: WorkerSlot, envelope: Envelope, { done, signal }: { done: boolean; signal: AbortSignal }) {
    const copy = this.#copies.get(slot.id)
    const own = copy ? await this.#fromCopy(slot, copy, envelope, done, signal) : await this.#fromTree(slot, envelope)
    const strays = await this.#strays(slot)
    if (strays.length === 0) return own
    const risk = `While ${workerId(slot.id)} worked, files of the project itself changed that no worker was to change: ${firstPaths(strays)} The worker, you or a person changed them. Look at them before you rely on the result.`
    return { ...own, outside: [...(own.outside ?? []), ...strays], unresolved_risks: [...own.unresolved_risks, risk] }
  }

  /** Joins changes that stayed in a worker's copy into the project; without paths, all of them. */
  async merge(slot: number, wanted: readonly string[] | undefined, signal: AbortSignal): Promise<string> {
    const waiting = this.#waiting.get(slot)
    const copy = this.#copies.get(slot)
    const id = workerId(slot)
    if (!waiting || !copy) throw new CrewError(`${id} has no changes that wait in a copy of the project.`)
    const unknown = wanted?.find((path) => !waiting.paths.includes(path))
    if (unknown !== undefined)
      throw new CrewError(`${id} has not changed ${unknown}. The changes that wait are: ${firstPaths(waiting.paths)}`)
    const asked = wanted ?? waiting.paths
    const declined = this.#declined.get(slot)
    const { reverted = [], settings = [] } = waiting.changes
    // Without a person the coordinator decides, but not about the person's own uncommitted work or about files that can start programs.
    const otherwise = asked.filter((path) => !reverted.includes(path) && !settings.includes(path))
    const chosen = declined
      ? asked.filter((path) => !declined.includes(path))
      : await this.#allowed(waiting.slot, copy, waiting.changes, { paths: asked, otherwise }, signal)
    const refused = asked.filter((path) => !chosen.includes(path))
    if (chosen.length === 0 || (wanted && refused.length > 0))
      throw new CrewError(
        `these changes of ${id} need the person’s yes and did not get it: ${firstPaths(refused)} Tell them what is left out.`,
      )
    const brought = await this.#bring(waiting.slot, copy, waiting.changes, chosen, signal)
    const left = waiting.paths.filter((path) => !brought.files.includes(path))
    await this.#leave(waiting.slot, copy, waiting.changes, left)
    const checks = brought.files.length > 0 ? await this.#check(waiting.slot, signal) : []
    return [
      brought.files.length > 0
        ? `Now in the project: ${firstPaths(brought.files)}`
        : 'Nothing was brought into the project.',
      ...(brought.why === undefined ? [] : [`Not everything was brought in: ${brought.why}.`]),
      ...(left.length > 0 ? [`Still only in the copy ${copy.root}: ${firstPaths(left)}`] : []),
      ...brought.notes,
      ...checks.map(checkWords),
    ].join('\n')
  }

  /** Keeps the copies with changes that were not joined for a day, and removes the others. */
  async close(): Promise<void> {
    const copies = [...this.#copies.entries()]
    this.#copies.clear()
    await Promise.all(
      copies.map(async ([id, copy]) => {
        const changed = this.#waiting.has(id) || (await hasChanges(copy))
        await (changed ? copy.keep() : copy.drop())
      }),
    )
  }

  async #fromCopy(
    slot: WorkerSlot,
    copy: ProjectCopy,
    envelope: Envelope,
    done: boolean,
    signal: AbortSignal,
  ): Promise<Envelope> {
    let changes: CopyChanges
    try {
      changes = await copy.changed()
    } catch (error) {
      const risk = `The changes of this worker could not be read (${messageOf(error)}), so none is in the project.`
      const next = `Look at its copy of the project, ${copy.root}, which is kept for a day.`
      return partial({ ...envelope, copy: copy.root }, [risk], next)
    }
    const { root } = this.#parts
    const { paths, files } = changes
    const measured = withPaths(envelope, paths, [copy.root, root])
    if (paths.length === 0) {
      await this.#leave(slot, copy, changes, [])
      return measured
    }
    if (roleTable[slot.worker.role].runsInCopy) {
      await this.#leave(slot, copy, changes, [])
      const left = `The commands of this worker changed files in its own copy of the project. None of these changes is in the project, and the copy is gone: ${firstPaths(paths)}`
      return { ...envelope, evidence: [...envelope.evidence, left] }
    }
    const strays = straysOf(slot, changes)
    const own = { ...measured, unresolved_risks: [...measured.unresolved_risks, ...(changes.notes ?? [])] }
    if (strays.length > 0) own.outside = strays.map(({ path }) => path)
    // The report comes before the merge, whatever the merge's outcome.
    const size = `${workerId(slot.id)} changed ${sizeWords(files)} in its copy: ${firstPaths(paths)}`
    const not = strays.length > 0 ? ` Not allowed: ${strayWords(strays)}` : ''
    this.#show(slot, { type: 'note', text: size + not })
    const chosen = done ? await this.#allowed(slot, copy, changes, { paths, otherwise: [] }, signal) : []
    const brought: Brought =
      chosen.length > 0
        ? await this.#bring(slot, copy, changes, chosen, signal)
        : { files: [], left: paths, notes: [], why: done ? notAllowed(strays) : 'the worker did not end by itself' }
    const left = paths.filter((path) => !brought.files.includes(path))
    await this.#leave(slot, copy, changes, left)
    const checks = brought.files.length > 0 ? await this.#check(slot, signal) : undefined
    const checked = withChecks({ ...own, evidence: [...own.evidence, ...brought.notes] }, checks)
    if (left.length === 0) return checked
    const why = brought.why ?? notAllowed(strays)
    const risk = `Not in the project: ${firstPaths(left)} The reason: ${why}. The changes are in the copy ${copy.root}, which is kept for a day.`
    const next = `Look at the changes in ${copy.root}; bring in those that are right with merge_worker, or have the task done again in the project.`
    return partial({ ...checked, copy: copy.root, not_merged: left }, [risk], next)
  }

  /** The paths that may be joined: all, or those that the person chose if some are not allowed; without a person, `otherwise`. */
  async #allowed(
    slot: WorkerSlot,
    copy: ProjectCopy,
    changes: CopyChanges,
    { paths, otherwise }: { paths: readonly string[]; otherwise: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const strays = straysOf(slot, changes).filter(({ path }) => paths.includes(path))
    if (strays.length === 0) return paths
    const { ask, root } = this.#parts
    const [pick] = (await ask(strayCard(slot, strays, { root, copy: copy.root }), signal)) ?? []
    if (pick === undefined) return otherwise
    const outside = strays.map(({ path }) => path)
    this.#declined.set(slot.id, pick === 'all' ? [] : pick === 'allowed' ? outside : changes.paths)
    if (pick === 'all') return paths
    return pick === 'allowed' ? paths.filter((path) => !outside.includes(path)) : []
  }

  /** Joins paths into the project; the person decides about files that were changed on both sides. */
  async #bring(
    slot: WorkerSlot,
    copy: ProjectCopy,
    changes: CopyChanges,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<Brought> {
    const { ask, root, clock } = this.#parts
    const before = textsOf(root, paths)
    let only = paths
    let over: readonly string[] = []
    for (;;) {
      const result = await copy.join({ changes, only, over })
      if ('files' in result) {
        this.#brought.push(...result.files)
        const call = newId(clock.now())
        this.#show(slot, { type: 'call', call, tool: 'bring_back', input: { paths: only } })
        const text = `Brought into the project: ${firstPaths(result.files)}`
        this.#show(slot, { type: 'result', call, ok: true, text, data: fileChanges(root, before) })
        const left = paths.filter((path) => !result.files.includes(path))
        const why = left.length > 0 ? 'the person left the files in conflict in the copy' : undefined
        const saved =
          result.aside === undefined ? [] : [`The project's versions of ${firstPaths(over)} are in ${result.aside}.`]
        return defined({ files: result.files, left, why, notes: saved })
      }
      const { why, conflicts = [] } = result
      const none = { files: [], left: paths, why, notes: [] }
      if (conflicts.length === 0) return none
      const others = only.filter((path) => !conflicts.includes(path))
      const [pick] = (await ask(conflictCard(slot, { conflicts, others }, { root, copy: copy.root }), signal)) ?? []
      if (pick === 'worker') over = [...over, ...conflicts]
      else {
        const declined = this.#declined.get(slot.id) ?? []
        if (pick !== undefined) this.#declined.set(slot.id, [...declined, ...(pick === 'others' ? conflicts : only)])
        if (pick !== 'others') return none
        only = others
      }
    }
  }

  /** Shows a step of the merge in the row of its worker, under the name of the worker's agent. */
  #show(slot: WorkerSlot, event: Event): void {
    this.#parts.seen(slot, { ...event, by: slot.agent })
  }

  /** Removes a copy whose changes are all in the project; otherwise remembers which changes wait in it. */
  async #leave(slot: WorkerSlot, copy: ProjectCopy, changes: CopyChanges, left: readonly string[]): Promise<void> {
    if (left.length > 0) {
      this.#waiting.set(slot.id, { slot, changes, paths: left })
      return
    }
    this.#waiting.delete(slot.id)
    this.#copies.delete(slot.id)
    await copy.drop()
  }

  /** Runs the checks of the project; a worker that is stopped in the meantime does not wait for them. */
  async #check(slot: WorkerSlot, signal: AbortSignal): Promise<CheckSeen[]> {
    const round = this.#rounds.next((event) => this.#show(slot, event))
    const stopped = Promise.withResolvers<CheckSeen[]>()
    const evidence = 'the worker was stopped before the checks were finished'
    const stop = () => stopped.resolve([{ command: '', passed: false, refused: true, evidence }])
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await Promise.race([round, stopped.promise])
    } catch (error) {
      return [{ command: '', passed: false, refused: true, evidence: messageOf(error) }]
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Adds the files that a worker changed in the project itself to its envelope. */
  async #fromTree(slot: WorkerSlot, envelope: Envelope): Promise<Envelope> {
    const mark = this.#marks.get(slot.id)
    const { tree, root } = this.#parts
    if (!writes(slot) || !tree || mark?.tree === undefined) return envelope
    const { scope } = slot.worker
    const changed = (await this.#changedSince(mark)).filter((path) => !scope || isInScope(path, scope))
    return withPaths(envelope, changed, [root])
  }

  /** The files of the project that changed, although no worker was supposed to change them, during the run of a worker without a wall. */
  async #strays(slot: WorkerSlot): Promise<string[]> {
    const mark = this.#marks.get(slot.id)
    if (!mark?.tree || this.#parts.isHeld(slot)) return []
    const scopes = this.#inTree.map(({ worker }) => worker.scope)
    if (scopes.some((scope) => scope === undefined)) return []
    const changed = await this.#changedSince(mark)
    return changed.filter((path) => !scopes.some((scope) => isInScope(path, scope!)))
  }

  /** The files of the project that changed since a mark and were not joined from a copy. */
  async #changedSince({ tree: mark, brought }: { tree?: string; brought: number }): Promise<string[]> {
    const since = new Set(this.#brought.slice(brought))
    const changed = mark === undefined ? [] : await this.#parts.tree?.changed(mark).catch(() => undefined)
    return (changed ?? []).filter((path) => !since.has(path))
  }
}

const writes = ({ worker }: WorkerSlot) => roleTable[worker.role].limits.writes !== false

const notAllowed = (strays: readonly Stray[]) => `not all changes were allowed: ${strayWords(strays).slice(0, -1)}`

/** The changes of a worker that are not joined without a person's yes. */
function straysOf(slot: WorkerSlot, changes: CopyChanges): Stray[] {
  if (writes(slot)) return straysIn(changes, slot.worker.scope)
  return changes.paths.map((path) => ({ path, why: 'its role changes no files' }))
}

const hasChanges = (copy: ProjectCopy) =>
  copy.changed().then(
    ({ paths }) => paths.length > 0,
    // A copy that cannot be read may contain changes.
    () => true,
  )

/** Runs the checks of a project in rounds: workers whose changes arrive during one round share the next. */
class CheckRounds {
  #run: WorkerCopyParts['check']
  #last: Promise<unknown> = Promise.resolve()
  #waiting: Promise<CheckSeen[]> | undefined

  constructor(run: WorkerCopyParts['check']) {
    this.#run = run
  }

  next(see: (event: Event) => void): Promise<CheckSeen[]> {
    if (this.#waiting) return this.#waiting
    const round = this.#last.then(() => {
      this.#waiting = undefined
      return this.#run(see)
    })
    this.#waiting = round
    this.#last = round.catch(() => {})
    return round
  }
}
