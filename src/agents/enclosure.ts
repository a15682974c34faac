import type { Failure } from '../core/talk/outcome.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Leash, Turn } from '../core/work/agent.ts'

type Env = Readonly<Record<string, string | undefined>>

export type Argv = [string, ...string[]]

/**
 * A command that may be started, with the variables that it needs. `settle` is called after its last process has exited, and names the
 * things that it removed. With `fixed` the process may serve further turns, and `settle` is called at the end of each; its text contains
 * everything that was fixed when the process started. A sandboxed process serves one turn, because its private home is copied back only
 * at its end.
 */
type Enclosed = { argv: Argv; vars: Record<string, string>; fixed?: string; settle(): Promise<string[]> }

/** Asks the person who watches the turn, and withdraws the question if the turn ends. */
export type AskedPerson = (question: Question) => ReturnType<Ask>

/**
 * The seat of an agent that is about to start; `terminal` is the id of the terminal that it will use. `command`: this is not the agent
 * itself but a command that the running agent requested. `foreseen`: the agent is started before its turn, which never happens in a
 * sandbox. `ask` is left out if nobody can answer.
 */
export type EnclosedSeat = {
  leash: Leash
  cwd: string
  env: Env
  terminal?: string
  command?: true
  foreseen?: true
  ask?: AskedPerson
}

/** The person who watches a turn. */
export const askedPerson = ({
  attended,
  ask,
  signal,
}: Pick<Turn, 'attended' | 'ask' | 'signal'>): Pick<EnclosedSeat, 'ask'> =>
  attended ? { ask: (question) => ask(question, signal) } : {}

/** Wraps a command in a sandbox if its agent needs one. A refusal says why the agent may not run here at all. */
export type Enclose = (argv: Argv, seat: EnclosedSeat) => Promise<Enclosed | { refused: Failure } | undefined>

/** The command to start, in a sandbox or unchanged. */
export async function enclosed(
  enclose: Enclose | undefined,
  argv: Argv,
  seat: EnclosedSeat,
): Promise<{ argv: Argv; env: Env; fixed?: string; settle(): Promise<string[]> } | { refused: Failure }> {
  const walled = await enclose?.(argv, seat)
  if (!walled) return { argv, env: seat.env, fixed: '', settle: async () => [] }
  return 'refused' in walled ? walled : { ...walled, env: { ...seat.env, ...walled.vars } }
}
