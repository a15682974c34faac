import type { TurnRecord, Snapshots, UndoPlan, UndoResult, FileStat } from '../safety/snapshots.ts'
import type { Project } from './project.ts'
import type { RunningTurn } from './running-turns.ts'
import { localTime } from '../base/local-time.ts'
import { lastUndoable, SnapshotsOff } from '../safety/snapshots.ts'
import { UsageError } from '../core/io.ts'
import { runningIn } from './running-turns.ts'
import { oneLine, table } from '../base/table.ts'

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
  return aside ? [`TurnRecord aside in ${aside.folder}: ${aside.files.join(', ')}`] : []
}

/** The turns at work beside an undo, in words, and whose files would be taken from under it. */
export type Beside = { words: string[]; here?: RunningTurn; itself: boolean }

export async function besideUndo(project: Project, undone: TurnRecord, now: number): Promise<Beside> {
  const turns = await runningIn(project, now)
  const here = turns.find(({ pid }) => pid !== undefined)
  return {
    words: turns.map(({ turn, since, prompt, pid }) => {
      const where = pid === undefined ? ' on another machine, and may still be at work there' : ''
      return `Turn ${turn} is at work since ${localTime(since)}${where}: ${oneLine(prompt, 60)}`
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

/** The turn a person means: the one whose name begins with what was typed, or `usual` when nothing was. */
export async function turnNamed(
  { snapshots, project }: { snapshots: Snapshots; project: Project },
  typed: string | undefined,
  usual: (oldestFirst: readonly TurnRecord[]) => TurnRecord,
): Promise<TurnRecord> {
  const turns = await orUsage(snapshots.list())
  if (turns.length === 0) throw new UsageError(await whyNone(project), 1)
  if (typed === undefined) return usual(turns)
  const matching = turns.filter(({ turn }) => turn.startsWith(typed))
  if (matching.length === 1) return matching[0]!
  throw new UsageError(
    matching.length === 0
      ? `no turn begins with "${typed}". \`termaite diff --list\` shows them.`
      : `${matching.length} turns begin with "${typed}": give more of it.`,
  )
}

/** Without a turn there is a reason, and it may be that snapshots are off here. */
export async function whyNone(project: Project): Promise<string> {
  const { snapshotsOff } = await project.doc.read()
  return snapshotsOff === undefined
    ? 'no turn was seen in this project yet.'
    : `diff and undo are off in this project: ${snapshotsOff}.`
}

/** Where snapshots are switched off, that is told as it is. */
export async function orUsage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof SnapshotsOff ? new UsageError(`there are no snapshots here: ${error.message}.`, 1) : error
  }
}

export function statText(stat: readonly FileStat[]): string {
  return table(stat.map(({ status, file, added, removed }) => [status, file, `+${added} −${removed}`]))
}
