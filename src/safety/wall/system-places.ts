import type { Mount } from './mounts.ts'
import { accessSync, constants, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { ownPlaces } from '../../base/process/own-program.ts'
import { isProgram } from '../../base/process/program-path.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'
import { temporary } from './hidden-places.ts'
import { isPlace } from './toolchains.ts'

/**
 * Places of the system that every program may read: of `/var` only the parts of installed packages, of `/run` only programs of NixOS and
 * the names of the servers for host names, of `/sys` only the files that tell a program how large the machine is.
 */
const places = [
  ...[
    '/usr',
    '/bin',
    '/sbin',
    '/lib',
    '/lib32',
    '/lib64',
    '/libx32',
    '/libexec',
    '/etc',
    '/opt',
    '/nix',
    '/gnu',
    '/snap',
  ],
  ...['/run/current-system', '/run/booted-system', '/run/opengl-driver'],
  ...['/sys/devices/system', '/sys/fs/cgroup', '/sys/kernel/mm/transparent_hugepage'],
  ...[
    '/var/lib/ca-certificates',
    '/var/lib/dpkg',
    '/var/lib/rpm',
    '/var/lib/pacman',
    '/var/lib/apk',
    '/var/lib/alternatives',
  ],
  ...['/var/lib/texmf', '/var/lib/ghc', '/var/cache/fontconfig'],
]

/** Links of the system that lead to other mounts or into nothing. */
const links = ['/var/run', '/var/lock']

let known: Mount[] | undefined

/** The system behind a wall, whose root is built from nothing. Determined once, because a system does not move while it runs. */
export function systemPlaces(): Mount[] {
  known ??= [...places.flatMap(shownAt), ...links.flatMap(linksTo), ...resolver()]
  return known
}

/** An existing place, with the links on the way to it. */
export function shownAt(path: string): Mount[] {
  const real = realIfThere(path)
  return real === undefined || real === '/' ? [] : [...linksTo(path), { path: real, as: 'read' }]
}

const mostLinks = 40

/** Folders of which every command has its own. */
const ofCommand = ['/proc', '/dev']

/** The links on the way to a path, so that the path leads to the same place behind the wall. */
export function linksTo(path: string): Mount[] {
  const found: Mount[] = []
  let at = '/'
  let parts = path.split('/')
  while (parts.length > 0 && found.length < mostLinks) {
    const next = join(at, parts.shift()!)
    const there = look(next)
    if (there === undefined || ofCommand.includes(next)) break
    if (!there.isSymbolicLink()) {
      at = next
      continue
    }
    const to = readlinkSync(next)
    found.push({ path: next, as: 'link', from: to })
    parts = [...resolve(dirname(next), to).split('/'), ...parts]
    at = '/'
  }
  return found
}

/** The file that names the servers for host names; systemd keeps it among the sockets. */
function resolver(): Mount[] {
  const path = realIfThere('/etc/resolv.conf')
  return path === undefined ? [] : [{ path, as: 'read' }]
}

const programs = new Map<string, { mark: string; mounts: Mount[] }>()

/**
 * The folders of the person's PATH, and the programs to which links in them lead. For a program that npm installed, the packages next to
 * it are also shown; for any other, only the file. The home is never shown for this.
 */
export function programPlaces(path: string, home: string, writable: readonly string[]): Mount[] {
  const folders = [...new Set([...path.split(delimiter), ...ownPlaces()].filter(isAbsolute).map((one) => resolve(one)))]
  const real = folders
    .flatMap((folder) => realIfThere(folder) ?? [])
    // A command that may write a folder could put links to anything in there.
    .filter((folder) => !writable.some((one) => isWithin(one, folder)))
  const mark = real.map((folder) => look(folder)?.ctimeMs).join(' ')
  const key = JSON.stringify([folders, home, writable])
  const last = programs.get(key)
  if (last?.mark === mark) return last.mounts
  const mounts = [
    ...folders.flatMap(linksTo),
    ...real
      .flatMap((folder) => [withPackages(folder), ...ledTo(folder)])
      .filter((one) => one !== temporary && isPlace(one, home)),
  ].map((one): Mount => (typeof one === 'string' ? { path: one, as: 'read' } : one))
  programs.set(key, { mark, mounts })
  return mounts
}

/** npm's links in `.bin` lead to the folder above. */
const withPackages = (folder: string) => folder.replace(/(\/node_modules)\/\.bin$/, '$1')

const mostPrograms = 200

function ledTo(folder: string): string[] {
  if (places.some((place) => isWithin(place, folder)) || look(folder)?.isDirectory() !== true) return []
  const targets = entriesOf(folder)
    .filter((entry) => entry.isSymbolicLink())
    .slice(0, mostPrograms)
    .flatMap(({ name }) => realIfThere(join(folder, name)) ?? [])
    .filter((target) => !isWithin(withPackages(folder), target) && isProgram(target))
  return [...new Set(targets.map((target) => /^.*?\/node_modules(?=\/)/.exec(target)?.[0] ?? target))]
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function look(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

let closed: string[] | undefined

/** Files and folders in `/etc` that this user may read but not everybody: above all those of root, if termaite runs as root. */
export function closedPlaces(): string[] {
  closed ??= closedIn('/etc')
  return closed
}

function closedIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) return []
    const { mode = 0, size = 0 } = look(path) ?? {}
    if (entry.isDirectory() && (mode & 0o001) !== 0) return closedIn(path)
    return (mode & 0o004) === 0 && size > 0 && isReadable(path) ? [path] : []
  })
}
