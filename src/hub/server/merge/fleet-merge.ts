import type { MachinesAtWork, MachineWork, WorkKind } from '../../model/machine-work.ts'
import type { TaskMerge } from '../../model/tasks/task-try.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { WorkMerger } from '../../model/tasks/work-merger.ts'
import { messageOf } from '../../../base/error-message.ts'
import { anything, object, optional, parser, string } from '../../../core/data/shape.ts'
import { parseTask } from '../../model/tasks/task.ts'
import { MergeRefused, RepositoryMissing } from '../../model/tasks/work-merger.ts'
import { wholeName } from '../../model/tasks/workspace.ts'

const text = string({ min: 1 })
const mergeFields = { machine: text, branch: text, into: text, commit: text }

/** Asks a machine whether it could merge a task: `missing` means that it lacks the repository, and `why` names any other obstacle. */
const checkKind: WorkKind<{ task: unknown }, { commit?: string; why?: string; missing?: string }> = {
  name: 'merge.check',
  input: parser({ task: anything() }),
  output: parser({ commit: optional(text), why: optional(text), missing: optional(text) }),
  mostMs: 5 * 60_000,
}

const mergeKind: WorkKind<{ task: unknown }, TaskMerge> = {
  name: 'merge',
  input: parser({ task: anything() }),
  output: parser(mergeFields),
  mostMs: 10 * 60_000,
}

const foundKind: WorkKind<{ task: unknown; commit: string }, { merged?: TaskMerge }> = {
  name: 'merge.found',
  input: parser({ task: anything(), commit: text }),
  output: parser({ merged: optional(object(mergeFields)) }),
  mostMs: 60_000,
}

/** The longest prompt that is sent: a merge only needs its first line. */
const mostPrompt = 500

/** The parts of a task that a merge needs. */
function mergeable({ notes: _notes, history: _history, tries = [], prompt, ...task }: Task): object {
  return {
    ...task,
    prompt: prompt.slice(0, mostPrompt),
    notes: [],
    history: [],
    tries: tries.slice(-1).map(({ checks: _checks, ...last }) => last),
  }
}

/** Lets this machine merge for its hub: it merges the work of tasks whose repository it has into the branch that is checked out there. */
export function offerMerging(work: MachineWork, merger: WorkMerger): void {
  work.register(checkKind, async ({ task }) => {
    try {
      return await merger.check(parseTask(task))
    } catch (error) {
      if (error instanceof RepositoryMissing) return { missing: error.message }
      if (error instanceof MergeRefused) return { why: error.message }
      throw error
    }
  })
  work.register(mergeKind, async ({ task }) => {
    const known = parseTask(task)
    const made = await merger.merge(known)
    await merger.sweep(known).catch(() => {})
    return made
  })
  work.register(foundKind, async ({ task, commit }) => {
    const found = await merger.found(parseTask(task), commit)
    return found ? { merged: found } : {}
  })
}

const by = { name: 'hub', role: 'admin' } as const

/** Merges on the hub's machine if it has the repository, otherwise on the first linked machine that has it and is able to merge. */
export function fleetMerger(own: WorkMerger, machines: () => MachinesAtWork | undefined): WorkMerger {
  /** The machine that answered that it can merge a task; missing if the hub's own machine merges it. */
  const chosen = new Map<string, string>()
  const others = async () =>
    (await machines()?.withWork(mergeKind.name))?.filter((machine) => machine !== own.machine) ?? []
  return {
    machine: own.machine,
    async check(task) {
      chosen.delete(task.id)
      try {
        return await own.check(task)
      } catch (error) {
        if (!(error instanceof RepositoryMissing)) throw error
        const asked = await others()
        if (asked.length === 0) throw error
        const obstacles: string[] = []
        for (const machine of asked) {
          const said = await machines()!
            .ask(machine, checkKind, { task: mergeable(task) }, { by })
            .catch((fault: unknown) => ({ commit: undefined, missing: undefined, why: messageOf(fault) }))
          if (said.commit !== undefined) {
            chosen.set(task.id, machine)
            return { commit: said.commit }
          }
          if (said.missing === undefined) obstacles.push(`${machine}: ${said.why}`)
        }
        if (obstacles.length > 0) throw new MergeRefused(obstacles.join('\n'))
        const linked = `neither has ${asked.length === 1 ? 'the linked machine' : 'any of the linked machines'} (${asked.join(', ')})`
        throw new MergeRefused(
          `The machine of the hub has no clone of ${wholeName(task.workspace)}, and ${linked}. Merge it in a clone of your own: termaite task approve ${task.id.slice(-8)} --merge`,
        )
      }
    },
    async merge(task) {
      const machine = chosen.get(task.id)
      if (machine === undefined) return own.merge(task)
      try {
        return await machines()!.ask(machine, mergeKind, { task: mergeable(task) }, { by })
      } catch (error) {
        throw new MergeRefused(`${machine} did not merge it: ${messageOf(error)}`)
      }
    },
    async found(task, commit) {
      const here = await own.found(task, commit)
      if (here) return here
      for (const machine of await others()) {
        const said = await machines()!
          .ask(machine, foundKind, { task: mergeable(task), commit }, { by })
          .catch(() => ({ merged: undefined }))
        if (said.merged) return said.merged
      }
      return undefined
    },
    async sweep(task) {
      // A linked machine has already cleaned up after its own merge.
      if (!chosen.delete(task.id)) await own.sweep(task)
    },
  }
}
