import type { Kept, Snapshots, UndoPlan } from '../../safety/snapshots.ts'
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
  const plan = await planOf(snapshots, project, words[0])
  show(io, plan)
  if (plan.steps.length === 0) {
    if (values.json) print(io, JSON.stringify(plan))
    return 0
  }
  await refuseBeside(io, project, plan.turn, values.yes === true)
  if (plan.turn.cutOff && values.yes && words[0] === undefined)
    throw new UsageError(
      `undo: nothing was changed, because nobody saw that turn end; if that is meant: termaite undo ${plan.turn.turn} --yes`,
      1,
    )
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

/** The turn that was named, or the newest of which something is left to take back. */
async function planOf(snapshots: Snapshots, project: Project, typed: string | undefined): Promise<UndoPlan> {
  const passed = new Set<string>()
  for (;;) {
    const turn = await turnNamed({ snapshots, project }, typed, (turns) =>
      lastToTakeBack(turns.filter((one) => !passed.has(one.turn))),
    )
    const plan = await orUsage(snapshots.planUndo(turn.turn))
    if (typed !== undefined || plan.steps.length > 0 || plan.left.length > 0) return plan
    passed.add(turn.turn)
  }
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
  if (turn.cutOff) say(io, 'That turn was cut off: whatever changed since it began is taken for its own.')
  say(io, table(steps.map((step) => [`  ${step.action}`, step.path])))
  for (const conflict of conflicts) say(io, `  ${conflict} was changed again since; what is there now is kept aside.`)
}

function sayLeft(io: Io, left: UndoPlan['left']): void {
  for (const { path, why } of left) say(io, `termaite: ${path} was left as it is: ${why}`)
}

/** Files that an agent is writing now would be taken from under it. */
async function refuseBeside(io: Io, project: Project, undone: Kept, yes: boolean): Promise<void> {
  const turns = await runningIn(project, io.clock.now())
  for (const { turn, since, prompt, pid } of turns) {
    const where = pid === undefined ? ' on another machine, and may still be at work there' : ''
    say(io, `Turn ${turn} is at work since ${moment(since)}${where}: ${oneLine(prompt, 60)}`)
  }
  const here = turns.find(({ pid }) => pid !== undefined)
  const itself = turns.some(({ turn }) => turn === undone.turn)
  if (here && (itself || !yes))
    throw new UsageError(
      `undo: nothing was changed, because ${itself ? 'that turn is still at work' : 'a turn is at work in this project'}: stop it first (termaite stop ${itself ? undone.turn : here.turn})${itself ? '' : ', or add --yes'}.`,
      1,
    )
}
