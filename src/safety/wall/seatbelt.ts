import type { Argv, WallPlan } from './limits.ts'
import type { Mount } from './mounts.ts'
import { dirname } from 'node:path'
import { isWithin } from '../../base/files/real-path.ts'

/**
 * The macOS sandbox command line. Everything that is not allowed here is denied; of several matching rules, the last one counts. The
 * services are those that Chrome and @anthropic-ai/sandbox-runtime found ordinary programs to need. Launch Services and Apple Events
 * (`open`, `osascript`) are missing on purpose, because they start programs outside the sandbox.
 */
export function seatbelt(command: Argv, { mounts, network, sockets, settings, roots, scratch }: WallPlan): Argv {
  const profile = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec)',
    '(allow process-fork)',
    ...['process-info*', 'signal', 'mach-priv-task-port'].map((what) => `(allow ${what} (target same-sandbox))`),
    '(allow user-preference-read)',
    `(allow mach-lookup ${services.map((name) => `(global-name "${name}")`).join(' ')})`,
    '(allow ipc-posix-shm)',
    '(allow ipc-posix-sem)',
    '(allow sysctl-read)',
    '(allow sysctl-write (sysctl-name "kern.tcsm_enable"))',
    '(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))',
    '(allow iokit-get-properties)',
    '(allow pseudo-tty)',
    '(allow file-ioctl (subpath "/dev"))',
    '(allow file-read*)',
    `(allow file-write* ${devices.map(quotePath('literal')).join(' ')} (regex #"^/dev/ttys[0-9]+$"))`,
    ...(scratch ? [] : [`(allow file-write* ${temporaryFolders.map(quotePath('subpath')).join(' ')})`]),
    ...mounts.flatMap(rules),
    // A rule by name also applies to files that do not exist yet, at any depth.
    ...roots.flatMap((root) =>
      settings.map((name) => `(deny file-write* (regex ${JSON.stringify(anywhereIn(root, name))}))`),
    ),
    ...networkRules(network, sockets, mounts),
  ]
  return ['/usr/bin/sandbox-exec', '-p', profile.join('\n'), ...command]
}

const services = [
  'com.apple.FontObjectsServer',
  'com.apple.PowerManagement.control',
  'com.apple.bsd.dirhelper',
  'com.apple.distributed_notifications@Uv3',
  'com.apple.fonts',
  'com.apple.logd',
  'com.apple.lsd.mapdb',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.trustd.agent',
]

const devices = ['/dev/null', '/dev/zero', '/dev/tty', '/dev/ptmx', '/dev/dtracehelper', '/dev/random', '/dev/urandom']

/** On macOS a process cannot see another folder at the same path, so these are shared with the host, unless a turn has its own. */
const temporaryFolders = ['/private/tmp', '/private/var/folders']

const quotePath = (filter: 'literal' | 'subpath') => (path: string) => `(${filter} ${JSON.stringify(path)})`

function rules({ path, as, from }: Mount, _: number, mounts: readonly Mount[]): string[] {
  // On macOS there is no separate root, so no folders are needed around the mounts.
  if (as === 'link' || as === 'folder' || as === 'temporary') return []
  // On macOS nothing can be shown at another path; programs find the temporary folder of a turn by TMPDIR.
  if (from !== undefined) return as === 'write' ? [`(allow file-write* ${quotePath('subpath')(from)})`] : []
  const place = quotePath('subpath')(path)
  if (as === 'empty' || as === 'blank')
    return [`(deny file-read* file-write* ${place})`, ...waysThrough(path, mounts).map(lookedAt)]
  return [`(allow file-read* ${place})`, `(${as === 'write' ? 'allow' : 'deny'} file-write* ${place})`]
}

const lookedAt = (path: string) => `(allow file-read-metadata ${quotePath('literal')(path)})`

/** The folders on the way from a hidden one to visible places inside it: programs look at each of them on the way to a file. */
function waysThrough(hidden: string, mounts: readonly Mount[]): string[] {
  const shown = mounts.filter(({ path, as }) => (as === 'read' || as === 'write') && isWithin(hidden, path))
  const above = (path: string): string[] => (path === hidden ? [path] : [...above(dirname(path)), path])
  return [...new Set(shown.flatMap(({ path }) => (path === hidden ? [] : above(dirname(path)))))]
}

/** A file name at any depth below a folder. File systems of a Mac ignore the case of names. */
function anywhereIn(root: string, name: string): string {
  const plain = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const anyCase = plain(name).replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
  return `^${plain(root)}/(.*/)?${anyCase}(/.*)?$`
}

/** If unix sockets are allowed, only those in writable folders are: the host's sockets are elsewhere. */
function networkRules(network: boolean, sockets: boolean, mounts: readonly Mount[]): string[] {
  const writable = mounts.filter(({ as }) => as === 'write').map(({ path, from = path }) => quotePath('subpath')(from))
  return [
    ...(network
      ? ['(allow network* (remote ip "*:*"))', '(allow network* (local ip "*:*"))']
      : [
          '(allow network-bind (local ip "*:*"))',
          '(allow network-inbound (local ip "*:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
        ]),
    ...(network ? ['(allow network-outbound (literal "/private/var/run/mDNSResponder"))'] : []),
    '(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))',
    ...(sockets && writable.length > 0
      ? [
          '(allow system-socket (socket-domain AF_UNIX))',
          ...writable.flatMap((place) => [
            `(allow network-bind (local unix-socket ${place}))`,
            `(allow network-outbound (remote unix-socket ${place}))`,
          ]),
        ]
      : []),
  ]
}
