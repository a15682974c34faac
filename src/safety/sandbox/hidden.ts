import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isWithin } from '../../base/real-path.ts'
import { secretFolders } from '../secret-files.ts'

export type Hidden = { folders: readonly string[]; files: readonly string[] }

const secretFiles = ['.netrc', '.npmrc', '.pypirc', '.git-credentials', '.pgpass', '.vault-token', '.env']

/** Where keys are kept, as far as it is there and nothing that must be read lies in it. */
export async function hiddenPlaces(home: string, readable: readonly string[]): Promise<Hidden> {
  const folders: string[] = []
  const files: string[] = []
  for (const path of [...secretFolders(home), ...secretFiles.map((name) => join(home, name))]) {
    if (readable.some((one) => isWithin(path, one))) continue
    // A link would be hidden in place of what it leads to.
    const there = await lstat(path).catch(() => undefined)
    if (there?.isDirectory()) folders.push(path)
    else if (there?.isFile()) files.push(path)
  }
  return { folders, files }
}
