import type { Env } from '../base/env.ts'
import type { Border } from './border.ts'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '../base/files/files.ts'

type KeyParts = {
  home: string
  env: Env
  /** Replaces the system's keychain; `null` means no keychain. */
  keychain?: Keychain | null
  /** Gets every key that is found or stored, so that it can be masked. */
  border?: Pick<Border, 'learn'>
}

/** Where a key was found or stored. */
export type KeyPlace = 'environment' | 'keychain' | 'credentials.json'

/** API keys from the environment, the keychain, or a file that only its owner can read. Messages never contain a key. */
export interface Keys {
  /** Finds a key: first in `variables`, in order, then under `name` in the file and the keychain. */
  get(name: string, variables: readonly string[]): Promise<{ key: string; place: KeyPlace } | undefined>
  put(name: string, key: string): Promise<KeyPlace>
  /** Removes a key; returns whether it existed. */
  remove(name: string): Promise<boolean>
}

export function openKeys(parts: KeyParts): Keys {
  const file = join(parts.home, 'credentials.json')
  let found: Promise<Keychain | undefined> | undefined
  // `TERMAITE_KEYCHAIN=off` is for runs that must not touch the person's keychain, such as tests.
  const own = parts.keychain === undefined && parts.env.TERMAITE_KEYCHAIN !== 'off'
  const keychain = () => (found ??= own ? systemKeychain() : Promise.resolve(parts.keychain ?? undefined))

  const known = <P extends KeyPlace>(name: string, key: string, place: P) => {
    parts.border?.learn(name, key)
    return { key, place }
  }

  return {
    async get(name, variables) {
      const variable = variables.find((one) => parts.env[one])
      if (variable) return known(name, parts.env[variable]!, 'environment')
      // The file comes first: it exists only if there was no keychain, and reading it costs nothing.
      const kept = readKeys(file)[name]
      if (kept !== undefined) return known(name, kept, 'credentials.json')
      const key = await readKeychain(() => keychain(), name)
      return key === undefined ? undefined : known(name, key, 'keychain')
    },
    async put(name, key) {
      parts.border?.learn(name, key)
      try {
        const chain = await keychain()
        if (chain) {
          chain.put(name, key)
          forget(file, name)
          return 'keychain'
        }
      } catch {
        // A keychain that refuses counts as missing: the key goes into the file.
      }
      writeKeys(parts.home, file, { ...readKeys(file), [name]: key })
      return 'credentials.json'
    },
    async remove(name) {
      const inFile = forget(file, name)
      const inChain = (await readKeychain(() => keychain(), name)) !== undefined
      if (inChain) (await keychain())!.remove(name)
      return inFile || inChain
    },
  }
}

/** The keys in the file. An unusable file counts as empty here; the error is shown when a key is needed. */
export function keysInFile(home: string): Record<string, string> {
  try {
    return readKeys(join(home, 'credentials.json'))
  } catch {
    return {}
  }
}

async function readKeychain(keychain: () => Promise<Keychain | undefined>, name: string): Promise<string | undefined> {
  try {
    return (await keychain())?.get(name)
  } catch {
    return undefined
  }
}

function readKeys(file: string): Record<string, string> {
  if (!existsSync(file)) return {}
  const mode = statSync(file).mode & 0o077
  if (mode !== 0) throw new Error(`${file} can be read by other users. Run: chmod 600 ${file}`)
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as unknown
    if (isKeys(found)) return found
  } catch {
    // The error below quotes no part of the file, because the parser's message could contain a key.
  }
  throw new Error(`${file} is not a JSON object of names and keys. Correct it, or delete it and connect again`)
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

/** The system's store for secrets; every call may throw if it does not work. */
interface Keychain {
  get(name: string): string | undefined
  put(name: string, secret: string): void
  remove(name: string): void
}

/** The name under which the system shows our secrets to the person. */
const service = 'termaite'

/** The keychain of this machine; undefined if none works, for example on a server without a session. */
async function systemKeychain(): Promise<Keychain | undefined> {
  try {
    const { Entry } = await import('@napi-rs/keyring')
    const entry = (name: string) => new Entry(service, name)
    // Reads an entry that does not exist: a keychain that does not work throws here.
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
