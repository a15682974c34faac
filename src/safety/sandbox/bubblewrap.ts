import type { Argv, Walls } from './walls.ts'

/** Others' files lie there, and each command has one of its own. */
export const temporary = '/tmp'

/** The order matters: what stands later lies on top. */
export function bubblewrap(command: Argv, { root, writable, network, hidden, programs, kept }: Walls): Argv {
  const trial = root === '/'
  return [
    'bwrap',
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...['--tmpfs', temporary],
    ...programs.flatMap((path) => ['--ro-bind-try', path, path]),
    ...hidden.folders.flatMap((path) => ['--tmpfs', path]),
    ...hidden.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...(trial ? [] : ['--bind', root, root]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...kept.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--',
    ...command,
  ]
}
