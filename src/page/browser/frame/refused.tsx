import { refused } from '../hub/act.ts'

/** The message with which the hub refused the last act; nothing if the act succeeded. */
export function Refused() {
  return refused.value === '' ? null : <p role="alert">{refused.value}</p>
}
