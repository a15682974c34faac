import { isSecretName } from './names.ts'

const shortest = 8

/** Masks the values of variables whose names say that they are secret, wherever they turn up. */
export function environmentMask(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const names = new Map<string, string>()
  for (const [name, value = ''] of Object.entries(env)) {
    if (!isSecretName(name) || value.length < shortest || isPath(value) || /^[a-z]+$/i.test(value)) continue
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) names.set(form, name)
  }
  if (names.size === 0) return (text) => text
  // The longest first, so that one secret inside another leaves no rest.
  const forms = [...names.keys()].sort((a, b) => b.length - a.length).map((form) => literal(form))
  const found = new RegExp(forms.join('|'), 'g')
  return (text) => text.replace(found, (value) => `[masked $${names.get(value)}]`)
}

function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]+)*\/?$/.test(value)
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
