import type { Clock } from '../base/clock.ts'
import type { Terminal } from '../core/screen/terminal.ts'
import type { Store } from '../core/talk/store.ts'
import type { Roster } from '../core/work/agent.ts'
import type { Seen } from './reading.ts'
import type { Worktrees } from '../core/work/worktree.ts'

/** What everyone who looks at a crew needs, whether or not they carry it. */
export type CrewParts = {
  store: Store
  workspace: string
  clock: Clock
  /** Who we are, and whether another one still is. */
  owner: string
  alive(owner: string): boolean
  /** Whether this process carries what is spawned in it. */
  carries: boolean
  /** Every agent that can be spawned. */
  names(): readonly string[]
  /** Why an agent that one may well expect cannot be spawned, and what mends it. */
  lacks?(name: string): string | undefined
  /** A living terminal, in whichever process it is. */
  find(id: string): Promise<Terminal | undefined>
  limits: { perWorkspace: number; total: number }
  /** How many agents live in all other workspaces. */
  elsewhere(): Promise<number>
  worktrees?: Worktrees
  /** What was read before; left out, it is forgotten with the process. */
  seen?: Seen
}

/** `outlives`: whether terminals go on when this process ends. */
export type KeeperParts = CrewParts & { roster: Roster; outlives(): boolean }
