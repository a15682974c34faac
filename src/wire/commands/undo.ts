import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { fileStore } from '../../store/files/store.ts'
import { openSnapshots } from '../app.ts'
import { confirm } from '../confirm.ts'
import { print, say } from '../io.ts'
import { placeOf } from '../place.ts'
import { openProject } from '../project.ts'
import { orWords, turnNamed } from '../snapshot-turn.ts'
import { oneLine, table } from '../table.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  const snapshots = openSnapshots(io, place, openProject(fileStore(place.home, { clock: io.clock }), place.root))
  const turn = await turnNamed(snapshots, words[0])
  const plan = await orWords(snapshots.planUndo(turn.turn))
  if (plan.steps.length === 0) {
    say(io, `Turn ${turn.turn} changed no file; there is nothing to take back.`)
    return 0
  }
  say(io, `Taking back “${oneLine(turn.prompt, 60)}” (${turn.turn}):`)
  say(io, table(plan.steps.map((step) => [`  ${step.action}`, step.path])))
  for (const conflict of plan.conflicts)
    say(io, `  ${conflict} was changed again since; what is there now is kept aside.`)
  if (!(await confirm(io, 'Go on?', values.yes === true))) {
    say(io, 'Nothing was changed.')
    return 1
  }
  const undone = await orWords(snapshots.undo(plan))
  if (values.json) print(io, JSON.stringify(undone))
  for (const { path, why } of undone.left) say(io, `termaite: ${path} was left as it is: ${why}`)
  if (undone.aside) say(io, `Kept aside in ${undone.aside.folder}: ${undone.aside.files.join(', ')}`)
  if (!values.json) print(io, `Done. To take the undo itself back: termaite undo ${undone.turn}`)
  return 0
}
