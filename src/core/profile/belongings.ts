import type { CliHome } from './past-session.ts'

/** The folders that are searched for things that a person has set up for a CLI: their home, and the project's folder. */
type BelongingsPlace = CliHome & { root: string }

/** The things that termaite reads in place: folders of commands, skills and subagents, and files of instructions. */
const readKinds = ['commands', 'skills', 'agents', 'instructions'] as const
export type ReadKind = (typeof readKinds)[number]

/** A value of a server's environment or headers. A `reference` names variables as `${NAME}`; a `literal` may be a secret. */
export type ServerValue = { reference: string } | { literal: string }

/** An MCP server as described in a CLI's settings. Variables in texts are written as `${NAME}`. */
export type FoundServer = { name: string; timeoutSeconds?: number } & (
  | { command: string; args: string[]; cwd?: string; env: Record<string, ServerValue> }
  | { url: string; type: 'http' | 'sse'; headers: Record<string, ServerValue> }
)

/** A command that a CLI runs at an event of ours; the time limit is in seconds. */
export type FoundHook = { event: string; matcher?: string; command: string; timeout?: number }

/** A rule of a CLI, translated into one of ours with the same meaning. */
export type FoundRule = { list: 'deny' | 'ask' | 'allow'; rule: string }

/** Something in a CLI's settings that termaite cannot use, and why. */
export type Unusable = { what: string; why: string }

/** Everything that one settings file of a CLI sets up. */
export type FoundSettings = {
  servers?: FoundServer[]
  hooks?: FoundHook[]
  rules?: FoundRule[]
  unusable?: Unusable[]
}

/** A settings file of a CLI. */
export type BelongingsFile = {
  /** The file, or with `ending` the folder whose files with this extension are read. */
  path: string
  ending?: string
  owner: 'person' | 'project'
  format: 'json' | 'toml' | 'text'
  /** Whether termaite itself reads the servers or the hooks of this file once its folder is trusted. */
  inPlace?: readonly ('servers' | 'hooks')[]
  /** Parses the value in the file, or its text. The file may contain anything; this never throws. */
  read(value: unknown): FoundSettings
}

/** The things that a person can have set up for one CLI, and their places. */
export type Belongings = {
  settings(place: BelongingsPlace): readonly BelongingsFile[]
  /** The person's own folders and files that can be read in place. `name` is the name of the reference, if it differs from the CLI's. */
  places(place: BelongingsPlace): readonly { kind: ReadKind; path: string; name?: string }[]
}
