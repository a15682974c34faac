import { isSecretName } from './names.ts'

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
