import type { HubCaller } from '../../model/access/hub-key.ts'
import type { Parser } from '../../../core/data/shape.ts'
import type { Operation } from '../../model/operations/operation.ts'
import type { plainText } from '../../model/operations/described.ts'
import type { AnswerOf, FieldsOf, OperationName, ParamsOf } from '../../model/operations/operations.ts'
import type { AuditTrail } from '../../engine/audit-trail.ts'
import type { KeptRequests } from '../../engine/kept-requests.ts'
import { defined } from '../../../base/defined.ts'
import { faultWords, Misfit, object, parser, pathText } from '../../../core/data/shape.ts'
import { messageOf } from '../../../base/error-message.ts'
import { diskFullWords, isDiskFull } from '../../../base/files/system-error.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { isDoneOnce, isRemembered, methodAndPath } from '../../model/operations/operation.ts'
import { operations } from '../../model/operations/operations.ts'
import { awaySeconds, LedgerAway } from '../../model/ledger-away.ts'
import { subjectOf } from '../../engine/audit-trail.ts'
import { checkRole } from '../../engine/access/hub-roles.ts'
import { HubError, taskIdOf } from '../../engine/rules/task-rules.ts'

/** An admitted request, with its body parsed as JSON, or in pieces if the route reads it that way. */
type HubRequest = {
  method: string
  path: string
  query: URLSearchParams
  body?: unknown
  pieces?: AsyncIterable<Uint8Array>
  /** The client's own name for the request (`Idempotency-Key`), by which the hub recognizes a repetition. */
  key?: string
  /** The key or the cookies with which the client authenticates. */
  secret?: string
  /** The client whose key the request carries. */
  caller: HubCaller
  /** Aborted when the caller has hung up. */
  signal: AbortSignal
  /** Records the act of the request. */
  trail?: AuditTrail
}

/** A request, with the values of the named parts of its path. */
type RoutedRequest = HubRequest & { params: Readonly<Record<string, string>> }

/** An operation of the hub, and the function that answers it. */
export type HubRoute = {
  name: OperationName
  method: 'GET' | 'POST'
  /** The path's pattern. A part that begins with a colon, such as `:id`, matches any one part. */
  path: string
  operation: Operation
  answer(request: RoutedRequest): Promise<unknown>
}

/** The result of a handler: the answer, a page of a list, or a text that is sent while it is read. */
type HandlerAnswer<N extends OperationName> = (typeof operations)[N]['output'] extends typeof plainText
  ? StreamedText
  : AnswerOf<N> | (AnswerOf<N> extends readonly (infer Row)[] ? PagedList<Row> : never)

/** A function for each operation. It gets the fields of the request, and the request itself with the named parts of its path. */
export type Handlers<N extends OperationName> = {
  [K in N]: (fields: FieldsOf<K>, request: HubRequest & ParamsOf<K>) => Promise<HandlerAnswer<K>>
}

/** The routes of a hub, one for each handler. A request with a key runs once; its answer is stored in `requests`. */
export function routesOf<N extends OperationName>(
  handlers: Handlers<N>,
  requests: Pick<KeptRequests, 'once'>,
): HubRoute[] {
  type Handle = (fields: object, request: HubRequest) => Promise<unknown>
  return (Object.entries(handlers) as [N, Handle][]).map(([name, handle]) => {
    const operation: Operation = operations[name]
    const { method, path } = methodAndPath(name)
    const read = fieldReader(method, operation)
    return doneOnce(
      {
        name,
        method,
        path,
        operation,
        answer: async ({ params, ...request }) => handle(read(request), { ...request, ...params }),
      },
      requests,
    )
  })
}

/** Reads the fields of an operation from the query of a GET, or from the body of a POST. */
function fieldReader(method: HubRoute['method'], { input }: Operation): (request: HubRequest) => object {
  if (!input) return () => ({})
  const body = parser(input)
  if (method === 'POST') return (request) => readBody(body, request.body)
  const query = object(input)
  const names = Object.keys(input)
  return (request) => {
    const sent = Object.fromEntries(names.map((name) => [name, request.query.get(name)]))
    try {
      return query.read(sent, { path: [], lenient: true })
    } catch (error) {
      throw error instanceof Misfit
        ? new WrongInput(`${pathText(error.fault.path)}: ${faultWords(error.fault)}.`)
        : error
    }
  }
}

/** A text that is sent while it is being read, for answers that are too long for memory. */
export class StreamedText {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly bytes: number

  constructor(chunks: AsyncIterable<Uint8Array>, bytes: number) {
    this.chunks = chunks
    this.bytes = bytes
  }
}

/** A page of a list. It is sent as an array; if there is a next page, the header `x-next` names its place. */
export class PagedList<Row = unknown> {
  readonly rows: readonly Row[]
  readonly next: string | undefined

  constructor(rows: readonly Row[], next: string | undefined) {
    this.rows = rows
    this.next = next
  }
}

/** The stored answer of a repeated request, which did nothing this time. */
class RepeatedAnswer {
  readonly body: unknown

  constructor(body: unknown) {
    this.body = body
  }
}

/** An answer; its body is sent as JSON unless it is a StreamedText. */
export type HubAnswer = { status: number; body: unknown; headers?: Record<string, string>; isRepeated?: true }

const statuses: Record<HubError['kind'], number> = {
  missing: 404,
  gone: 410,
  conflict: 409,
  wrong: 400,
  long: 413,
  forbidden: 403,
}

