import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { onOneLine } from '../../../base/text/ansi.ts'
import { table } from '../../../base/text/table.ts'
import { homeOf } from '../../../home/place.ts'
import { listedTime, print, say, UsageError } from '../../../core/io.ts'
import { putBack, quarantineEntries } from '../../../safety/wall/quarantine.ts'

/** Lists the files that were moved away from projects because programs could start from them, or puts some of them back. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const own = homeOf(io.env)
  const all = quarantineEntries(own)
  const [verb, id, ...more] = words
  if (verb === undefined) {
    if (values.json) print(io, JSON.stringify(all))
    else if (all.length === 0) say(io, 'The quarantine is empty.')
    else
      print(
        io,
        table([
          ['ID', 'SINCE', 'PROJECT', 'FILES'],
          ...all.map((one) => [
            one.id,
            listedTime(io, one.at),
            onOneLine(one.root),
            one.files.map(onOneLine).join(', '),
          ]),
        ]),
      )
    return 0
  }
  if (verb !== 'restore' || id === undefined || more.length > 0)
    throw new UsageError('quarantine: type termaite quarantine, or termaite quarantine restore <id>.')
  const found = all.find((one) => one.id === id)
  if (!found)
    throw new UsageError(
      `quarantine: there is nothing with the id ${id}. termaite quarantine lists what is in the quarantine.`,
      1,
    )
  const { back, left } = putBack(own, found)
  if (values.json) print(io, JSON.stringify({ restored: back, left }))
  else for (const path of back) print(io, `${onOneLine(path)} is back.`)
  if (left.length === 0) return 0
  if (!values.json)
    say(
      io,
      `These could not be put back, because their folders are gone or lead elsewhere:\n${left.map(onOneLine).join('\n')}`,
    )
  return 1
}
