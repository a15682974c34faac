import type { Env } from '../../base/env.ts'
import type { Mount } from './mounts.ts'
import { lstatSync, statSync } from 'node:fs'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { realIfThere } from '../../base/files/real-path.ts'
import { secretFolders, secretHomeFiles } from '../secret-files.ts'

/** The temporary folder contains other programs' files and sockets, so a command gets its own. */
export const temporary = '/tmp'

/** Files with keys below the home. The last two let a program draw on the person's screen. */
const secretFiles = [
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.vault-token',
  '.env',
  '.Xauthority',
  '.ICEauthority',
]

/** Variables that name a file or a folder with a login to a cloud, wherever it is. */
const namedLogins = [
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'AZURE_CONFIG_DIR', 'AZURE_FEDERATED_TOKEN_FILE'],
  ...['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE', 'AWS_WEB_IDENTITY_TOKEN_FILE'],
  ...['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'],
]

type HiddenPlaces = {
  /** The person's home. */
  home: string
  /** Termaite's own home. */
  own: string
  /** Further places that the limits hide. */
  further: readonly string[]
  env: Env
}

/** The places of keys, which no program behind a wall sees, even if the folder around them is shown. */
export function hiddenPlaces({ home, own, further, env }: HiddenPlaces): Mount[] {
  const places = [
    ...(env.XDG_RUNTIME_DIR && isAbsolute(env.XDG_RUNTIME_DIR) ? [env.XDG_RUNTIME_DIR] : []),
    ...secretFolders(home),
    own,
    ...further,
    ...[...secretFiles, ...secretHomeFiles].map((name) => join(home, name)),
    ...namedLogins.map((name) => env[name] ?? '').filter(isAbsolute),
  ]
  return places.flatMap(hidingMounts)
}

const empty = (path: string): Mount => ({ path, as: 'empty' })

/** A link is followed, because a mount on it would not hide its target. A path that does not exist cannot be hidden and need not be. */
function hidingMounts(place: string): Mount[] {
  // Most of the places are missing, and these calls are made before each command: synchronous calls are several times faster.
  const path = isThere(place) ? realIfThere(place) : undefined
  if (path === undefined || path === '/') return []
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.isDirectory()) return [empty(path)]
  return there ? [{ path, as: 'blank' }] : []
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/**
 * Sockets of the host in visible places to which this user may connect: those that the kernel lists for this network namespace, and those
 * that were mounted from another one, as containers get the socket of their engine. Sockets that a command behind the wall opened without
 * a network are in neither list.
 */
export async function hostSockets(isSeen: (path: string) => boolean): Promise<string[]> {
  const [table, mounts] = await Promise.all(
    ['/proc/net/unix', '/proc/self/mountinfo'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  const listed = table!.split('\n').flatMap((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line)?.[1] ?? [])
  const mounted = mounts!.split('\n').flatMap((line) => line.split(' ')[4]?.replaceAll(octal, character) ?? [])
  const found = await Promise.all([...new Set([...listed, ...mounted])].filter(isSeen).map(openSocket))
  return found.filter((path) => path !== undefined && isSeen(path)) as string[]
}

/** The real path of a socket to which this user could connect without being root; undefined for anything else. */
async function openSocket(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined)
  const there = real === undefined ? undefined : await lstat(real).catch(() => undefined)
  if (!there?.isSocket()) return undefined
  const mine = there.uid === process.getuid?.() || process.getgroups?.().includes(there.gid) === true
  return mine || (there.mode & 0o002) !== 0 ? real : undefined
}

/** The kernel writes a space in the name of a mount as \040. */
const octal = /\\([0-7]{3})/g
const character = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))
