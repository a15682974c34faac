import type { Clock } from '../base/clock.ts'
import { best } from './finder/best.ts'
import { gitPaths } from './finder/git-paths.ts'
import { isRooted, rootedPaths } from './finder/rooted.ts'
import { Stock } from './finder/stock.ts'
import { walkedPaths } from './finder/walk.ts'

export type FinderParts = {
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** Ends what is still being listed. */
  signal?: AbortSignal
  /** Other than the files below the folder. */
  list?(signal: AbortSignal): Promise<string[]>
}

export interface Finder {
  /** Paths that match what was typed after an `@`, best first; folders end in a slash. None once the signal has aborted. */
  find(typed: string, most: number, signal: AbortSignal): Promise<string[]>
}

/** How old a list may be before it is made again, behind what is shown. */
const freshMs = 3_000

/** Finds the files below a folder. Nothing is listed before the first search; then one list serves them all. */
export function openFinder(cwd: string, parts: FinderParts): Finder {
  const {
    env,
    clock,
    signal: end = new AbortController().signal,
    list = (signal) => pathsBelow(cwd, env, signal),
  } = parts
  const stock = new Stock()
  let listed: Promise<void> | undefined
  let again: Promise<void> | undefined
  let at = 0
  const refresh = async () => {
    await stock.replace(await list(end).catch(() => []), end)
    at = clock.now()
  }
  return {
    async find(typed, most, signal) {
      if (isRooted(typed)) return rootedPaths(typed, cwd, env.HOME, most)
      listed ??= refresh()
      await orAborted(listed, signal)
      if (signal.aborted) return []
      if (clock.now() - at >= freshMs) again ??= refresh().finally(() => (again = undefined))
      return best(stock.items, typed, most, signal)
    },
  }
}

/** What git knows of, where it knows of something; else what lies there. */
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
    else void work.then(done)
  })
}
