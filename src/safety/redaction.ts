import { isSecretName, maskAssignments, maskTokens } from './secret-patterns.ts'

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

const shortest = 8

/** Masks values wherever they turn up; `named` says of each what is told in its place. */
export function valueMask(named: Iterable<readonly [value: string, name: string]>): (text: string) => string {
  const names = new Map<string, string>()
  for (const [value, name] of named)
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) names.set(form, name)
  if (names.size === 0) return (text) => text
  // The longest first, so that one secret inside another leaves no rest.
  const forms = [...names.keys()].sort((a, b) => b.length - a.length).map((form) => literal(form))
  const found = new RegExp(forms.join('|'), 'g')
  return (text) => text.replace(found, (value) => `[masked ${names.get(value)}]`)
}

/** The values of variables whose names say that they are secret. */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): [value: string, name: string][] {
  return Object.entries(env).flatMap(([name, value = '']): [string, string][] => {
    if (!isSecretName(name) || value.length < shortest || isPath(value) || /^[a-z]+$/i.test(value)) return []
    return [[value, `$${name}`]]
  })
}

function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]+)*\/?$/.test(value)
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Shorter ones would turn up in words. */
const shortestField = 6

/** What is secret in something that was put away under a name: a key itself, or the tokens of a login. */
export function keptSecrets(name: string, kept: string): [value: string, name: string][] {
  const values = kept.trimStart().startsWith('{') ? tokensIn(kept) : [kept]
  return values.filter((value) => value.length >= shortestField).map((value) => [value, `key of ${name}`])
}

function tokensIn(text: string): string[] {
  const found: string[] = []
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (typeof value === 'string' && isSecretName(key)) found.push(value)
      return value
    })
  } catch {
    return [text]
  }
  return found
}
