import { isSecretVariable, maskAssignments, maskTokens } from './secret-patterns.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Masks text that looks like a secret, and keeps enough to tell which one it is. Takes time in proportion to the text's length. */
export function mask(text: string): string {
  return maskAssignments(maskTokens(text))
}

export type Redactor = {
  mask(text: string): string
  /** Also masks this key from now on. */
  learn(name: string, kept: string): void
}

/** Like `mask`; also masks the values of secret variables of an environment. */
export function redactor(env: Env): (text: string) => string {
  return learningRedactor(env).mask
}

/** Like `redactor`; also masks learned keys and the stored keys in `kept`, which are read with the first text. */
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

/** Masks values wherever they occur; `named` gives the name that replaces each one. */
export function valueMask(named: Iterable<readonly [value: string, name: string]>): (text: string) => string {
  const names = new Map<string, string>()
  for (const [value, name] of named)
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) names.set(form, name)
  if (names.size === 0) return (text) => text
  // The longest come first, so that a secret inside another one leaves no rest.
  const forms = [...names.keys()].sort((a, b) => b.length - a.length).map((form) => literal(form))
  const found = new RegExp(forms.join('|'), 'g')
  return (text) => text.replace(found, (value) => `[masked ${names.get(value)}]`)
}

/** The values of variables with secret names. */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): [value: string, name: string][] {
  return Object.entries(env).flatMap(([name, value = '']): [string, string][] => {
    if (!isSecretVariable(name) || value.length < shortest || isPath(value) || /^[a-z]+$/i.test(value)) return []
    return [[value, `$${name}`]]
  })
}

function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]+)*\/?$/.test(value)
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Shorter values would occur in ordinary words. */
const shortestField = 6

/** The secrets in a stored value: the key itself, or the tokens of a login. */
export function keptSecrets(name: string, kept: string): [value: string, name: string][] {
  const values = kept.trimStart().startsWith('{') ? tokensIn(kept) : [kept]
  return values.filter((value) => value.length >= shortestField).map((value) => [value, `key of ${name}`])
}

function tokensIn(text: string): string[] {
  const found: string[] = []
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (typeof value === 'string' && isSecretVariable(key)) found.push(value)
      return value
    })
  } catch {
    return [text]
  }
  return found
}
