import type { Argv, Walls } from './walls.ts'
import { isWithin } from '../../base/real-path.ts'

/** Its profile language takes the last rule that fits. */
export function seatbelt(command: Argv, { root, writable, network, hidden, kept }: Walls): Argv {
  const places = (paths: readonly string[]) => paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(' ')
  const writes = [root, ...writable, '/private/tmp', '/private/var/folders', '/dev']
  const secrets = [...hidden.folders, ...hidden.files]
  // What lies among secrets and is worked in is none.
  const opened = [root, ...writable].filter((path) => secrets.some((secret) => isWithin(secret, path)))
  const profile = [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${places(writes)})`,
    ...(secrets.length > 0 ? [`(deny file-read* file-write* ${places(secrets)})`] : []),
    ...(opened.length > 0 ? [`(allow file-read* file-write* ${places(opened)})`] : []),
    ...(kept.length > 0 ? [`(deny file-write* ${places(kept)})`] : []),
    ...(network ? [] : ['(deny network*)', '(allow network* (local unix-socket))']),
  ]
  return ['/usr/bin/sandbox-exec', '-p', profile.join('\n'), ...command]
}
