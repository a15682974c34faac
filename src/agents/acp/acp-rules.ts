import type { Ask, Question } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { realOf } from '../../base/real-path.ts'

/** Under what an agent's requests are served in one turn. */
export type Rules = {
  name: string
  leash: Leash
  cwd: string
  /** The real path of the project, beyond which no file is read or written. */
  root: string
  ask: Ask
  /** Aborts when the turn is over: nobody waits for an answer any more. */
  over: AbortSignal
  allowed: TurnGrants
  /** Whether an "always" is kept by us, for an agent that cannot. */
  keepsAlways: boolean
  /** Takes down what was not allowed, where no person said so. */
  deny(what: string): void
}

/** Thrown to refuse a request: its words go to the agent, which can do something else then. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** One yes-or-no card about something that we are asked to do; throws unless somebody says yes. */
export async function mustAgree(
  rules: Rules,
  what: string,
  card: Pick<Question, 'text' | 'shows'>,
  signal: AbortSignal,
) {
  const options = [
    { id: 'once', label: 'Yes, once' },
    { id: 'no', label: 'No' },
  ]
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

/** What a person has said yes to in this turn: one act is not asked about twice, and one yes is not two. */
export class TurnGrants {
  #writes = new Map<string, string>()
  #commands = new Set<string>()
  #always = new Set<string>()
  #edits = false

  write(path: string, after: string): void {
    this.#writes.set(path, after)
  }

  /** Once, or the same command as often as it comes. */
  command(line: string, always: boolean): void {
    const allowed = always ? this.#always : this.#commands
    allowed.add(line.trim())
  }

  /** Every edit in the project from now on. */
  edits(): void {
    this.#edits = true
  }

  get hasEdits(): boolean {
    return this.#edits
  }

  hasCommandAlways(line: string): boolean {
    return this.#always.has(line.trim())
  }

  /** Whether this very text may be written there; the yes is spent then. */
  takeWrite(path: string, after: string): boolean {
    return this.#writes.get(path) === after && this.#writes.delete(path)
  }

  /** Whether this very command may be run; a yes for once is spent then. */
  takeCommand(line: string): boolean {
    return this.hasCommandAlways(line) || this.#commands.delete(line.trim())
  }
}

/** The real path of a file in a project, whether it is there yet or not; undefined when it leads out of it. */
export async function realPathInside(root: string, path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return undefined
  const real = await realOf(resolve(path))
  return real !== undefined && (real === root || real.startsWith(root + sep)) ? real : undefined
}

/** Whether a change of it can make a program run: what Git keeps is no file of the project. */
export function isInGitFolder(root: string, real: string): boolean {
  return relative(root, real).split(sep).includes('.git')
}
