import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Item } from './file-finder-paths.ts'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PathList, gitPaths, inSlices, walkedPaths } from './file-finder-paths.ts'

type FinderParts = {
  env: Env
  clock: Clock
  /** Stops a listing that still runs. */
  signal?: AbortSignal
  /** Lists paths other than the files below the folder. */
  list?(signal: AbortSignal): Promise<string[]>
}

interface Finder {
  /** Paths that match the text typed after an `@`, best first; folders end in a slash. Empty once the signal has aborted. */
  find(typed: string, most: number, signal: AbortSignal): Promise<string[]>
}

/** A list older than this is made again in the background. */
const freshMs = 3_000

/** Finds files below a folder. They are listed at the first search, and later searches use the same list. */
export function openFinder(cwd: string, parts: FinderParts): Finder {
  const {
    env,
    clock,
    signal: end = new AbortController().signal,
    list = (signal) => pathsBelow(cwd, env, signal),
  } = parts
  const stock = new PathList()
  let listed: Promise<void> | undefined
  let again: Promise<void> | undefined
  let at = 0
  const refresh = async () => {
    await stock.replace(await list(end).catch(() => []), end)
    at = clock.elapsed()
  }
  return {
    async find(typed, most, signal) {
      if (isRooted(typed)) return rootedPaths(typed, cwd, env.HOME, most)
      listed ??= refresh()
      await orAborted(listed, signal)
      if (signal.aborted) return []
      if (clock.elapsed() - at >= freshMs) again ??= refresh().finally(() => (again = undefined))
      return bestMatches(stock.items, typed, most, signal)
    },
  }
}

/** The files that git knows, or else all files below the folder. */
async function pathsBelow(cwd: string, env: FinderParts['env'], signal: AbortSignal): Promise<string[]> {
  const known = await gitPaths(cwd, env, signal)
  return known.length > 0 || signal.aborted ? known : walkedPaths(cwd, signal)
}

function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
    else work.then(done, done)
  })
}

/** A match; smaller is better: first by `kind`, then by `by`. */
type Found = { path: string; kind: number; by: number }

const begins = 0
const named = 1
const alike = 2

/** The best matches: first paths that begin with the typed text, then paths whose file name does, then similar paths. */
async function bestMatches(
  items: readonly Item[],
  typed: string,
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const { prepare, single } = await import('fuzzysort')
  const wanted = typed.replace(/^\.\//, '').toLowerCase()
  const words = wanted.split(/\s+/)
  let found: Found[] = []
  let sure = 0
  const whole = await inSlices(items, signal, ({ path, lower, depth }) => {
    const kind = lower.startsWith(wanted) ? begins : nameBegins(lower, wanted) ? named : alike
    // The typed folder itself is not listed: the person wants its content.
    if (lower === wanted && path.endsWith('/')) return
    if (kind !== alike) sure++
    // Once enough paths begin with the text, a merely similar path cannot be among the best.
    const mayMatch = kind === alike && sure < most && words.every((word) => holds(lower, word))
    const match = mayMatch ? single(wanted, prepare(path)) : undefined
    if (kind !== alike || match) found.push({ path, kind, by: match ? -match.score : depth })
    if (found.length >= 8 * most) found = firstOf(found, most)
  })
  return whole ? firstOf(found, most).map(({ path }) => path) : []
}

/** Whether a path contains the letters of a word in order: only then is it scored, which costs far more. */
function holds(lower: string, word: string): boolean {
  let at = -1
  for (const letter of word) if ((at = lower.indexOf(letter, at + 1)) < 0) return false
  return true
}

function nameBegins(lower: string, wanted: string): boolean {
  return lower.startsWith(wanted, lower.lastIndexOf('/', lower.length - 2) + 1)
}

function firstOf(found: Found[], most: number): Found[] {
  return found.sort(better).slice(0, most)
}

/** Sorts equal matches alphabetically; among merely similar paths, the shorter one comes first. */
function better(a: Found, b: Found): number {
  const shorter = a.kind === alike ? a.path.length - b.path.length : 0
  return a.kind - b.kind || a.by - b.by || shorter || (a.path < b.path ? -1 : 1)
}

/** Whether the typed path leads out of the folder: it starts at the root or at home, or goes up. */
function isRooted(typed: string): boolean {
  return /^(?:\/|~\/|\.\.\/)/.test(typed)
}

/** The entries of the typed folder that begin with the typed name; hidden ones only if a dot was typed. */
async function rootedPaths(typed: string, cwd: string, home: string | undefined, most: number): Promise<string[]> {
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
