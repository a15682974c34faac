import { signal } from '@preact/signals'
import { call } from './page-connection.ts'
import { request } from './page-request.ts'

/** The names of the people whom the hub knows. */
export const people = signal<readonly string[]>([])

/** Reads the people again; without an answer the page offers nobody. */
export function knowPeople(): void {
  call(request('GET /api/people')).then(
    (names) => (people.value = names),
    () => (people.value = []),
  )
}
