import type { Dirent } from 'node:fs'
import type { Ignore } from 'ignore'
import { setImmediate } from 'node:timers/promises'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { collect } from '../base/collect.ts'
import { withoutGit } from '../base/git.ts'

/** A path, and what it is searched by. */
export type Item = { path: string; lower: string; depth: number }

/** All paths that can be found: files, and the folders above them. */
export class Stock {
  #known = new Map<string, Item>()
  items: readonly Item[] = []

  /** Takes the place of what was there, once it is whole: until then the old list is the one to search. */
  async replace(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const known = new Map<string, Item>()
    const items: Item[] = []
    const add = (path: string): void => {
      if (known.has(path)) return
      const item = this.#known.get(path) ?? { path, lower: path.toLowerCase(), depth: depthOf(path) }
      known.set(path, item)
      items.push(item)
      const above = path.lastIndexOf('/', path.length - 2)
      if (above >= 0) add(path.slice(0, above + 1))
    }
    if (!(await inSlices(paths, signal, add))) return
    this.#known = known
    this.items = items
  }
}

function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) depth++
  return depth
}

/** More than that are not listed. */
const mostPaths = 200_000

/** The files of a git project below a folder that are not ignored and are there; none where git has nothing to say. */
export async function gitPaths(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<string[]> {
  // A repository's own settings may name a program to ask for changes: a list of names runs none.
  const git = (...args: string[]) => ['-c', 'core.fsmonitor=false', 'ls-files', '-z', ...args]
  const own = { ...withoutGit(env), GIT_OPTIONAL_LOCKS: '0' }
  const names = (args: string[]) => listed(args, { cwd, env: own, signal })
  const [all, gone] = await Promise.all([names(git('-co', '--exclude-standard')), names(git('-d'))])
  const missing = new Set(gone)
  return missing.size === 0 ? all : all.filter((path) => !missing.has(path))
}

/** Read as they come, so that a long list is never cut up in one go. */
async function listed(args: string[], options: Pick<Parameters<typeof collect>[2], 'cwd' | 'env' | 'signal'>) {
  const names: string[] = []
  const decoder = new TextDecoder()
  let rest = ''
  const enough = (chunk: Uint8Array) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\0')
    rest = parts.pop()!
    names.push(...parts)
    return names.length >= mostPaths
  }
  await collect('git', args, { ...options, enough })
  return names
}

/** So few that a keystroke never waits for them. */
const atOnce = 256

/** Goes through a long list without holding up whatever else there is to do; false when it was called off. */
export async function inSlices<T>(items: readonly T[], signal: AbortSignal, each: (item: T) => void): Promise<boolean> {
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await setImmediate()
    if (signal.aborted) return false
    const to = Math.min(from + atOnce, items.length)
    for (let at = from; at < to; at++) each(items[at]!)
  }
  return true
}

/** Outside a repository a folder may be anything, a whole disk too. */
const mostWalkedPaths = 50_000

const neverLookedInto = new Set(['.git', 'node_modules'])

/** The rules of one folder, for what lies below it. */
type Rules = { below: string; ignores: Ignore }

type Folder = { path: string; rules: readonly Rules[] }

/** The files below a folder that no `.gitignore` on the way leaves out, the nearest folders first; links are not followed. */
export async function walkedPaths(cwd: string, signal: AbortSignal): Promise<string[]> {
  const { default: ignore } = await import('ignore')
  const paths: string[] = []
  const folders: Folder[] = [{ path: '', rules: [] }]
  for (let folder; (folder = folders.shift()) && paths.length < mostWalkedPaths && !signal.aborted;) {
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
  return paths.slice(0, mostWalkedPaths)
}

/** The nearest rules that say anything decide. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { below, ignores } of rules) {
    const { ignored, unignored } = ignores.test(path.slice(below.length))
    if (ignored || unignored) return ignored
  }
  return false
}
