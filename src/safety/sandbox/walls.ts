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
}
