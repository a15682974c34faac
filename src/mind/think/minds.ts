import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { SystemSpec } from '../../core/work/system-spec.ts'
import type { Result } from '../../core/work/tool.ts'

/** Whom and what a framework can turn to: a framework is a function from these to an Agent. */
export type Minds = {
  /** Takes the turn, whole or piece by piece: whoever of the rotation can. */
  actor: Agent
  /** Who is well and can be held to reading, in the order they are asked: different vendors first. Never empty. */
  readers: readonly string[]
  /** Those of them that cannot be held, and only promised to read. */
  promised?: readonly string[]
  /** Whom the person set for a role, by its name. */
  assigned: Readonly<Record<string, string>>
  /** A fresh seat for one consultation: this one first, another in its place where it fails. `told`: the conversation it sees. */
  reader(name: string, told: readonly Entry[]): Agent
  /** What the machine can do, and the same in words for a prompt. */
  machine: {
    spec: SystemSpec
    words: string
    /** Which of these programs are there: the spec lists only those it looked for. */
    programs?(names: readonly string[]): Promise<Iterable<string>>
  }
  hands: Hands
  /** How many calls were agreed to, and whether one more may be made; without it, as many as it takes. */
  more?: { agreed: number; may(asked: Asked, calls: number, turn: Turn): AsyncGenerator<Event, boolean> }
  /** The project's files in time; without it nothing can be taken back. */
  rewind?: Rewind
}

/** What a framework does itself, under the rules that hold our own agent. */
export type Hands = {
  /** Runs a tool: the call and its result are kept like any other. */
  use(tool: string, input: unknown, turn: Turn): AsyncGenerator<Event, Result>
  /** A file of the project, by its path from the working folder; undefined where there is none. */
  read(path: string): Promise<string | undefined>
}

export type Rewind = {
  /** The files as they are now; undefined where that cannot be kept. */
  mark(): Promise<string | undefined>
  /** What changed since, as a patch that may be cut, the files, and a mark of them as they were seen now. */
  since(mark: string): Promise<{ patch: string; files: string[]; seen: string }>
  /** Puts the files back as they were; what changed after they were seen is not ours. What was left, in words. */
  back(mark: string, seen: string): Promise<string[]>
}

/** One who is asked besides whoever acts. */
export type Asked = { role: string; agent: string }

/** Gives every role an agent: the person's choice, else one after another, so that different minds are asked. */
export function assign(roles: readonly string[], { readers, assigned }: Pick<Minds, 'readers' | 'assigned'>): Asked[] {
  let next = 0
  return roles.map((role) => ({ role, agent: assigned[role] ?? readers[next++ % readers.length]! }))
}
