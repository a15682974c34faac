import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { conversationOf } from '../../turn/app.ts'
import { openSnapshots } from '../../turn/project-snapshots.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { print, say, UsageError, voiceOf } from '../../core/io.ts'
import { placeOf } from '../../home/place.ts'
import { followMove } from '../../turn/moved-project.ts'
import { openProject, openSession } from '../../home/project.ts'
import {
  asideWords,
  turnsBesideUndo,
  leftWords,
  planWords,
  refuseWhileRunning,
  redoPlan,
  undoPlan,
  undoTurn,
  wayBack,
} from '../../turn/undo.ts'

export const run = (io: Io, parsed: Parsed): Promise<number> => takeBack(io, parsed, 'undo')

/** Undoes a turn, or redoes the changes that an undo took back, by undoing that undo. */
export async function takeBack(io: Io, { values, words }: Parsed, how: 'undo' | 'redo'): Promise<number> {
  const place = placeOf(io)
  await followMove(io, place)
  const store = fileStore(place.home, voiceOf(io))
  const project = openProject(store, place.root)
  const snapshots = openSnapshots(io, place, project)
  const plan = await (how === 'undo' ? undoPlan : redoPlan)({ snapshots, project }, words[0])
  const nothing = plan.steps.length === 0
  if (nothing) for (const line of leftWords(plan.left)) say(io, `termaite: ${line}`)
  for (const line of planWords(plan)) say(io, line)
  if (nothing) {
    if (values.json) print(io, JSON.stringify(plan))
    return 0
  }
  const beside = await turnsBesideUndo(project, plan.turn, io.clock.now())
  for (const line of beside.words) say(io, line)
  refuseWhileRunning(beside, plan.turn, values.yes === true)
  if (plan.turn.cutOff && values.yes && words[0] === undefined)
    throw new UsageError(
      `${how}: nothing was changed, because that turn was cut off. To undo it anyway: termaite undo ${plan.turn.turn} --yes`,
      1,
    )
  const question = how === 'undo' ? 'Undo this? You can redo it with termaite redo.' : 'Redo this?'
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was changed.')
    return 1
  }
  const session = await openSession(project, { existing: true }, io.clock).catch(() => undefined)
  const blobs = store.blobs(`projects/${project.slug}/output`)
  const conversation = session && conversationOf(io, project, blobs, session)
  const undone = await undoTurn({ snapshots, conversation }, plan)
  if (values.json) print(io, JSON.stringify(undone))
  for (const line of leftWords(undone.left)) say(io, `termaite: ${line}`)
  for (const line of asideWords(undone)) say(io, line)
  if (!values.json) print(io, wayBack(how, 'termaite '))
  return 0
}
