import { signal } from '@preact/signals'
import { call } from './hub-connection.ts'

/** The names of the people whom the hub knows. */
export const people = signal<readonly string[]>([])

/** Reads the people again; without an answer the page offers nobody. */
export function knowPeople(): void {
  call('GET', '/api/people').then(
    (names) => (people.value = names as string[]),
    () => (people.value = []),
  )
}
