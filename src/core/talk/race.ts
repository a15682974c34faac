/** One command that checks the results of a race. `refused`: the command was not allowed to run, so its result is unknown. */
export type RaceCheck = { command: string; passed: boolean; evidence: string; refused?: true }

/** A file that a racer changed; a file without lines, such as a picture, has no counts. */
type RaceFile = { path: string; added?: number; removed?: number }

/** The result of one agent in a race. Racers are numbered from 1, because an agent may race against itself. */
export type Racer = {
  racer: number
  agent: string
  /** `stopped`: another result was right first, and the person wanted only one. */
  state: 'done' | 'failed' | 'stopped'
  /** Why the agent has no result. */
  why?: string
  files: RaceFile[]
  /** The snapshot of the agent's copy when the agent was done; results with the same tree are equal. */
  tree?: string
  /** Changes that are not brought in without the person's yes, such as one that undoes the person's uncommitted work, and why. */
  strays?: { path: string; why: string }[]
  /** The first racer whose result is exactly the same. */
  sameAs?: number
  checks: RaceCheck[]
  /** The acts that the agent was not allowed to do. */
  denials?: string[]
  /** The rank that the judge gave the result without knowing whose it is, and why. */
  judged?: { place: number; why: string }
  ms: number
  tokens?: number
  /** The cost in dollars, if it is known. */
  cost?: number
  /** The agent's own description of its work. */
  reply: string
  /** The folder of the copy, as long as that exists. */
  folder?: string
}

/**
 * The result of a race: the same request to several agents at once. `base` is the snapshot that every copy began with, and `before`
 * are the checks of an untouched copy. `winner` is the best result by checks and judge, if one is right; `chosen` is the one that
 * was brought into the project.
 */
export type Race = {
  type: 'race'
  request: string
  base?: string
  before: RaceCheck[]
  racers: Racer[]
  /** The agent that judged. */
  judge?: string
  winner?: number
  chosen?: number
}
