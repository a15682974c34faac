import type { TurnRecord, Snapshots, UndoPlan, UndoResult } from '../../safety/snapshots.ts'
import type { Project } from '../project.ts'
import type { RunningTurn } from '../running.ts'
import { moment } from '../../base/moment.ts'
import { lastUndoable } from '../../safety/snapshots.ts'
import { UsageError } from '../../core/io.ts'
import { runningIn } from '../running.ts'
import { orUsage, turnNamed } from './snapshot-turn.ts'
import { oneLine, table } from '../../base/table.ts'

/** What taking a turn back would do: the one that was named, or the newest of which something is left to take back. */
export async function undoPlan(
  of: { snapshots: Snapshots; project: Project },
  typed: string | undefined,
): Promise<UndoPlan> {
  const passed = new Set<string>()
  for (;;) {
    const turn = await turnNamed(of, typed, (turns) => lastToTakeBack(turns.filter((one) => !passed.has(one.turn))))
    const plan = await orUsage(of.snapshots.planUndo(turn.turn))
    if (typed !== undefined || plan.steps.length > 0 || plan.left.length > 0) return plan
    passed.add(turn.turn)
  }
}

function lastToTakeBack(oldestFirst: readonly TurnRecord[]): TurnRecord {
  const last = lastUndoable(oldestFirst)
  if (last) return last
  throw new UsageError(
    'nothing is left to take back; termaite undo <id> takes an undo back, and `termaite diff --list` shows the ids.',
    1,
  )
}

/** The plan as a person reads it before a yes. */
export function planWords({ turn, steps, conflicts }: UndoPlan): string[] {
  if (steps.length === 0) return [`There is nothing to take back of turn ${turn.turn}.`]
  return [
    `Taking back “${oneLine(turn.prompt, 60)}” (${turn.turn}):`,
    ...(turn.cutOff ? ['That turn was cut off: whatever changed since it began is taken for its own.'] : []),
    table(steps.map((step) => [`  ${step.action}`, step.path])),
    ...conflicts.map((path) => `  ${path} was changed again since; what is there now is kept aside.`),
  ]
}

export function leftWords(left: UndoPlan['left']): string[] {
  return left.map(({ path, why }) => `${path} was left as it is: ${why}`)
}

export function asideWords({ aside }: UndoResult): string[] {
  return aside ? [`Kept aside in ${aside.folder}: ${aside.files.join(', ')}`] : []
}

/** The turns at work beside an undo, in words, and whose files would be taken from under it. */
export type Beside = { words: string[]; here?: RunningTurn; itself: boolean }

export async function besideUndo(project: Project, undone: TurnRecord, now: number): Promise<Beside> {
  const turns = await runningIn(project, now)
  const here = turns.find(({ pid }) => pid !== undefined)
  return {
    words: turns.map(({ turn, since, prompt, pid }) => {
      const where = pid === undefined ? ' on another machine, and may still be at work there' : ''
      return `Turn ${turn} is at work since ${moment(since)}${where}: ${oneLine(prompt, 60)}`
    }),
    ...(here ? { here } : {}),
    itself: turns.some(({ turn }) => turn === undone.turn),
  }
}

/** Files that an agent is writing now would be taken from under it. */
export function refuseBeside({ here, itself }: Beside, undone: TurnRecord, yes: boolean | undefined): void {
  if (!here || (!itself && yes)) return
  const why = itself ? 'that turn is still at work' : 'a turn is at work in this project'
  const way = itself || yes === undefined ? '' : ', or add --yes'
  throw new UsageError(
    `undo: nothing was changed, because ${why}: stop it first (termaite stop ${itself ? undone.turn : here.turn})${way}.`,
    1,
  )
}
