import type { Dirent } from 'node:fs'
import type { Ignore } from 'ignore'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Outside a repository a folder may be anything, a whole disk too. */
const mostPaths = 50_000

const neverLookedInto = new Set(['.git', 'node_modules'])

/** The rules of one folder, for what lies below it. */
type Rules = { below: string; ignores: Ignore }

type Folder = { path: string; rules: readonly Rules[] }

/** The files below a folder that no `.gitignore` on the way leaves out, the nearest folders first; links are not followed. */
export async function walkedPaths(cwd: string, signal: AbortSignal): Promise<string[]> {
  const { default: ignore } = await import('ignore')
  const paths: string[] = []
  const folders: Folder[] = [{ path: '', rules: [] }]
  for (let folder; (folder = folders.shift()) && paths.length < mostPaths && !signal.aborted;) {
    const { path } = folder
    const entries = await readdir(join(cwd, path), { withFileTypes: true }).catch((): Dirent[] => [])
    const own = entries.some(({ name }) => name === '.gitignore')
      ? await readFile(join(cwd, path, '.gitignore'), 'utf8').catch(() => '')
      : ''
    const rules = own === '' ? folder.rules : [{ below: path, ignores: ignore().add(own) }, ...folder.rules]
    for (const entry of entries) {
      const at = `${path}${entry.name}${entry.isDirectory() ? '/' : ''}`
      if (neverLookedInto.has(entry.name) || isIgnored(at, rules)) continue
      if (entry.isDirectory()) folders.push({ path: at, rules })
      else paths.push(at)
    }
  }
  return paths.slice(0, mostPaths)
}

/** The nearest rules that say anything decide. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { below, ignores } of rules) {
    const { ignored, unignored } = ignores.test(path.slice(below.length))
    if (ignored || unignored) return ignored
  }
  return false
}
