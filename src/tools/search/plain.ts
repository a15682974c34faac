import { open, opendir } from 'node:fs/promises'
import { join, relative } from 'node:path'

const skipped = new Set(['.git', 'node_modules'])
const mostFiles = 20_000
const longestFile = 2 * 1024 * 1024

/** The files below a folder in the order of their paths, for where there is no ripgrep; ignore files are not read. */
export async function plainFiles(folder: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  const waiting = [folder]
  while (waiting.length > 0 && found.length < mostFiles) {
    if (signal.aborted) throw new Error('cancelled.')
    const at = waiting.pop()!
    try {
      for await (const entry of await opendir(at)) {
        if (entry.isDirectory() && !skipped.has(entry.name)) waiting.push(join(at, entry.name))
        else if (entry.isFile()) found.push(relative(folder, join(at, entry.name)))
      }
    } catch {
      // What vanishes or may not be opened while we look is not found.
    }
  }
  return found.sort()
}

/** The lines of a file that a pattern matches; none of what is no text. */
export async function plainMatches(path: string, pattern: RegExp): Promise<{ line: number; text: string }[]> {
  const file = await open(path).catch(() => undefined)
  if (!file) return []
  try {
    if ((await file.stat()).size > longestFile) return []
    const text = await file.readFile('utf8')
    if (text.includes('\0')) return []
    return text.split('\n').flatMap((line, i) => (pattern.test(line) ? [{ line: i + 1, text: line }] : []))
  } finally {
    await file.close()
  }
}
