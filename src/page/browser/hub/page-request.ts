import type { ParamOf } from '../../../hub/model/operations/operation.ts'
import type { OperationName } from '../../../hub/model/operations/operations.ts'
import { filledPath, methodAndPath } from '../../../hub/model/operations/operation.ts'

/**
 * An operation of the hub on one item. Only the types of the table of operations are imported here, so that its schemas are not part of
 * the page.
 */
export type HubRequest<N extends OperationName = OperationName> = { name: N; method: 'GET' | 'POST'; path: string }

type Params<N extends OperationName> = [ParamOf<N>] extends [never] ? [] : [Record<ParamOf<N>, string | number>]

export function request<N extends OperationName>(name: N, ...params: Params<N>): HubRequest<N> {
  const { method, path } = methodAndPath(name)
  return { name, method, path: filledPath(path, params[0] ?? {}) }
}
