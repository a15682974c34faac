import type { Parser } from '../../core/work/shape.ts'
import { HubError } from '../../hub/task-rules.ts'
import { StoreError } from '../../core/talk/store.ts'
import { wordsOf } from '../../base/words.ts'

/** A request, once it was let in and read. */
export type HubRequest = {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  /** Aborted when whoever asked has gone. */
  signal: AbortSignal
}

export type HubAnswer = { status: number; body: unknown }

/** One thing that can be asked: `:name` stands for any one part of its path. */
export type HubRoute = {
  method: string
  path: readonly string[]
  answer(asked: HubRequest, parts: Record<string, string>): Promise<unknown>
}

const statuses: Record<HubError['kind'], number> = { missing: 404, conflict: 409, wrong: 400 }

/** Finds what was asked for, and says in words what is wrong with it otherwise. */
export async function answerRequest(routes: readonly HubRoute[], asked: HubRequest): Promise<HubAnswer> {
  const path = asked.path.split('/')
  const fitting = routes.flatMap((route) => {
    const parts = partsOf(route.path, path)
    return parts ? [{ route, parts }] : []
  })
  if (fitting.length === 0) return refusal(404, `there is nothing at ${asked.path}`)
  const found = fitting.find(({ route }) => route.method === asked.method)
  if (!found)
    return refusal(
      405,
      `${asked.path} knows ${fitting.map(({ route }) => route.method).join(', ')}, not ${asked.method}`,
    )
  try {
    return { status: 200, body: await found.route.answer(asked, found.parts) }
  } catch (error) {
    if (error instanceof HubError) return refusal(statuses[error.kind], error.message)
    if (error instanceof WrongInput) return refusal(400, error.message)
    return refusal(error instanceof StoreError ? 507 : 500, wordsOf(error))
  }
}

export function refusal(status: number, error: string): HubAnswer {
  return { status, body: { error } }
}

class WrongInput extends Error {}

/** What was sent, read by its shape. */
export function readBody<T>(shape: Parser<T>, body: unknown): T {
  try {
    return shape.parse(body ?? {})
  } catch (error) {
    throw new WrongInput(wordsOf(error))
  }
}

function partsOf(wanted: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const fits = wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at])
  if (!fits) return undefined
  const named = wanted.flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), decoded(given[at]!)]] : []))
  return Object.fromEntries(named) as Record<string, string>
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
