import type { Kept, UndoPlan } from '../../safety/snapshots.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import type { Project } from '../project.ts'
import { lastStanding } from '../../safety/snapshots.ts'
import { fileStore } from '../../store/files/store.ts'
import { openSnapshots } from '../app.ts'
import { confirm } from '../confirm.ts'
import { print, say, UsageError } from '../io.ts'
import { placeOf } from '../place.ts'
import { openProject } from '../project.ts'
import { runningIn } from '../running.ts'
import { orUsage, turnNamed } from '../snapshot-turn.ts'
import { moment } from '../../base/moment.ts'
import { oneLine, table } from '../table.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  const project = openProject(fileStore(place.home, { clock: io.clock }), place.root)
  const snapshots = openSnapshots(io, place, project)
  const turn = await turnNamed({ snapshots, project }, words[0], lastToTakeBack)
  const plan = await orUsage(snapshots.planUndo(turn.turn))
  show(io, plan)
  if (plan.steps.length === 0) {
    if (values.json) print(io, JSON.stringify(plan))
    return 0
  }
  await refuseBeside(io, project, values.yes === true)
  if (!(await confirm(io, 'Go on?', values.yes === true))) {
    say(io, 'Nothing was changed.')
    return 1
  }
  const undone = await orUsage(snapshots.undo(plan))
  if (values.json) print(io, JSON.stringify(undone))
  sayLeft(io, undone.left)
  if (undone.aside) say(io, `Kept aside in ${undone.aside.folder}: ${undone.aside.files.join(', ')}`)
  if (!values.json) print(io, `Done. To take the undo itself back: termaite undo ${undone.turn}`)
  return 0
}

function lastToTakeBack(oldestFirst: readonly Kept[]): Kept {
  const last = lastStanding(oldestFirst)
  if (last) return last
  throw new UsageError(
    'nothing is left to take back; termaite undo <id> takes an undo back, and `termaite diff --list` shows the ids.',
    1,
  )
}

function show(io: Io, { turn, steps, conflicts, left }: UndoPlan): void {
  if (steps.length === 0) {
    sayLeft(io, left)
    say(io, `There is nothing to take back of turn ${turn.turn}.`)
    return
  }
  say(io, `Taking back “${oneLine(turn.prompt, 60)}” (${turn.turn}):`)
  say(io, table(steps.map((step) => [`  ${step.action}`, step.path])))
  for (const conflict of conflicts) say(io, `  ${conflict} was changed again since; what is there now is kept aside.`)
}

function sayLeft(io: Io, left: UndoPlan['left']): void {
  for (const { path, why } of left) say(io, `termaite: ${path} was left as it is: ${why}`)
}

/** Files that an agent is writing now would be taken from under it. */
async function refuseBeside(io: Io, project: Project, yes: boolean): Promise<void> {
  const turns = await runningIn(project, io.clock.now())
  for (const { turn, since, prompt, pid } of turns) {
    const where = pid === undefined ? ' on another machine, and may still be at work there' : ''
    say(io, `Turn ${turn} is at work since ${moment(since)}${where}: ${oneLine(prompt, 60)}`)
  }
  const here = turns.find(({ pid }) => pid !== undefined)
  if (here && !yes)
    throw new UsageError(
      `undo: nothing was changed, because a turn is at work in this project: stop it first (termaite stop ${here.turn}), or add --yes.`,
      1,
    )
}
