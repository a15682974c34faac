import type { TaskQuery } from '../../model/hub-ledger.ts'
import type { FieldsOf } from '../../model/operations/operations.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { TaskPlace } from '../../engine/hub-reads.ts'
import { defined } from '../../../base/defined.ts'
import { mostRows } from '../../model/operations/input-shapes.ts'
import { taskStates } from '../../model/tasks/task.ts'
import { HubError } from '../../engine/rules/task-rules.ts'

/** The tasks that a request asks for. */
export function taskQueryIn(fields: FieldsOf<'GET /api/tasks'>): TaskQuery & { most: number } {
  const { state, id: like, workspace, agent, pipeline } = fields
  const { after, limit: most } = pageIn(fields)
  return defined({ states: state?.split(',').map(stateIn), workspace, agent, pipeline, like, after, most })
}

/** The page of a list that a request asks for: at most `limit` tasks that follow the task `after`. */
export function pageIn({ after, limit = mostRows }: FieldsOf<'GET /api/page/tasks'>): {
  after?: TaskPlace
  limit: number
} {
  return defined({ after: placeIn(after ?? ''), limit: Math.min(mostRows, Math.max(1, limit)) })
}

/** The place of a task in a list, as text that a client sends back to get the tasks that follow. */
export const cursorText = ({ created, id }: TaskPlace) => `${created}.${id}`

function placeIn(text: string): TaskPlace | undefined {
  if (text === '') return undefined
  const [, created, id] = /^(-?\d+)\.(.+)$/s.exec(text) ?? []
  if (created !== undefined && id !== undefined) return { created: Number(created), id }
  throw new HubError('wrong', `after: found "${text}", allowed: the place from an earlier answer.`)
}

function stateIn(text: string): TaskState {
  const state = taskStates.find((each) => each === text)
  if (state) return state
  throw new HubError('wrong', `state: found "${text}", allowed: ${taskStates.join(', ')}.`)
}
