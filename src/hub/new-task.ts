import type { Task } from '../core/work/task.ts'
import { newId } from '../base/id.ts'
import { HubError } from './trouble.ts'

export type NewTask = {
  /** Of the caller's choosing: one that is sent again, because our answer got lost, is the same task. */
  id?: string
  prompt: string
  workspace: string
  wish?: string
  capabilities?: string[]
  priority?: number
  needs?: string[]
  by: string
}

/** A task as it begins; what it cannot be is said. */
export function taskFrom(wanted: NewTask, known: ReadonlyMap<string, Task>, now: number): Task {
  const { id, by, prompt, workspace, wish, capabilities = [], priority = 0, needs = [] } = wanted
  if (id !== undefined && known.has(id)) throw new HubError('wrong', `Task ${id} is another one.`)
  if (id !== undefined && !/^[\w-]{8,64}$/.test(id))
    throw new HubError('wrong', 'An id is 8 to 64 letters, digits, _ and -.')
  if (prompt.trim() === '') throw new HubError('wrong', 'A task needs a prompt.')
  const strange = needs.find((need) => !known.has(need))
  if (strange !== undefined) throw new HubError('wrong', `There is no task ${strange} to depend on.`)
  return {
    id: id ?? newId(now),
    prompt,
    workspace,
    priority,
    capabilities,
    needs,
    ...(wish === undefined ? {} : { wish }),
    state: 'QUEUED',
    created: now,
    moved: now,
    returns: 0,
    notes: [],
    history: [{ at: now, state: 'QUEUED', by }],
  }
}
