import type { HubCaller } from '../../core/work/hub-key.ts'
import type { Parser } from '../../core/work/shape.ts'
import type { HubOperation } from '../../hub/hub-roles.ts'
import { messageOf } from '../../base/error-message.ts'
import { StoreError } from '../../core/talk/store.ts'
import { checkRole } from '../../hub/hub-roles.ts'
import { HubError } from '../../hub/task-rules.ts'

/** A request that was let in, with its body read. */
type HubRequest = {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  /** The client whose key the request carries. */
  caller: HubCaller
  /** Aborted when the caller has hung up. */
  signal: AbortSignal
}

/** `id` is the part of the path that stands where the route says `:id`; empty where the route has none. */
export type RoutedRequest = HubRequest & { id: string }

export type HubRoute = {
  method: 'GET' | 'POST'
  /** `:id` matches any one part. */
  path: string
  /** The operation of the table of roles that the route is. */
  operation: HubOperation
  answer(request: RoutedRequest): Promise<unknown>
}

export type HubAnswer = { status: number; body: unknown }

const statuses: Record<HubError['kind'], number> = { missing: 404, conflict: 409, wrong: 400, forbidden: 403 }

/** Answers with the matching route; a faulty request gets an answer that says what is wrong. */
export async function answerRequest(routes: readonly HubRoute[], request: HubRequest): Promise<HubAnswer> {
  const { method, path } = request
  const matching = routes.flatMap((route) => {
    const id = idIn(route.path, path)
    return id === undefined ? [] : [{ route, id }]
  })
  if (matching.length === 0) return refusal(404, `there is nothing at ${path}`)
  const found = matching.find(({ route }) => route.method === method)
  if (!found)
    return refusal(405, `${path} accepts ${matching.map(({ route }) => route.method).join(', ')}, not ${method}`)
  try {
    checkRole(request.caller, found.route.operation)
    return { status: 200, body: await found.route.answer({ ...request, id: found.id }) }
  } catch (error) {
    if (error instanceof HubError) return refusal(statuses[error.kind], error.message)
    if (error instanceof WrongInput) return refusal(400, error.message)
    return refusal(error instanceof StoreError ? 507 : 500, messageOf(error))
  }
}

export function refusal(status: number, error: string): HubAnswer {
  return { status, body: { error } }
}

class WrongInput extends Error {}

/** The fields of a body; throws what becomes a 400 where the body has another shape. */
export function readBody<T>(shape: Parser<T>, body: unknown): T {
  try {
    return shape.parse(body ?? {})
  } catch (error) {
    throw new WrongInput(messageOf(error))
  }
}

/** The id in a path that matches a route, empty where the route names none; undefined where it does not match. */
function idIn(route: string, path: string): string | undefined {
  const [wanted, given] = [route.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  if (!wanted.every((part, at) => part === ':id' || part === given[at])) return undefined
  return decoded(given[wanted.indexOf(':id')] ?? '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
