import { signal } from '@preact/signals'
import { call } from './page-connection.ts'
import { request } from './page-request.ts'

/** The names of the people whom the hub knows. */
export const people = signal<readonly string[]>([])

/** Loads the list of people again; without an answer the page offers no names. */
export function knowPeople(): void {
  call(request('GET /api/people')).then(
    (names) => (people.value = names),
    () => (people.value = []),
  )
}
