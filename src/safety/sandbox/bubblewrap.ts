import { join } from 'node:path'
import type { Argv, Walls } from './walls.ts'

/** Others' files lie there, and each command has one of its own. */
export const temporary = '/tmp'

/** The order matters: what stands later lies on top. */
export function bubblewrap(command: Argv, { root, writable, network, hidden, programs }: Walls): Argv {
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
    // What Git runs by itself is not for the sandbox to write: it would run outside of it.
    ...(trial
      ? []
      : ['hooks', 'config'].flatMap((name) => ['--ro-bind-try', join(root, '.git', name), join(root, '.git', name)])),
    ...(trial ? [] : ['--ro-bind-try', join(root, '.termaite'), join(root, '.termaite')]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--',
    ...command,
  ]
}
