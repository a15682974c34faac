import { maskAssignments } from './redaction/assignments.ts'
import { secretVariables, valueMask } from './redaction/environment.ts'
import { keptSecrets } from './redaction/kept.ts'
import { maskTokens } from './redaction/tokens.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Masks what looks like a secret and keeps so much that one can tell which; time grows with the text alone. */
export function mask(text: string): string {
  return maskAssignments(maskTokens(text))
}

/** As `mask`, and the values of the secret variables of an environment as well. */
export function redactor(env: Env): (text: string) => string {
  return learningRedactor(env).mask
}

export type Redactor = {
  mask(text: string): string
  /** From now on this is masked too: a key that was put away, or was found there. */
  learn(name: string, kept: string): void
}

/** As `redactor`, and what it learns; `kept` is what was put away before, looked at with the first text. */
export function learningRedactor(env: Env, kept: () => Readonly<Record<string, string>> = () => ({})): Redactor {
  const learned: [string, string][] = []
  let before: [string, string][] | undefined
  let known: ((text: string) => string) | undefined
  const all = () => {
    before ??= [...Object.entries(kept()).flatMap((one) => keptSecrets(...one)), ...secretVariables(env)]
    return valueMask([...before, ...learned])
  }
  return {
    mask: (text) => mask((known ??= all())(text)),
    learn(name, secret) {
      learned.push(...keptSecrets(name, secret))
      known = undefined
    },
  }
}
