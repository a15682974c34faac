import { maskAssignments } from './redaction/assignments.ts'
import { environmentMask } from './redaction/environment.ts'
import { maskTokens } from './redaction/tokens.ts'

/** Masks what looks like a secret and keeps so much that one can tell which; time grows with the text alone. */
export function mask(text: string): string {
  return maskAssignments(maskTokens(text))
}

/** As `mask`, and the values of the secret variables of an environment as well. */
export function redactor(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const known = environmentMask(env)
  return (text) => mask(known(text))
}
