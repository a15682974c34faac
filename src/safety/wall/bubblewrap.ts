import { lstatSync, readdirSync } from 'node:fs'
import type { Argv, WallPlan } from './limits.ts'
import type { Mount } from './mounts.ts'

/**
 * The bubblewrap command line. The command has no capabilities, cannot gain any, and sees no process, message queue or terminal of the
 * host. The root is built from nothing: only the mounts exist, and nothing else can be written.
 */
export function bubblewrap(command: Argv, plan: WallPlan, programs: BubblewrapPrograms): Argv {
  const { network, terminal, asRoot, scratch } = plan
  const [root, mounts] =
    plan.mounts[0]?.path === '/' ? [plan.mounts.slice(0, 1), plan.mounts.slice(1)] : [[], plan.mounts]
  const covers = programs.unshare === undefined ? [] : plan.covered
  const shared = network ? undefined : scratch?.network
  return [
    '/bin/sh',
    ...['-c', prelude, programs.filter ?? ''],
    ...(shared ? [shared.nsenter, `--user=${shared.user}`, '--preserve-credentials', `--net=${shared.net}`] : []),
    ...(covers.length === 0 ? [] : coverCommand(programs.unshare!, covers)),
    programs.bwrap,
    ...root.flatMap(mountFlags),
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...(asRoot ? kernelSettings().flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...mounts.flatMap(mountFlags),
    // Writing outside the writable places fails, because the files would be lost when the command exits.
    ...mounts.flatMap(({ path, as }) => (as === 'empty' ? ['--remount-ro', path] : [])),
    ...['--remount-ro', '/'],
    '--unshare-user',
    ...userFlags(asRoot, covers.length > 0),
    ...['--cap-drop', 'ALL'],
    // The control groups stay those of the host: in a separate namespace, the files that tell Java how large the machine is would have
    // paths that do not exist.
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(network || shared ? [] : ['--unshare-net']),
    ...(terminal ? [] : ['--new-session']),
    '--die-with-parent',
    ...['--seccomp', '9'],
    '--',
    ...command,
  ]
}

/**
 * The program that builds the wall, by its absolute path, and the file with the filter of system calls; without that file, the filter is
 * read from the standard input.
 */
type BubblewrapPrograms = { bwrap: string; filter?: string; unshare?: string }

/** bubblewrap runs the command as a user other than root, because the kernel then gives a started program no capabilities. */
function userFlags(asRoot: boolean, asCoverer: boolean): string[] {
  if (asRoot) return ['--uid', '1000', '--gid', '1000']
  return asCoverer ? ['--uid', String(process.getuid!()), '--gid', String(process.getgid!())] : []
}

/**
 * The words that cover sockets in a namespace around that of the wall. A socket may disappear at any moment, or be in a folder that
 * nobody else can enter: bubblewrap would fail there, while here only the cover fails. The cover has all flags that bubblewrap would set,
 * because bubblewrap fails if a mount disappears before it sets them.
 */
function coverCommand(unshare: string, paths: readonly string[]): string[] {
  const cover = 'mount -n --bind -o ro,nosuid,nodev /dev/null "$1" 2>/dev/null'
  const loop = `while [ "$1" != -- ]; do ${cover}; shift; done; shift; exec "$@"`
  return [unshare, '--user', '--map-root-user', '--mount', '--', '/bin/sh', '-c', loop, 'sh', ...paths, '--']
}

const withFilter = 'if [ -n "$0" ]; then exec "$@" 9<"$0"; else exec "$@" 9<&0; fi'

/**
 * Closes every file that was left open by accident before bubblewrap starts: through an open folder of the host a command could get past
 * all mounts. Only bash closes descriptors with two digits. Then opens the filter for bubblewrap.
 */
const prelude = [
  // The folder by its real path: a link on the way to it may be missing behind the wall.
  'cd -P . && export PWD',
  'for fd in /proc/$$/fd/*; do',
  'fd=${fd##*/}',
  'case $fd in',
  '[012]) ;;',
  '[3-9]) eval "exec $fd>&-" ;;',
  `*) if [ -e "/proc/$$/fd/$fd" ]; then exec /bin/bash -p -c '`,
  `for fd in /proc/$$/fd/*; do fd=\${fd##*/}; if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi; done`,
  `${withFilter}' "$0" "$@"; fi ;;`,
  'esac',
  'done',
  withFilter,
].join('\n')

/**
 * Every writable file in /proc that belongs to no process: settings of the kernel, which root can write without any capability, even in a
 * user namespace.
 */
function kernelSettings(): string[] {
  // Reads only the names: if Node also read the types of all entries, it would look up processes that have exited meanwhile, and throw.
  const names = readdirSync('/proc').filter((name) => !/^\d+$/.test(name))
  return names.map((name) => `/proc/${name}`).filter(isWritable)
}

function isWritable(path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false })
  return there?.isDirectory() === true || (there?.isFile() === true && (there.mode & 0o222) !== 0)
}

function mountFlags({ path, as, from = path }: Mount): string[] {
  if (as === 'empty' || as === 'temporary') return ['--tmpfs', path]
  if (as === 'folder') return ['--dir', path]
  if (as === 'link') return ['--symlink', from, path]
  if (as === 'blank') return ['--ro-bind', '/dev/null', path]
  return [as === 'read' ? '--ro-bind-try' : '--bind-try', from, path]
}
