import type { Mount } from './mounts.ts'
import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { ownPlaces } from '../../base/own-program.ts'
import { isWithin } from '../../base/real-path.ts'
import { secretFolders, secretHomeFiles } from '../secret-files.ts'

/** The temporary folder: it holds other programs' files and sockets, so a command gets one of its own. */
export const temporary = '/tmp'

/** Folders of running programs: sockets of the session bus, of containers, of agents for keys, and WSL's way to Windows. */
const runtime = ['/run', '/var/run']

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

/** Files that root owns: as root, a command could read them behind the wall too. */
const secretsOfRoot = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d']

/** Parts of the runtime folders that hold programs and no sockets, on NixOS. */
const programsOfRuntime = ['/run/current-system', '/run/booted-system', '/run/opengl-driver']

type HiddenPlaces = {
  /** The person's home. */
  home: string
  /** Termaite's own home. */
  own: string
  /** Further places that the limits hide. */
  further: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  /** The temporary folder that the commands of a turn share; without it each command has an empty one. */
  scratch?: string
}

/** The places that nobody behind a wall sees: other programs' sockets and temporary files, and places of keys. */
export async function hiddenPlaces({ home, own, further, env, scratch }: HiddenPlaces): Promise<Mount[]> {
  const mounts: Mount[] = [
    scratch === undefined ? empty(temporary) : { path: temporary, as: 'write', from: scratch, private: true },
  ]
  const places = [
    ...runtime,
    ...(env.XDG_RUNTIME_DIR && isAbsolute(env.XDG_RUNTIME_DIR) ? [env.XDG_RUNTIME_DIR] : []),
    ...secretFolders(home),
    own,
    ...further,
    ...[...secretFiles, ...secretHomeFiles].map((name) => join(home, name)),
    ...namedLogins.map((name) => env[name] ?? '').filter(isAbsolute),
    ...secretsOfRoot,
  ]
  mounts.push(...(await Promise.all(places.map(hidden))).flat())
  for (const path of [...programsOfRuntime, ...(await resolver()), ...programFolders(env.PATH)])
    if (mounts.some((mount) => mount.path !== path && isWithin(mount.path, path))) mounts.push({ path, as: 'read' })
  return mounts
}

const empty = (path: string): Mount => ({ path, as: 'empty' })

/**
 * A link is followed: a mount on it would not hide its target. A path that does not exist cannot be hidden and need not
 * be.
 */
async function hidden(place: string): Promise<Mount[]> {
  const path = await realpath(place).catch(() => undefined)
  if (path === undefined || path === '/') return []
  const there = await stat(path).catch(() => undefined)
  if (there?.isDirectory()) return [empty(path)]
  return there ? [{ path, as: 'blank' }] : []
}

/** The file that names the servers for host names; systemd keeps it among the sockets. */
async function resolver(): Promise<string[]> {
  return realpath('/etc/resolv.conf').then(
    (path) => [path],
    () => [],
  )
}

/** Folders of programs, which must be found also where everything around them is hidden. npm's links in `.bin` lead to the folder above. */
function programFolders(path = ''): string[] {
  const folders = [...path.split(delimiter), ...ownPlaces()].filter(isAbsolute).map((one) => resolve(one))
  return [...new Set(folders.map((folder) => folder.replace(/(\/node_modules)\/\.bin$/, '$1')))]
}

/**
 * Sockets of the host outside the hidden places, each covered by an empty file: those that the kernel lists for this network
 * namespace, and those that were mounted from another one, as containers get the socket of their engine. What a command behind
 * the wall opened without a network is in neither list.
 */
export async function hostSockets(): Promise<Mount[]> {
  const [table, mounts] = await Promise.all(
    ['/proc/net/unix', '/proc/self/mountinfo'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  const listed = table!.split('\n').flatMap((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line)?.[1] ?? [])
  const mounted = mounts!.split('\n').flatMap((line) => line.split(' ')[4]?.replaceAll(octal, character) ?? [])
  const found = await Promise.all(
    [...new Set([...listed, ...mounted])].map(async (path): Promise<Mount[]> => {
      const real = await realpath(path).catch(() => undefined)
      if (real === undefined || !(await lstat(real).catch(() => undefined))?.isSocket()) return []
      return [{ path: real, as: 'blank' }]
    }),
  )
  return found.flat()
}

/** The kernel writes a space in the name of a mount as \040. */
const octal = /\\([0-7]{3})/g
const character = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))
