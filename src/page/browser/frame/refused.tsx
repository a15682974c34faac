import { refused } from '../hub/act.ts'

/** The message of the hub if it refused the last act; nothing if the act succeeded. */
export function Refused() {
  return refused.value === '' ? null : <p role="alert">{refused.value}</p>
}
