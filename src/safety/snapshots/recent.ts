import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Trees that were just taken: the turn behind one may run for hours before it is kept. One empty file each. */
export class RecentTrees {
  #folder: string

  constructor(dir: string) {
    this.#folder = join(dir, 'recent')
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  add(tree: string, now: number): void {
    stamp(join(this.#folder, tree), now)
  }

  /** Newest first. */
  list(): string[] {
    return olderThan(this.#folder, Infinity)
      .sort((a, b) => b.at - a.at)
      .map(({ name }) => name)
  }

  /** Forgets what is older than a moment, but never the newest few. */
  forget(before: number, fewest: number): void {
    const newest = new Set(this.list().slice(0, fewest))
    for (const { name } of olderThan(this.#folder, before)) {
      if (!newest.has(name)) rmSync(join(this.#folder, name), { force: true })
    }
  }
}

/** Leaves a file whose time says when something was last done. */
export function stamp(path: string, now: number): void {
  writeFileSync(path, '', { mode: 0o600 })
  utimesSync(path, now / 1000, now / 1000)
}

export function stampedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

/** The store is looked through when the next turn is kept. */
export function askTidy(dir: string): void {
  rmSync(join(dir, 'tidied'), { force: true })
}

function olderThan(folder: string, moment: number): { name: string; at: number }[] {
  return readdirSync(folder)
    .map((name) => ({ name, at: stampedAt(join(folder, name)) ?? 0 }))
    .filter(({ at }) => at < moment)
}
