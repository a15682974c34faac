import type { Fields, Shape } from '../../../core/data/shape.ts'
import type { Right } from '../access/rights.ts'

/** One operation of the hub. Its name in the table is its method and its path, such as `POST /api/tasks/:id/approve`. */
export type Operation = {
  /** One sentence about the operation, for the description of the API. */
  about: string
  right: Right
  /** The fields of the query of a GET, or of the body of a POST. The body of a POST without fields is ignored. */
  input?: Fields
  /** Set if the body is bytes that the handler reads as they arrive. */
  takesPieces?: true
  output: Shape<unknown>
  /**
   * How many seconds an answer may take to begin, if that is longer than usual; `wait`: the seconds that the request names, and a few
   * more.
   */
  patience?: number | 'wait'
  /**
   * How the audit shows a POST: `none` for reports that a working agent sends all the time and whose content is stored with the task and
   * the agent, `claim` for a request that is an act only if it gets a task.
   */
  audit?: 'none' | 'claim'
}

/** The named parts of a path: `id` and `number` of `/api/tasks/:id/tries/:number/diff`. */
export type ParamOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

/** The method and the path of an operation. A part of the path that begins with a colon matches any one part. */
export function methodAndPath(name: string): { method: 'GET' | 'POST'; path: string } {
  const [method, path] = name.split(' ') as ['GET' | 'POST', string]
  return { method, path }
}

/** A path whose named parts are replaced by values. */
export const filledPath = (path: string, params: Readonly<Record<string, string | number>>) =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))

/** The rights for reports of agents: a repeated report leads to the same state, or its task remembers the request. */
const reports: readonly Right[] = ['register', 'take', 'report', 'ask']

/** Whether a client that gives its request a key may repeat the request: it runs once, and the answer is always the same. */
export const isDoneOnce = (name: string, { right, takesPieces }: Operation) =>
  name.startsWith('POST ') && !takesPieces && !reports.includes(right)

/** Whether an operation uses the key of a request. For an agent's report, the task itself remembers the key. */
export const takesKey = (name: string, operation: Operation) =>
  isDoneOnce(name, operation) ||
  (name.startsWith('POST /api/tasks/:id/') && ['report', 'ask'].includes(operation.right) && !operation.takesPieces)

/**
 * Whether the transaction that makes the change also stores the request, as for tasks and messages, so that the request can be repeated
 * even if its hub was killed.
 */
export const isRemembered = (name: string, { right }: Operation) =>
  name.startsWith('POST /api/tasks') || right === 'broadcast'
