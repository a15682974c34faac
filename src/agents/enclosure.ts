import type { Failure } from '../core/talk/outcome.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Leash, Turn } from '../core/work/agent.ts'

type Env = Readonly<Record<string, string | undefined>>

export type Argv = [string, ...string[]]

/**
 * A command as it may be started, with the variables that it needs. `settle` is called after its last process has exited, and names what it
 * removed. With `fixed` the process may take further turns, and `settle` is called at the end of each: the text holds everything that was
 * decided for the process at its start. A process behind a wall takes one turn, because its private home is brought back at its end alone.
 */
type Enclosed = { argv: Argv; vars: Record<string, string>; fixed?: string; settle(): Promise<string[]> }

/** Asks the person who watches the turn, and withdraws the question with the turn. */
export type AskedPerson = (question: Question) => ReturnType<Ask>

/**
 * The seat of an agent that is about to be started; `terminal` is the id of the terminal that it will draw on. `command`: this is not the
 * agent itself but a command that the running agent wants. `foreseen`: the agent is started ahead of its turn, which none does behind a
 * wall. `ask` is left out if nobody can answer.
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

/** Puts a command behind a wall if its agent needs one. A refusal says why the agent may not run here at all. */
export type Enclose = (argv: Argv, seat: EnclosedSeat) => Promise<Enclosed | { refused: Failure } | undefined>

/** The command as it is started, behind a wall or as it is. */
export async function enclosed(
  enclose: Enclose | undefined,
  argv: Argv,
  seat: EnclosedSeat,
): Promise<{ argv: Argv; env: Env; fixed?: string; settle(): Promise<string[]> } | { refused: Failure }> {
  const walled = await enclose?.(argv, seat)
  if (!walled) return { argv, env: seat.env, fixed: '', settle: async () => [] }
  return 'refused' in walled ? walled : { ...walled, env: { ...seat.env, ...walled.vars } }
}
