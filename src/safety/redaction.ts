import type { Env } from '../base/env.ts'
import { isSecretVariable, maskAssignments, maskTokens } from './secret-patterns.ts'

/**
 * Masks text that looks like a secret, but keeps enough of it to recognize which one it is. Takes time in proportion to the text's
 * length.
 */
export function mask(text: string): string {
  return maskAssignments(maskTokens(text))
}

const shortest = 8

/** Masks every text inside a value of any shape. */
export function maskWithin(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map((one) => maskWithin(one, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, maskWithin(one, mask)]))
}

/** Masks values at every occurrence; `named` gives the name that replaces each value. */
export function valueMask(named: Iterable<readonly [value: string, name: string]>): (text: string) => string {
  const names = new Map<string, string>()
  for (const [value, name] of named)
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) names.set(form, name)
  if (names.size === 0) return (text) => text
  // The longest come first, so that a secret inside another one leaves no part of the longer one visible.
  const forms = [...names.keys()].sort((a, b) => b.length - a.length).map((form) => literal(form))
  const found = new RegExp(forms.join('|'), 'g')
  return (text) => text.replace(found, (value) => `[masked ${names.get(value)}]`)
}

/** The values of variables with secret names. */
export function secretVariables(env: Env): [value: string, name: string][] {
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
