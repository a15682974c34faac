import type { FoundServer, ServerValue } from '../../core/profile/belongings.ts'
import { defined } from '../../base/defined.ts'
import { mask } from '../../safety/redaction.ts'
import { isSecretVariable } from '../../safety/secret-patterns.ts'

/** A secret that stays in its place: the name of its field there, and the variable by which termaite's settings refer to it. */
export type LeftSecret = { field: string; variable: string }

/** A server as it is written into our settings, and its secrets, which are not copied. */
type ServerEntry = { entry: Record<string, unknown>; secrets: LeftSecret[] }

/**
 * Makes the entry of a server for our settings; a string explains why the server has no entry. A value that may be a secret is not
 * copied: a variable of the person's environment replaces it.
 */
export function serverEntry(server: FoundServer): ServerEntry | string {
  const secrets: LeftSecret[] = []
  const values = (found: Record<string, ServerValue>, variableOf: (field: string) => string) => {
    const pairs = Object.entries(found).map(([field, value]): [string, string] => {
      if ('reference' in value) return [field, withoutLiteralSecret(value.reference)]
      if (isHarmless(field, value.literal)) return [field, value.literal]
      const variable = variableOf(field)
      secrets.push({ field, variable })
      return [field, `\${${variable}}`]
    })
    return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
  }
  const { name, timeoutSeconds } = server
  if ('url' in server) {
    if (hidesSecret(server.url)) return 'its address seems to hold a secret'
    const headers = values(server.headers, (field) => variableName(`${name}_${field}`))
    return { entry: defined({ type: server.type, url: server.url, headers, timeoutSeconds }), secrets }
  }
  const { command, args, cwd } = server
  if ([command, ...args].some(hidesSecret) || args.some((arg, at) => isAfterSecretFlag(args[at - 1], arg)))
    return 'its arguments seem to hold a secret'
  const env = values(server.env, (field) => (isVariableName(field) ? field : variableName(field)))
  return { entry: defined({ command, args: args.length === 0 ? undefined : args, cwd, env, timeoutSeconds }), secrets }
}

/** The default of a variable is part of the text, so a default that may be a secret is left out. */
function withoutLiteralSecret(reference: string): string {
  return reference.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (whole, variable: string, otherwise: string) =>
    isHarmless(variable, otherwise) ? whole : `\${${variable}}`,
  )
}

/** Whether a path is relative to the folder in which a program is started. */
const isRelative = (word: string) =>
  /^\.{1,2}(?:\/|$)/.test(word) || (/^[\w.@-]+\//.test(word) && !word.includes('://'))

/** An argument that is a program file, as a path relative to that folder. */
const isProgramHere = (arg: string) =>
  /^\.{1,2}\//.test(arg) || /^(?![-/~$])[^\s:]+\.(?:[cm]?[jt]s|py|rb|sh|pl|php|jar)$/.test(arg)

/**
 * Whether a server of the person would run a file of any project that is open: its command, or a program among its arguments, is a path
 * relative to the folder in which it is started.
 */
export function runsProjectFile(server: FoundServer): boolean {
  if ('url' in server || /^[/~]/.test(server.cwd ?? '')) return false
  return isRelative(server.command) || server.args.some(isProgramHere)
}

/** Whether a hook of the person would run a file of any project that is open. */
export function hookRunsProjectFile(command: string): boolean {
  return (
    /_PROJECT_DIR\b/.test(command) ||
    command.split(/[\s;|&()"']+/).some((word, at) => isRelative(word) && (at === 0 || word.startsWith('.')))
  )
}

const isVariableName = (text: string) => /^[A-Za-z_]\w*$/.test(text)

const variableName = (text: string) =>
  text
    .toUpperCase()
    .replaceAll(/\W/g, '_')
    .replace(/^(?=\d)/, '_')

/** Words that are values of settings, not secrets. */
const settingWords =
  /^(?:true|false|yes|no|on|off|\d{1,5}|production|development|test|debug|info|warn|warning|error|trace|silent|verbose|stdio|http|sse|utf-?8|[a-z]{2}_[A-Z]{2}(?:\.UTF-8)?)$/i

/** Whether a value is certainly not a secret: a word of a short list, a path, or an address without a part that may contain keys. */
function isHarmless(field: string, value: string): boolean {
  if (isSecretVariable(field) || /auth|cookie|cred|pass|pwd|token|key|secret|session/i.test(field)) return false
  if (value === '' || settingWords.test(value)) return true
  if (/^(?:~|\.{1,2})?\/[\w.@+/ -]{0,200}$/.test(value)) return mask(value) === value
  const address = URL.parse(value)
  return (
    /^(?:https?|wss?):$/.test(address?.protocol ?? '') &&
    address!.href.length < 200 &&
    [address!.username, address!.password, address!.search, address!.hash].every((part) => part === '') &&
    mask(value) === value &&
    address!.pathname.split('/').every((part) => part.length <= 24)
  )
}

/** Whether the text of a command or an address seems to contain a secret. */
function hidesSecret(text: string): boolean {
  if (mask(text) !== text) return true
  const address = /^[a-z][\w+.-]*:\/\//i.test(text) ? URL.parse(text) : null
  if (!address) return false
  const asked = [...address.searchParams].some(([field, value]) => !/^\$\{/.test(value) && secretField.test(field))
  return asked || (address.password !== '' && !address.password.includes('$'))
}

const secretField = /auth|cred|pass|pwd|token|key|secret|signature|sig$/i

/** `--api-key abc`: the word after a flag with such a name. */
function isAfterSecretFlag(flag: string | undefined, arg: string): boolean {
  return flag !== undefined && /^--?[\w-]+$/.test(flag) && secretField.test(flag) && !/^-|^\$\{\w+\}$/.test(arg)
}
