import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '../base/files.ts'

export type KeyParts = {
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Another one than the system's; none at all with `null`. */
  keychain?: Keychain | null
  /** Told of every key that is found or put away, so that it can be masked. */
  learn?(name: string, key: string): void
}

/** Where a key was found or put; the key itself is in no message. */
export type KeyPlace = 'environment' | 'keychain' | 'credentials.json'

/** API keys: environment, then keychain, then a file that only its owner can read. */
export interface Keys {
  /** `variables` are tried in their order before what was put away under the name. */
  get(name: string, variables: readonly string[]): Promise<{ key: string; place: KeyPlace } | undefined>
  put(name: string, key: string): Promise<KeyPlace>
  /** Whether there was one. */
  remove(name: string): Promise<boolean>
}

export function openKeys(parts: KeyParts): Keys {
  const file = join(parts.home, 'credentials.json')
  let found: Promise<Keychain | undefined> | undefined
  // `TERMAITE_KEYCHAIN=off`: a run that must leave the person's own alone, whatever its home is.
  const own = parts.keychain === undefined && parts.env.TERMAITE_KEYCHAIN !== 'off'
  const keychain = () => (found ??= own ? systemKeychain() : Promise.resolve(parts.keychain ?? undefined))

  const known = <P extends KeyPlace>(name: string, key: string, place: P) => {
    parts.learn?.(name, key)
    return { key, place }
  }

  return {
    async get(name, variables) {
      const variable = variables.find((one) => parts.env[one])
      if (variable) return known(name, parts.env[variable]!, 'environment')
      // The file first: it is there only where no keychain was, and costs nothing to look into.
      const kept = readKeys(file)[name]
      if (kept !== undefined) return known(name, kept, 'credentials.json')
      const key = await tried(() => keychain(), name)
      return key === undefined ? undefined : known(name, key, 'keychain')
    },
    async put(name, key) {
      parts.learn?.(name, key)
      try {
        const chain = await keychain()
        if (chain) {
          chain.put(name, key)
          forget(file, name)
          return 'keychain'
        }
      } catch {
        // One that refuses is none: the file is there for that.
      }
      writeKeys(parts.home, file, { ...readKeys(file), [name]: key })
      return 'credentials.json'
    },
    async remove(name) {
      const inFile = forget(file, name)
      const inChain = (await tried(() => keychain(), name)) !== undefined
      if (inChain) (await keychain())!.remove(name)
      return inFile || inChain
    },
  }
}

/** What was put away in the file; a file that cannot be used holds nothing, and is complained of by whoever needs a key. */
export function keysInFile(home: string): Record<string, string> {
  try {
    return readKeys(join(home, 'credentials.json'))
  } catch {
    return {}
  }
}

async function tried(keychain: () => Promise<Keychain | undefined>, name: string): Promise<string | undefined> {
  try {
    return (await keychain())?.get(name)
  } catch {
    return undefined
  }
}

function readKeys(file: string): Record<string, string> {
  if (!existsSync(file)) return {}
  const mode = statSync(file).mode & 0o077
  if (mode !== 0) throw new Error(`${file} can be read by others; take that away: chmod 600 ${file}`)
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as unknown
    if (isKeys(found)) return found
  } catch {
    // Said below: what the parser would quote may be a key.
  }
  throw new Error(`${file} is no object of names and keys; mend it, or remove it and connect again`)
}

function isKeys(found: unknown): found is Record<string, string> {
  return typeof found === 'object' && found !== null && Object.values(found).every((value) => typeof value === 'string')
}

function writeKeys(home: string, file: string, keys: Record<string, string>): void {
  makeFolder(home)
  replaceFile(file, `${JSON.stringify(keys, null, 2)}\n`)
}

function forget(file: string, name: string): boolean {
  const keys = readKeys(file)
  if (!Object.hasOwn(keys, name)) return false
  const { [name]: _gone, ...rest } = keys
  replaceFile(file, `${JSON.stringify(rest, null, 2)}\n`)
  return true
}

/** The system's own place for secrets; every call may throw where there is none. */
export interface Keychain {
  get(name: string): string | undefined
  put(name: string, secret: string): void
  remove(name: string): void
}

/** Under this name the system shows our secrets to the person. */
const service = 'termaite'

/** The keychain of this machine, or undefined where none works: a server without a session has none. */
export async function systemKeychain(): Promise<Keychain | undefined> {
  try {
    const { Entry } = await import('@napi-rs/keyring')
    const entry = (name: string) => new Entry(service, name)
    // Asked once for something that is not there: one that does not work says so now.
    entry('probe').getPassword()
    return {
      get: (name) => entry(name).getPassword() ?? undefined,
      put: (name, secret) => entry(name).setPassword(secret),
      remove(name) {
        entry(name).deletePassword()
      },
    }
  } catch {
    return undefined
  }
}
