import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Whether it leads out of the folder: from the root, from home, or up. */
export function isRooted(typed: string): boolean {
  return /^(?:\/|~\/|\.\.\/)/.test(typed)
}

/** The names in the folder typed so far that begin as typed, as they would be written; hidden ones only when asked for. */
export async function rootedPaths(
  typed: string,
  cwd: string,
  home: string | undefined,
  most: number,
): Promise<string[]> {
  const split = typed.lastIndexOf('/') + 1
  const [folder, name] = [typed.slice(0, split), typed.slice(split).toLowerCase()]
  if (folder.startsWith('~') && home === undefined) return []
  const at = folder.startsWith('~') ? join(home!, folder.slice(1)) : resolve(cwd, folder)
  const entries = await readdir(at, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.name.toLowerCase().startsWith(name) && (name !== '' || !entry.name.startsWith('.')))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
    .slice(0, most)
}
