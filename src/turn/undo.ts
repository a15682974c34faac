import type { TurnRecord, Snapshots, UndoPlan, UndoResult, FileStat } from '../safety/snapshots/snapshots.ts'
import type { Conversation } from '../core/work/conversation.ts'
import type { Project } from '../home/project.ts'
import type { App } from './app.ts'
import type { UnfinishedTurn } from './unfinished-turns.ts'
import { clockTime, localTime } from '../base/time/local-time.ts'
import { lastRedoable, lastUndoable, SnapshotsOff } from '../safety/snapshots/snapshots.ts'
import { UsageError } from '../core/io.ts'
import { recordUndo } from './judgements.ts'
import { unfinishedIn } from './unfinished-turns.ts'
import { oneLine, table } from '../base/text/table.ts'

/** Plans the undo of the named turn, or of the newest turn that still has changes to undo. */
export async function undoPlan(
  of: { snapshots: Snapshots; project: Project },
  typed: string | undefined,
): Promise<UndoPlan> {
  const passed = new Set<string>()
  for (;;) {
    const turn = await snapshotTurn(of, typed, (turns) => lastToUndo(turns.filter((one) => !passed.has(one.turn))))
    const plan = await orUsage(of.snapshots.planUndo(turn.turn))
    if (typed !== undefined || plan.steps.length > 0 || plan.left.length > 0) return plan
    passed.add(turn.turn)
  }
}

/** Plans the redo of the newest undo, or of the named turn, which may be an undo or the turn that it undid. */
export async function redoPlan(
  of: { snapshots: Snapshots; project: Project },
  typed: string | undefined,
): Promise<UndoPlan> {
  const turns = await orUsage(of.snapshots.list())
  const named = typed === undefined ? undefined : await snapshotTurn(of, typed, lastToRedo)
  const undo =
    named === undefined
      ? await snapshotTurn(of, undefined, lastToRedo)
      : named.undoes === undefined
        ? turns.findLast(({ undoes }) => undoes === named.turn)
        : named
  if (!undo) throw new UsageError(`turn ${named!.turn} was not undone, so it cannot be redone.`, 1)
  return orUsage(of.snapshots.planUndo(undo.turn))
}

function lastToRedo(oldestFirst: readonly TurnRecord[]): TurnRecord {
  const last = lastRedoable(oldestFirst)
  if (last) return last
  throw new UsageError(
    'nothing is left to redo: no undo came after the last turn that changed a file. `termaite redo <id>` redoes an earlier one; `termaite diff --list` shows the ids.',
    1,
  )
}

function lastToUndo(oldestFirst: readonly TurnRecord[]): TurnRecord {
  const last = lastUndoable(oldestFirst)
  if (last) return last
  const uncopied = uncopiedWords(oldestFirst.at(-1)!)
  throw new UsageError(
    [
      'nothing is left to undo. `termaite undo <id>` undoes an undo; `termaite diff --list` shows the ids.',
      ...uncopied,
    ].join(' '),
    1,
  )
}

/** Undoes a turn, and records in the conversation that its changes were not wanted. */
export async function undoTurn(
  { snapshots, conversation, warm }: { snapshots: Snapshots; conversation?: Conversation; warm?: App['warm'] },
  plan: UndoPlan,
): Promise<UndoResult> {
  // An agent's process remembers the files as its turn left them, so it is closed.
  await warm?.drop()
  const records = await orUsage(snapshots.list())
  const undone = await orUsage(snapshots.undo(plan))
  if (conversation) await recordUndo(conversation, records, plan.turn)
  return undone
}

/** Describes the plan in the question to the person. */
export function planWords({ turn, steps, conflicts }: UndoPlan): string[] {
  if (steps.length === 0) return [`Turn ${turn.turn} has no changes to undo.`]
  return [
    `${undoingWords(turn)} (${turn.turn}):`,
    ...(turn.cutOff
      ? ['The end of that turn was not recorded: every change up to the next turn counts as its own.']
      : []),
    ...(turn.from === undefined
      ? []
      : [`Only changes after ${clockTime(turn.from)} are undone: the project’s files had not been copied before.`]),
    table(steps.map((step) => [`  ${step.action}`, step.path])),
    ...conflicts.map((path) => `  ${path} was changed again after that turn; a copy of its present version is kept.`),
  ]
}

const undoingWords = ({ prompt, undoes }: TurnRecord): string =>
  undoes !== undefined && prompt.startsWith('undo: ')
    ? `Redoing “${oneLine(prompt.slice('undo: '.length), 60)}”`
    : `Undoing “${oneLine(prompt, 60)}”`

/** Says how to reverse an undo or a redo, with the command of the current face. */
export const wayBack = (how: 'undo' | 'redo', command: string): string =>
  how === 'undo' ? `Done. To redo the changes: ${command}redo` : `Done. To undo them again: ${command}undo`

export function leftWords(left: UndoPlan['left']): string[] {
  return left.map(({ path, why }) => `${path} was left as it is: ${why}`)
}

/** Names the files that a turn changed but no diff shows. */
export function uncopiedWords({ uncopied = [] }: TurnRecord): string[] {
  return uncopied.map(
    (path) =>
      `${path} was changed in this turn, too. It is ignored and may hold keys, so termaite keeps no copy of it: undo cannot bring it back.`,
  )
}

export function asideWords({ aside }: UndoResult): string[] {
  return aside ? [`Copies of the versions that were replaced are in ${aside.folder}: ${aside.files.join(', ')}`] : []
}

/**
 * The turns that are running while the person wants an undo: a description of one that runs on this machine, and whether the turn to undo
 * is itself running.
 */
type TurnsBeside = { words: string[]; here?: UnfinishedTurn; itself: boolean }

export async function turnsBesideUndo(project: Project, undone: TurnRecord, now: number): Promise<TurnsBeside> {
  const turns = await unfinishedIn(project, now)
  const here = turns.find(({ pid }) => pid !== undefined)
  return {
    words: turns.map(({ turn, since, prompt, pid }) => {
      const where = pid === undefined ? ' on another machine, and may still run there' : ''
      return `Turn ${turn} has been running since ${localTime(since)}${where}: ${oneLine(prompt, 60)}`
    }),
    here,
    itself: turns.some(({ turn }) => turn === undone.turn),
  }
}

/** Refuses an undo while an agent runs, because the agent may be writing the same files. */
export function refuseWhileRunning({ here, itself }: TurnsBeside, undone: TurnRecord, yes: boolean | undefined): void {
  if (!here || (!itself && yes)) return
  const why = itself ? 'that turn is still running' : 'a turn is running in this project'
  const way = itself || yes === undefined ? '' : ', or add --yes'
  throw new UsageError(
    `undo: nothing was changed, because ${why}: stop it first (termaite stop ${itself ? undone.turn : here.turn})${way}.`,
    1,
  )
}

/** Finds the turn whose id begins with the text that the person typed; `usual` chooses if nothing was typed. */
export async function snapshotTurn(
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
      : `${matching.length} turns begin with "${typed}": type more of the id.`,
  )
}

/** Says why there is no turn: none ran yet, or snapshots are off in this project. */
export async function whyNone(project: Project): Promise<string> {
  const { snapshotsOff } = await project.doc.read()
  return snapshotsOff === undefined
    ? 'no turn has run in this project yet.'
    : `diff and undo are off in this project: ${snapshotsOff}.`
}

/** Turns the error about missing snapshots into a UsageError. */
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
