import type { Task } from '../../model/tasks/task.ts'
import { sha256 } from '../../../base/hash.ts'
import { HubError } from './task-rules.ts'

/** The most requests that a task remembers. */
const mostRemembered = 50

/**
 * The name under which a request is remembered, so that a repetition after a lost answer does nothing. `key` is the client's own name for
 * the request; without one the result is undefined. The same key from another client, or for another act, is another request.
 */
export function requestName(by: string, act: string, key: string | undefined): string | undefined {
  if (key === undefined) return undefined
  if (!/^[\x21-\x7e]{1,200}$/.test(key))
    throw new HubError(
      'wrong',
      'An idempotency key has 1 to 200 ASCII letters, digits and punctuation marks, and no spaces.',
    )
  return sha256()
    .update(JSON.stringify([by, act, key]))
    .digest('hex')
    .slice(0, 26)
}

/** Whether this request has changed the task before. */
export const isRepeated = ({ requests = [] }: Pick<Task, 'requests'>, name: string | undefined) =>
  name !== undefined && requests.includes(name)

/** The task with one more remembered request; the oldest ones are forgotten. */
export const withRequest = <T extends Task>(task: T, name: string): T => ({
  ...task,
  requests: [...(task.requests ?? []), name].slice(-mostRemembered),
})
