import type { Ask, Question } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { isWithin, realOf } from '../../base/files/real-path.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The rules under which an agent's requests are served in one turn. */
export type Rules = {
  name: string
  leash: Leash
  cwd: string
  /** The real path of the project; only files inside it and the added folders are read or written. */
  root: string
  /** The real paths of the folders that the person added to the project. */
  added: readonly string[]
  ask: Ask
  /** Aborts at the end of the turn, when answers are no longer needed. */
  over: AbortSignal
  allowed: TurnGrants
  /** Whether we remember an "always", for an agent that cannot. */
  keepsAlways: boolean
  /** The MCP server that the agent received for this turn, and the form of the titles of calls to its tools. */
  lent?: { server: string; title: RegExp }
  /** Takes the plan of an agent that only plans and asks to leave its plan mode. Missing if the agent does not plan. */
  planned?(plan: string): void
  /** Records a refusal that was decided without a person. */
  deny(what: string): void
}

/** Thrown to refuse a request: its message goes to the agent, which can then try something else. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** Shows a yes-or-no card about something that we are asked to do; throws a Refusal unless the answer is yes. */
export async function mustAgree(
  rules: Rules,
  what: string,
  card: Pick<Question, 'text' | 'shows'>,
  signal: AbortSignal,
) {
  const options = consentOptions({ once: { id: 'once', label: 'Yes, once' }, no: { id: 'no', label: 'No' } })
  const withdrawn = AbortSignal.any([rules.over, signal])
  const picks = await rules.ask({ about: 'permission', from: [], options, ...card }, withdrawn)
  if (picks?.includes('once')) return
  if (picks) throw new Refusal(`${what} was refused: the person said no. Do not try it again in this turn.`)
  if (withdrawn.aborted) throw new Refusal(`${what} was cancelled.`)
  rules.deny(what)
  throw new Refusal(`${what} was refused: nobody was there to say yes.`)
}

export function forbid(rules: Rules, what: string, why: string): never {
  rules.deny(what)
  throw new Refusal(`${what} was refused: ${why}.`)
}

/**
 * The actions that the person has allowed in this turn: the same action needs no second question, and a yes for one time is used up once.
 */
export class TurnGrants {
  #writes = new Map<string, string>()
  #commands = new Set<string>()
  #always = new Set<string>()
  #edits = false
  /** Whether the agent itself received a yes that it may remember for the life of its process. */
  agentKeepsOne = false

  write(path: string, after: string): void {
    this.#writes.set(path, after)
  }

  /** Allows a command one time, or for the rest of the turn. */
  command(line: string, always: boolean): void {
    const allowed = always ? this.#always : this.#commands
    allowed.add(line.trim())
  }

  /** Allows every edit in the project for the rest of the turn. */
  edits(): void {
    this.#edits = true
  }

  get hasEdits(): boolean {
    return this.#edits
  }

  hasCommandAlways(line: string): boolean {
    return this.#always.has(line.trim())
  }

  /** Whether exactly this text may be written to that path; uses up the yes. */
  takeWrite(path: string, after: string): boolean {
    return this.#writes.get(path) === after && this.#writes.delete(path)
  }

  /** Whether exactly this command may be run; uses up a yes for one time. */
  takeCommand(line: string): boolean {
    return this.hasCommandAlways(line) || this.#commands.delete(line.trim())
  }
}

/** The real path of a file in one of these folders, which may not exist yet; undefined if it lies outside of them. */
export async function realPathInside(folders: readonly string[], path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return undefined
  const real = await realOf(resolve(path))
  return real !== undefined && folders.some((folder) => isWithin(folder, real)) ? real : undefined
}

/** Whether a path is inside a `.git` folder: a change there can make a program run. */
export function isInGitFolder(root: string, real: string): boolean {
  return relative(root, real).split(sep).includes('.git')
}
