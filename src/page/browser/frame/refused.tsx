import { refused } from '../hub/act.ts'

/** The words with which the hub refused the last act; nothing where it was done. */
export function Refused() {
  return refused.value === '' ? null : <p role="alert">{refused.value}</p>
}