/** Answers with the matching route; an invalid request gets an answer that says what is wrong. */
export async function answerRequest(routes: readonly HubRoute[], request: HubRequest): Promise<HubAnswer> {
  const { method, path } = request
  const matching = matchingRoutes(routes, path)
  if (matching.length === 0) return refusal(404, `there is nothing at ${path}`)
  const found = matching.find(({ route }) => route.method === method)
  if (!found)
    return refusal(405, `${path} accepts ${matching.map(({ route }) => route.method).join(', ')}, not ${method}`)
  const answer = await answerRoute(found, request)
  await noteAct(found, request, answer)
  return answer
}

type Found = { route: HubRoute; params: Record<string, string> }

async function answerRoute({ route, params }: Found, request: HubRequest): Promise<HubAnswer> {
  try {
    checkRole(request.caller, route.operation.right)
    const body = await route.answer({ ...request, params })
    if (body instanceof RepeatedAnswer) return { status: 200, body: body.body, isRepeated: true }
    if (!(body instanceof PagedList)) return { status: 200, body }
    const { rows, next } = body
    return { status: 200, body: rows, headers: next === undefined ? {} : { 'x-next': encodeURIComponent(next) } }
  } catch (error) {
    return faultAnswer(error)
  }
}

/** Wraps a route so that a request with a key runs only once and its answer is stored. */
function doneOnce(route: HubRoute, requests: Pick<KeptRequests, 'once'>): HubRoute {
  if (!isDoneOnce(route.name, route.operation)) return route
  const remembers = isRemembered(route.name, route.operation)
  return {
    ...route,
    answer: async (request) => {
      const { caller, key, method, path, body, signal, secret = '' } = request
      if (key === undefined) return route.answer(request)
      const asked = { by: caller.name, act: `${method} ${path}`, key, body, secret, remembers, signal }
      const { answer, isRepeated } = await requests.once(asked, () => route.answer(request))
      return isRepeated ? new RepeatedAnswer(answer) : answer
    },
  }
}

/** Records the act of a request. Reading is not an act unless it was refused, and neither is a repeated request. */
async function noteAct(
  { route, params }: Found,
  { caller, trail }: HubRequest,
  { status, body, isRepeated }: HubAnswer,
): Promise<void> {
  if (!trail || isRepeated) return
  const isRefused = status === 403
  if (!isRefused && (route.method === 'GET' || route.operation.audit === 'none')) return
  const isWait = route.operation.audit === 'claim'
  // A wait that returned nothing is not an act.
  if (isWait && status === 200 && (body as { type?: string }).type !== 'task') return
  const [first] = Object.values(params)
  const named = first !== undefined && route.path.startsWith('/api/tasks/') ? taskIdOf(first) : first
  const on = isWait ? (subjectOf(body) ?? named) : (named ?? subjectOf(body))
  await trail.note(defined({ caller, act: isWait ? 'tasks claim' : actOf(route), on, status }))
}

/** The name of a route in the audit: `POST /api/tasks/:id/approve` is `tasks approve`, and `POST /api/tasks` is `tasks add`. */
function actOf({ method, path }: HubRoute): string {
  const words = path.split('/').filter((part) => part !== '' && part !== 'api' && !part.startsWith(':'))
  if (method === 'GET') return [...words, 'read'].join(' ')
  return (words.length === 1 ? [...words, 'add'] : words).join(' ')
}

/** The answer to a request that failed. If the hub cannot reach its ledger, the answer says when to try again. */
export function faultAnswer(error: unknown): HubAnswer {
  if (error instanceof HubError) return refusal(statuses[error.kind], error.message)
  if (error instanceof WrongInput) return refusal(400, error.message)
  if (error instanceof LedgerAway)
    return { ...refusal(503, error.message), headers: { 'retry-after': String(awaySeconds) } }
  if (isDiskFull(error)) return refusal(507, `The machine of the hub could not do this: ${diskFullWords}.`)
  return refusal(error instanceof StoreError ? 507 : 500, messageOf(error))
}

/** Whether the route that matches a request reads the body itself, piece by piece. */
export function takesPieces(routes: readonly HubRoute[], method: string, path: string): boolean {
  return matchingRoutes(routes, path).some(
    ({ route }) => route.method === method && route.operation.takesPieces === true,
  )
}

function matchingRoutes(routes: readonly HubRoute[], path: string): Found[] {
  const given = path.split('/')
  return partsOf(routes).flatMap(({ route, wanted }) => {
    const params = namedParts(wanted, given)
    return params ? [{ route, params }] : []
  })
}

/** The routes' paths, already split: splitting a hundred paths for each request took a sixth of the hub's time. */
const splitRoutes = new WeakMap<readonly HubRoute[], { route: HubRoute; wanted: string[] }[]>()

function partsOf(routes: readonly HubRoute[]) {
  const known = splitRoutes.get(routes)
  if (known) return known
  const parts = routes.map((route) => ({ route, wanted: route.path.split('/') }))
  splitRoutes.set(routes, parts)
  return parts
}

export function refusal(status: number, error: string): HubAnswer {
  return { status, body: { error } }
}

class WrongInput extends Error {}

/** Parses the fields of a body; if they do not fit, throws an error that becomes a 400. */
export function readBody<T>(shape: Parser<T>, body: unknown): T {
  try {
    return shape.parse(body ?? {})
  } catch (error) {
    throw new WrongInput(messageOf(error))
  }
}

/** The named parts of a path that matches a route; undefined if it does not match. */
export function paramsIn(route: string, path: string): Record<string, string> | undefined {
  return namedParts(route.split('/'), path.split('/'))
}

function namedParts(wanted: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (wanted.length !== given.length) return undefined
  if (!wanted.every((part, at) => part.startsWith(':') || part === given[at])) return undefined
  return Object.fromEntries(
    wanted.flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), decodePart(given[at]!)]] : [])),
  )
}

/** Decodes a part of a path; a part that cannot be decoded stays as it is. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
