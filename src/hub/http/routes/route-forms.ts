import type { Parser } from '../../../core/data/shape.ts'
import type { Right } from '../../model/access/rights.ts'
import type { HubRoute, RoutedRequest } from '../access/hub-router.ts'
import { string } from '../../../core/data/shape.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { readBody } from '../access/hub-router.ts'

export const text = string({ min: 1 })
export const anyBody: Parser<unknown> = { schema: {}, parse: (body) => body }

/** The longest time that one request waits. */
export const longestSeconds = 290

/** How routes wait: `get` makes a route that reads, `until` returns the end of a wait by `Clock.elapsed`. */
export type Patience = {
  get(path: string, words: RouteWords, answer: HubRoute['answer'], operation?: Right): HubRoute
  until(seconds?: number): number
}

/** One sentence about a route, and the parameters of its query with their meanings. */
type RouteWords = string | { about: string; query: Readonly<Record<string, string>> }

/** The description of a route as its entry contains it. */
export const wordsOf = (words: RouteWords) => (typeof words === 'string' ? { about: words } : words)

export function post<T>(
  path: string,
  about: string,
  operation: Right,
  body: Parser<T>,
  answer: (fields: T, request: RoutedRequest) => Promise<unknown>,
): HubRoute {
  return {
    method: 'POST',
    path,
    about,
    operation,
    ...((body as Parser<unknown>) === anyBody ? {} : { body: body.schema }),
    answer: async (request) => answer(readBody(body, request.body), request),
  }
}

export function wholeNumber(query: URLSearchParams, name: string, usual: number): number {
  const number = Number(query.get(name) ?? usual)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new HubError('wrong', `${name}: found "${query.get(name)}", allowed: a whole number from 0 on.`)
}
