import type { Program } from '../../base/process/own-program.ts'
import type { ServerStart } from '../../core/profile/profile.ts'
import type { Client } from './clients.ts'
import { delimiter, join } from 'node:path'
import { realIfThere, realOrSame } from '../../base/files/real-path.ts'

/**
 * How another program starts us: by our name if a shell finds it, so that an update needs no new entry; by full paths if the PATH is not
 * the shell's.
 */
export function ownStart(
  { desktop }: Pick<Client, 'desktop'>,
  program: Program,
  path = '',
  args: readonly string[] = ['mcp', 'serve'],
): ServerStart {
  const file = program.at(-1)!
  const own = realOrSame(file)
  const first = path.split(delimiter).flatMap((folder) => realIfThere(join(folder || '.', 'termaite')) ?? [])[0]
  if (!desktop && first === own) return { command: 'termaite', args: [...args] }
  const [command, ...before] = [...program.slice(0, -1), own]
  return { command: command, args: [...before, ...args] }
}
