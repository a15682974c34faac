import type { Failure } from '../core/talk/outcome.ts'
import type { Leash } from '../core/work/agent.ts'

type Env = Readonly<Record<string, string | undefined>>

export type Argv = [string, ...string[]]

/** A command behind a wall, with the variables that it needs there. `settle` is called when its last process has ended, and names what it removed. */
type Enclosed = { argv: Argv; vars: Record<string, string>; settle(): Promise<string[]> }

/** The seat of an agent that is about to be started; `terminal` is the id of the terminal that it will draw on. */
export type EnclosedSeat = { leash: Leash; cwd: string; env: Env; terminal?: string }

/** Puts a command behind a wall where its agent needs one. A refusal says why the agent may not run here at all. */
export type Enclose = (argv: Argv, seat: EnclosedSeat) => Promise<Enclosed | { refused: Failure } | undefined>

/** The command as it is started, behind a wall or as it is. */
export async function enclosed(
  enclose: Enclose | undefined,
  argv: Argv,
  seat: EnclosedSeat,
): Promise<{ argv: Argv; env: Env; settle(): Promise<string[]> } | { refused: Failure }> {
  const walled = await enclose?.(argv, seat)
  if (!walled) return { argv, env: seat.env, settle: async () => [] }
  return 'refused' in walled ? walled : { ...walled, env: { ...seat.env, ...walled.vars } }
}
