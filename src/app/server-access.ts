import { messageOf } from '../base/error-message.ts'
import type { Io } from '../core/io.ts'
import type { OwnKey } from '../hub/hub-keys.ts'
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, isMissing, makeFolder, replaceFile } from '../base/files.ts'
import { newSecret } from '../hub/hub-keys.ts'
import { say, UsageError } from '../core/io.ts'
import { isIP } from 'node:net'

/** Reads the key that clients of our servers must send, or makes it; the file is readable by its owner alone. */
export function keyIn(home: string, name: 'mcp.key' | 'hub.key'): { key: string; file: string } {
  const file = join(home, name)
  return { key: readKey(file) ?? makeKey(home, file), file }
}

function makeKey(home: string, file: string): string {
  makeFolder(home)
  const key = newSecret()
  try {
    createWhole(file, `${key}\n`)
    return key
  } catch (error) {
    // Another process made the key at the same moment.
    const other = errorCode(error) === 'EEXIST' ? readKey(file) : undefined
    if (other === undefined) throw error
    return other
  }
}

/** Creates a file that appears with its whole content, so that a process that dies here leaves no half of a key behind. */
function createWhole(file: string, text: string): void {
  const options = { mode: 0o600, flag: 'wx', flush: true }
  const whole = `${file}.${randomUUID()}`
  try {
    writeFileSync(whole, text, options)
    linkSync(whole, file)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw error
    // Some file systems have no hard links.
    writeFileSync(file, text, options)
  } finally {
    rmSync(whole, { force: true })
  }
}

/** The key of this machine's own person to the hub that runs on this home. */
export function ownHubKey(home: string): OwnKey {
  const { key, file } = keyIn(home, 'hub.key')
  let secret = key
  return {
    file,
    secret: () => secret,
    made: () => Math.floor(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0),
    renew() {
      const next = newSecret()
      writeKey(file, next)
      secret = next
    },
  }
}

/** Writes a key into a file that only its owner can read, in place of the key in it. */
export function writeKey(file: string, key: string): void {
  replaceFile(file, `${key}\n`, `${file}.${randomUUID()}`)
}

/** Reads a key file; undefined when there is none yet. */
export function readKey(file: string): string | undefined {
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new UsageError(`other users can read ${file}: delete it, and the next start makes a new key.`)
    const key = readFileSync(file, 'utf8').trim()
    if (key.length < 20) throw new UsageError(`${file} holds no key: delete it, and the next start makes one.`)
    return key
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export type Address = { host: string; port: number }

/** Parses `[host:]port`. Plain HTTP is served to this machine alone. */
export function addressOf(text: string): Address {
  const [, name = '127.0.0.1', digits] = /^(?:(.+):)?(\d+)$/.exec(text) ?? []
  const port = digits === undefined ? NaN : Number(digits)
  if (!(port <= 65_535)) throw new UsageError(`--http: found "${text}", allowed: [host:]port, as in 127.0.0.1:3920.`)
  const host = name.replace(/^\[(.*)\]$/, '$1')
  if (!isLoopback(host))
    throw new UsageError(
      `--http: ${host} can be reached from the network, and plain HTTP would show everything to it. Serve on 127.0.0.1 and reach it by ssh -L, or through a proxy with TLS.`,
    )
  return { host, port }
}

export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** Reports faults of a server's connections, but only where debugging is switched on: clients come and go. */
export const sayIfDebugging = (io: Io) => (error: Error) => {
  if (io.env.TERMAITE_DEBUG === '1') say(io, `termaite: ${messageOf(error)}`)
}
