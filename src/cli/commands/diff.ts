import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { lastUndoable } from '../../safety/snapshots/snapshots.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { openSnapshots } from '../../turn/project-snapshots.ts'
import { shortIds } from '../../base/id.ts'
import { listedTime, print, say, voiceOf } from '../../core/io.ts'
import { placeOf } from '../../home/place.ts'
import { followMove } from '../../turn/moved-project.ts'
import { openProject } from '../../home/project.ts'
import { orUsage, statText, snapshotTurn, uncopiedWords, whyNone } from '../../turn/undo.ts'
import { oneLine, table } from '../../base/text/table.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  await followMove(io, place)
  const project = openProject(fileStore(place.home, voiceOf(io)), place.root)
  const snapshots = openSnapshots(io, place, project)
  if (values.list) {
    const all = await orUsage(snapshots.list())
    const turns = all.filter(({ before, after }) => before !== after)
    if (values.json) print(io, JSON.stringify(turns))
    else if (all.length === 0) say(io, `termaite: ${await whyNone(project)}`)
    else if (turns.length === 0) say(io, 'No turn in this project has changed a file.')
    else {
      const short = shortIds(all.map(({ turn }) => turn))
      print(io, table(turns.map(({ turn, at, prompt }) => [short(turn), listedTime(io, at), oneLine(prompt, 60)])))
    }
    return 0
  }
  const turn = await snapshotTurn({ snapshots, project }, words[0], (turns) => lastUndoable(turns) ?? turns.at(-1)!)
  const { patch, stat } = await orUsage(snapshots.diff(turn.turn))
  const { at, prompt, uncopied } = turn
  if (values.json) print(io, JSON.stringify({ turn: turn.turn, at, prompt, stat, patch, uncopied }))
  else if (stat.length === 0) say(io, `Turn ${turn.turn} changed no file.`)
  else print(io, stripAnsi(values.stat ? statText(stat) : patch))
  if (!values.json) for (const words of uncopiedWords(turn)) say(io, words)
  return 0
}
