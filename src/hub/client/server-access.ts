import { messageOf } from '../../base/error-message.ts'
import type { Io } from '../../core/io.ts'
import type { OwnKey } from '../engine/access/hub-keys.ts'
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, lstatSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, isMissing, makeFolder, replaceFile } from '../../base/files/files.ts'
import { newSecret } from '../engine/access/secret.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { isUnusable, setAside } from '../../store/set-aside.ts'
import { isIP } from 'node:net'

/**
 * Reads the key that clients of our servers must send, or makes it; only its owner can read the file. A file that does not contain a key is
 * moved aside.
 */
export function keyIn(
  io: Io,
  home: string,
  name: 'mcp.key' | 'hub.key' | 'machine.key',
): { key: string; file: string } {
  const file = join(home, name)
  if (lstatSync(file, { throwIfNoEntry: false }) && !holdsKey(file)) setAside(file, voiceOf(io))
  return { key: readKey(file) ?? makeKey(home, file), file }
}

function holdsKey(file: string): boolean {
  try {
    return keyText(file) !== undefined
  } catch (error) {
    return !isUnusable(error, file)
  }
}

/** Every key that termaite makes is one line of letters and digits. */
function keyText(file: string): string | undefined {
  const text = readFileSync(file, 'utf8').trim()
  return /^[\w.~+/=-]{20,}$/.test(text) ? text : undefined
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

/** Creates a file that appears with its whole content, so that a process that dies here does not leave half a key behind. */
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

/** The key with which the person of this machine accesses the hub that runs on this home. */
export function ownHubKey(io: Io, home: string): OwnKey {
  const { key, file } = keyIn(io, home, 'hub.key')
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

/** Replaces the key in a file that only its owner can read. */
export function writeKey(file: string, key: string): void {
  replaceFile(file, `${key}\n`, `${file}.${randomUUID()}`)
}

/** Reads a key file; undefined if it does not exist or contains no key, in which case the next server that needs a key makes one. */
export function readKey(file: string): string | undefined {
  try {
    const stat = statSync(file)
    if (stat.isDirectory()) return undefined
    if ((stat.mode & 0o077) !== 0)
      throw new UsageError(`other users can read ${file}: delete it, and the next start makes a new key.`)
    return keyText(file)
  } catch (error) {
    if (isMissing(error) || isUnusable(error, file)) return undefined
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

/** Reports faults of a server's connections, but only when debugging is switched on: clients come and go. */
export const sayIfDebugging = (io: Io) => (error: Error) => {
  if (io.env.TERMAITE_DEBUG === '1') say(io, `termaite: ${messageOf(error)}`)
}
