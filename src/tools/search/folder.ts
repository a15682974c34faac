import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { trouble } from '../files/place.ts'

/** Where a search begins; throws words when there is no such place. */
export async function searched(cwd: string, path: string): Promise<{ at: string; folder: boolean }> {
  const at = resolve(cwd, path)
  const stats = await stat(at).catch(async (error) => {
    throw new Error(await trouble(error, at, path))
  })
  return { at, folder: stats.isDirectory() }
}
