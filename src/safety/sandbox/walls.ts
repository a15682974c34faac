import type { Hidden } from './hidden.ts'

export type Argv = readonly [string, ...string[]]

/** What a sandbox is made of, all of it real paths. */
export type Walls = {
  root: string
  writable: readonly string[]
  network: boolean
  hidden: Hidden
  /** Folders of programs that lie where all else is hidden. */
  programs: readonly string[]
  /** What stays as it is, also where it lies in what can be written. */
  kept: readonly string[]
}
