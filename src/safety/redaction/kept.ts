import { isSecretName } from './names.ts'

/** Shorter ones would turn up in words. */
const shortest = 6

/** What is secret in something that was put away under a name: a key itself, or the tokens of a login. */
export function keptSecrets(name: string, kept: string): [value: string, name: string][] {
  const values = kept.trimStart().startsWith('{') ? tokensIn(kept) : [kept]
  return values.filter((value) => value.length >= shortest).map((value) => [value, `key of ${name}`])
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
