import type { TaskQuery } from '../../model/hub-ledger.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { TaskPlace } from '../../engine/hub-looks.ts'
import { defined } from '../../../base/defined.ts'
import { taskStates } from '../../model/tasks/task.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { wholeNumber } from './route-forms.ts'

/** The most tasks of one answer. */
const mostRows = 1_000

/** The parameters of a page of a list. */
export const pageWords = {
  after: 'The place that an earlier answer told: its header x-next, or its field next or after.',
  limit: `The most rows of one answer (${mostRows}).`,
}

/** The parameters of a list of tasks. */
export const taskQueryWords = {
  state: 'States of tasks, several with commas.',
  workspace: 'The key of a workspace.',
  agent: 'The id of an agent.',
  pipeline: 'The id of a pipeline.',
  id: 'The end of an id.',
  ...pageWords,
}

/** The tasks that a request wants. */
export function taskQueryIn(query: URLSearchParams): TaskQuery & { most: number } {
  const { after, limit } = pageIn(query)
  return defined({
    states: query.get('state')?.split(',').map(stateIn),
    workspace: query.get('workspace') ?? undefined,
    agent: query.get('agent') ?? undefined,
    pipeline: query.get('pipeline') ?? undefined,
    like: query.get('id') ?? undefined,
    after,
    most: limit,
  })
}

/** The page of a list that a request wants: at most `limit` tasks that come after the one that `after` names. */
export function pageIn(query: URLSearchParams): { after?: TaskPlace; limit: number } {
  const limit = Math.min(mostRows, Math.max(1, wholeNumber(query, 'limit', mostRows)))
  return defined({ after: placeIn(query.get('after') ?? ''), limit })
}

/** The place of a task in a list, as text that a client sends back to get what comes after it. */
export const cursorText = ({ created, id }: TaskPlace) => `${created}.${id}`

function placeIn(text: string): TaskPlace | undefined {
  if (text === '') return undefined
  const [, created, id] = /^(-?\d+)\.(.+)$/s.exec(text) ?? []
  if (created !== undefined && id !== undefined) return { created: Number(created), id }
  throw new HubError('wrong', `after: found "${text}", allowed: the place that an earlier answer has told.`)
}

function stateIn(text: string): TaskState {
  const state = taskStates.find((each) => each === text)
  if (state) return state
  throw new HubError('wrong', `state: found "${text}", allowed: ${taskStates.join(', ')}.`)
}
