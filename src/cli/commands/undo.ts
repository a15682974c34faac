import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { conversationOf, openSnapshots } from '../../turn/app.ts'
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
  undoPlan,
  undoTurn,
} from '../../turn/undo.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  await followMove(io, place)
  const store = fileStore(place.home, voiceOf(io))
  const project = openProject(store, place.root)
  const snapshots = openSnapshots(io, place, project)
  const plan = await undoPlan({ snapshots, project }, words[0])
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
      `undo: nothing was changed, because that turn was cut off. To undo it anyway: termaite undo ${plan.turn.turn} --yes`,
      1,
    )
  if (!(await confirm(io, 'Undo this? termaite then shows the command that redoes it.', values.yes === true))) {
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
  if (!values.json) print(io, `Done. To redo the changes: termaite undo ${undone.turn}`)
  return 0
}
