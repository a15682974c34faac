import type { FarPerson } from '../screen/machine-terminals.ts'

/** A prompt for a project of this machine: in an existing session, or in a new one. */
export type PromptWish = {
  text: string
  /** The session to continue; with `fresh`, the one whose project gets a new session. */
  session?: string
  /** The project, if no session is named. */
  project?: string
  fresh?: boolean
  /** The machine of the project, if no session is named; without it, the machine of the hub. */
  machine?: string
  /** The agent that takes the turn; without it the rotation chooses. */
  agent?: string
}

/** Whether this machine takes prompts, and the agents that a prompt can name. */
export type PromptRules = { allowed: boolean; agents: string[] }

/** Begins turns in the projects of a machine for a person who is not at its terminals. */
export interface MachinePrompts {
  rules(): Promise<PromptRules>
  /** Returns the session once its turn has begun; throws a HubError with an explanation for the person if the turn cannot begin. */
  send(wish: PromptWish, by: FarPerson): Promise<{ session: string }>
}
