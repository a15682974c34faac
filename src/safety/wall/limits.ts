import type { Env } from '../../base/env.ts'
import type { Mount } from './mounts.ts'

export type Argv = readonly [string, ...string[]]

/**
 * The limits of a command behind a wall. Apart from the places in these limits, the command sees the programs of the system and the
 * person's toolchains, and can only read them.
 */
export type WallLimits = {
  /** The project. */
  root: string
  /** Folders that the person added to the project; the limits of the project apply to them. */
  added?: readonly string[]
  project: 'read' | 'write'
  /** Whether objects, refs and the index of the project's git folder may be written; its settings and hooks never may. */
  git: 'read' | 'write'
  network: boolean
  /** Whether unix sockets work inside the wall; those of the host are hidden in any case. */
  sockets: boolean
  /** The person's home. */
  home: string
  /**
   * Whether everything else can be read too, except sockets, temporary files and the places of keys; used for programs of the person's
   * own.
   */
  whole?: boolean
  /** Further folders that may be written, such as the state of a CLI. */
  writable?: readonly string[]
  /** Further files and folders that can be read, even inside hidden ones. */
  readable?: readonly string[]
  /** Further places that are hidden, except for readable folders in them, such as the logins of other CLIs. */
  hidden?: readonly string[]
  /** Places that show another file or folder inside. */
  binds?: readonly WallBind[]
  /** Whether the command draws on a terminal, which must stay its controlling terminal. */
  terminal?: boolean
  /** Whether the command may set up a sandbox of its own inside the wall. */
  nested?: boolean
  /** The temporary folder and the network that all commands of a turn share. */
  scratch?: TurnScratch
}

/** The system's `from` is mounted at `to` inside. */
export type WallBind = { from: string; to: string; write: boolean }

/** The temporary folder and the closed network that the commands of one turn share. Without it each command has its own. */
export type TurnScratch = {
  folder: string
  /** The namespaces of the network and of its owner, as paths; undefined if they cannot be entered. */
  network?: { nsenter: string; user: string; net: string }
  /** Removes the folder. Running programs keep their network until they exit. */
  close(): Promise<void>
}

export type WallHost = {
  platform: NodeJS.Platform
  env: Env
  /** Places with logins that are hidden from every command, in addition to the built-in ones. */
  logins?: readonly string[]
}

/** A wall with real paths, ready to become a command line. */
export type WallPlan = {
  /** The project and the folders that were added to it. */
  roots: readonly string[]
  /** The mounts in order: each one lies on top of the previous ones. */
  mounts: readonly Mount[]
  /** Sockets of the host inside the mounts; those that still exist are covered. */
  covered: readonly string[]
  /** Names of agents' and editors' settings, which stay read-only wherever they are in the project. */
  settings: readonly string[]
  network: boolean
  sockets: boolean
  terminal: boolean
  nested: boolean
  /** Whether termaite runs as root. */
  asRoot: boolean
  scratch?: TurnScratch
}
