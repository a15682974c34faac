import type { Env } from '../../base/env.ts'
import type { Dirent } from 'node:fs'
import type { Ignore } from 'ignore'
import { setImmediate } from 'node:timers/promises'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { projectGit } from '../../base/git/project-git.ts'

/** A path, with the values that a search compares. */
export type Item = { path: string; lower: string; depth: number }

/** All paths that can be found: files and the folders above them. */
export class PathList {
  #known = new Map<string, Item>()
  items: readonly Item[] = []

  /** Replaces the list once the new one is complete; until then the old list is searched. */
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

/** At most this many paths are listed. */
const mostPaths = 200_000

/** The existing files below a folder that git does not ignore; none outside a git project. */
export async function gitPaths(cwd: string, env: Env, signal: AbortSignal): Promise<string[]> {
  const git = projectGit(env)
  const names = (...args: string[]) =>
    splitPaths((enough) => git.ran(cwd, ['ls-files', '-z', ...args], { signal, enough }))
  const [all, gone] = await Promise.all([names('-co', '--exclude-standard'), names('-d')])
  const missing = new Set(gone)
  return missing.size === 0 ? all : all.filter((path) => !missing.has(path))
}

/** Splits git's output as it arrives, so that a long list never blocks typing. */
async function splitPaths(run: (enough: (chunk: Uint8Array) => boolean) => Promise<unknown>): Promise<string[]> {
  const names: string[] = []
  const decoder = new TextDecoder()
  let rest = ''
  const enough = (chunk: Uint8Array) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\0')
    rest = parts.pop()!
    names.push(...parts)
    return names.length >= mostPaths
  }
  await run(enough)
  return names
}

/** How many items are processed at once: few enough that a keystroke never waits for them. */
const atOnce = 256

/** Processes a long list with pauses for other work; false if the signal aborted. */
export async function inSlices<T>(items: readonly T[], signal: AbortSignal, each: (item: T) => void): Promise<boolean> {
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await setImmediate()
    if (signal.aborted) return false
    const to = Math.min(from + atOnce, items.length)
    for (let at = from; at < to; at++) each(items[at]!)
  }
  return true
}

/** Outside a repository, a folder may be as large as a whole disk. */
const mostWalkedPaths = 50_000

const neverLookedInto = new Set(['.git', 'node_modules'])

/** The ignore rules of one folder, for the paths below it. */
type Rules = { below: string; ignores: Ignore }

type Folder = { path: string; rules: readonly Rules[] }

/** The files below a folder that no `.gitignore` on the way excludes, the nearest folders first; links are not followed. */
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

/** The nearest rules that match the path decide. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { below, ignores } of rules) {
    const { ignored, unignored } = ignores.test(path.slice(below.length))
    if (ignored || unignored) return ignored
  }
  return false
}
