import type { Terminal } from './terminal.ts'

/** A terminal in which an agent works on a machine. */
export type TerminalRow = {
  id: string
  /** The name for people: of a slot in a crew, of a worker, or of the agent itself. */
  name: string
  /** The agent in the terminal. */
  agent: string
  /** The id under which the hub knows the agent. */
  hubAgent?: string
  machine: string
  /** The folder of the project, and the crew that the agent belongs to. */
  project: string
  crew?: string
  kind: 'crew' | 'worker' | 'supervised'
  state: string
  since: number
  /** The agent's task, in short. */
  task?: string
  /** Whether a person can take the keyboard of the terminal; an agent that has yet to start has no terminal. */
  keys: boolean
  /** Whether the machine of the terminal accepts no typing from elsewhere. */
  onlyReading?: true
}

/** A person who is not at the machine, as known to the hub. */
export type FarPerson = { name: string; role: string }

/** Keystrokes, or a text that is pasted at once. */
export type Typed = { as: 'keys' | 'paste'; text: string }

/** The terminals of a machine for a person who is not at them. */
export interface MachineTerminals {
  list(): Promise<TerminalRow[]>
  /** Opens a listed terminal, without changing its size; undefined if it is gone. */
  open(id: string): Promise<Terminal | undefined>
  /** Types into a terminal for a person; throws an explanation if that is not possible. The keystrokes for one terminal stay in order. */
  type(id: string, typed: Typed, by: FarPerson): Promise<void>
  /** Changes a terminal to the person's own size, for a person who has its keyboard. */
  resize(id: string, size: { cols: number; rows: number }, by: FarPerson): Promise<void>
  /** Detaches from all terminals; all programs keep running. */
  close(): Promise<void>
}
