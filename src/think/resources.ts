import type { Entry, Event } from '../core/talk/entry.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { SystemSpec } from '../core/profile/system-spec.ts'
import type { Result } from '../core/work/tool.ts'

/** The agents, tools and machine facts that a framework can use: a framework is a function from these to an Agent. */
export type Resources = {
  /** Runs the turn, whole or piece by piece: this is the rotation. */
  actor: Agent
  /** Healthy agents that can be restricted to reading, in the order in which they are asked: different vendors first. Never empty. */
  readers: readonly string[]
  /** Readers that nothing keeps from writing, and that only promise to read. */
  promisedReaders?: readonly string[]
  /** Readers without a wall. */
  unwalledReaders?: readonly string[]
  /** The agent that the person set for a role, by the role's name. */
  assigned: Readonly<Record<string, string>>
  /** Opens a reader for one consultation, and another one instead if it fails. `told`: the conversation that it sees. */
  openReader(name: string, told: readonly Entry[]): Agent
  machine: {
    spec: SystemSpec
    /** The machine's capabilities as text, for a prompt. */
    description: string
    /** The installed programs of this list, because the spec only contains programs that the scan searched for. */
    programs?(names: readonly string[]): Promise<Iterable<string>>
  }
  tools: FrameworkTools
  /** Hides secrets in other agents' text before the actor gets it, because the actor may be from another vendor. */
  maskAdvice(text: string): string
  /** How many calls the person agreed to, and whether one more is allowed; without it there is no limit. */
  moreCalls?: {
    agreed: number
    may(asked: RoleAssignment, calls: number, turn: Turn): AsyncGenerator<Event, boolean>
    /** Whether the council may be asked again after every approach has failed. */
    mayConvene(asks: readonly RoleAssignment[], turn: Turn): AsyncGenerator<Event, boolean>
  }
  /** Earlier states of the project's files; without it nothing can be reverted. */
  checkpoints?: Checkpoints
  /** The mark of the files when the turn began; undefined if they are not stored. */
  turnBegan?(): Promise<string | undefined>
}

/** The tools that a framework itself uses, under the rules of termaite's own agent. */
export type FrameworkTools = {
  /** Runs a tool: the call and its result are stored like any other. */
  use(tool: string, input: unknown, turn: Turn): AsyncGenerator<Event, Result>
  /**
   * Whether commands of this turn run behind a wall that hides the machine's processes, so that their numbers do not describe the
   * machine.
   */
  hidesMachine?(turn: Turn): Promise<boolean>
  /** Reads a file of the project by its path from the working folder; undefined if it does not exist. */
  read(path: string): Promise<string | undefined>
}

export type Checkpoints = {
  /** Marks the present state of the files; undefined if it cannot be stored. */
  mark(): Promise<string | undefined>
  /** The changes since a mark: a patch that may be cut, the files, and a mark of their present state. */
  since(mark: string): Promise<{ patch: string; files: string[]; seen: string }>
  /** Restores the files to their state at `mark`, except those that changed after `seen`; describes the skipped files. */
  restore(mark: string, seen: string): Promise<string[]>
}

/** An agent that is consulted in a role. */
export type RoleAssignment = { role: string; agent: string }

/** Gives every role an agent: the person's choice, otherwise the readers in turn, so that different agents are asked. */
export function assign(
  roles: readonly string[],
  { readers, assigned }: Pick<Resources, 'readers' | 'assigned'>,
): RoleAssignment[] {
  let next = 0
  return roles.map((role) => ({ role, agent: assigned[role] ?? readers[next++ % readers.length]! }))
}
