import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The most folders that are searched for files with keys; folders of other people's code are not searched. */
const mostFolders = 64
const othersCode = new Set(['node_modules', 'vendor', 'target', 'dist', 'build'])

const isSecret = (name: string) =>
  /^\.env(?:rc|\..+)?$/.test(name) && !/^\.env\.(?:example|sample|template|dist|default)/.test(name)

/** The files of a project that may contain a person's keys, each with a mark that changes whenever the file does. No file is read. */
export function secretFileMarks(root: string): Record<string, string> {
  const marks: Record<string, string> = {}
  const folders = ['']
  for (const folder of folders) {
    const entries = entriesIn(join(root, folder))
    // A repository inside the project has its own snapshots.
    if (folder !== '' && entries.some(({ name }) => name === '.git')) continue
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isFile() && isSecret(entry.name)) {
        const stat = statSync(join(root, path), { throwIfNoEntry: false })
        if (stat) marks[path] = `${stat.ino} ${stat.size} ${stat.mtimeMs}`
      }
      const isOwn = entry.isDirectory() && !entry.name.startsWith('.') && !othersCode.has(entry.name)
      if (isOwn && folders.length < mostFolders) folders.push(path)
    }
  }
  return marks
}

/** The paths whose marks differ. */
export const changedMarks = (before: Record<string, string>, after: Record<string, string>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]).sort()

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
