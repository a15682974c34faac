import type { Leash } from '../../core/work/agent.ts'
import type { ShellClass } from '../shell/shell-judgement.ts'
import { shellClasses } from '../shell/shell-judgement.ts'

export const modes = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypass'] as const
export type Mode = (typeof modes)[number]

const some = (...kinds: ShellClass[]) => new Set<ShellClass>(kinds)
const all = some(...shellClasses)

/** The classes that a leash allows without a question; no mode allows more. */
const byLeash: Record<Leash, ReadonlySet<ShellClass>> = {
  read: some('reads'),
  ask: some('reads'),
  edit: some('reads', 'edits', 'removes'),
  all,
}

/** The classes that the mode allows without a question. */
const byMode: Record<Mode, ReadonlySet<ShellClass>> = {
  default: some('reads', 'edits', 'runs'),
  acceptEdits: some('reads', 'edits', 'runs', 'removes'),
  plan: some('reads'),
  dontAsk: some('reads', 'edits', 'runs'),
  bypass: all,
}

/** Whether both the leash and the mode allow a command of this class without a question. */
export function isFree(kind: ShellClass, leash: Leash, mode: Mode): boolean {
  return byLeash[leash].has(kind) && byMode[mode].has(kind)
}
