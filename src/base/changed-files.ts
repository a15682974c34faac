import { promises } from 'node:fs'
import { join } from 'node:path'

const skipped = new Set(['.git', 'node_modules'])
const mostFiles = 50_000

/** Says whether any file in a folder changed after a time. Stops at the first one, and gives up on very large trees. */
export async function changedSince(folder: string, since: number): Promise<boolean> {
  const waiting = [folder]
  let seen = 0
  while (waiting.length > 0 && seen < mostFiles) {
    const directory = waiting.pop()!
    try {
      for await (const entry of await promises.opendir(directory)) {
        seen++
        const path = join(directory, entry.name)
        if (entry.isDirectory()) {
          if (!skipped.has(entry.name)) waiting.push(path)
        } else if ((await promises.lstat(path)).mtimeMs > since) return true
      }
    } catch {
      // A file that disappears or cannot be read does not count as a change.
    }
  }
  return false
}
