import { join } from 'node:path'
import type { Argv, Walls } from './walls.ts'

/** Its profile language takes the last rule that fits. */
export function seatbelt(command: Argv, { root, writable, network, hidden }: Walls): Argv {
  const places = (paths: readonly string[]) => paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(' ')
  const writes = [root, ...writable, '/private/tmp', '/private/var/folders', '/dev']
  const kept = [join(root, '.git', 'hooks'), join(root, '.git', 'config'), join(root, '.termaite')]
  const secrets = [...hidden.folders, ...hidden.files]
  const profile = [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${places(writes)})`,
    `(deny file-write* ${places(kept)})`,
    ...(secrets.length > 0 ? [`(deny file-read* file-write* ${places(secrets)})`] : []),
    ...(network ? [] : ['(deny network*)', '(allow network* (local unix-socket))']),
  ]
  return ['/usr/bin/sandbox-exec', '-p', profile.join('\n'), ...command]
}
