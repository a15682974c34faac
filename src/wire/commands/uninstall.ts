import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { existsSync } from 'node:fs'
import { homeFolder, lookAround, remove } from '../belongings.ts'
import { confirm } from '../confirm.ts'
import { print, say } from '../io.ts'
import { refuseIfRunning } from '../running.ts'
import { list } from '../table.ts'

/** Deletes our own files and no others, whatever stands beside them in our home. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const home = homeFolder(io.env)
  const last = 'Remove the program itself with: npm uninstall -g termaite'
  if (!existsSync(home)) {
    print(io, `There is nothing at ${home}, and nothing of ours in other programs. ${last}`)
    return 0
  }
  await refuseIfRunning(io, 'uninstall')
  const keep = values['keep-history'] === true
  const question = keep
    ? `Delete what can be made again in ${home}, and keep settings and conversations?`
    : `Delete what is ours in ${home}, with every conversation and snapshot, for good?`
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was deleted.')
    return 1
  }
  remove(
    home,
    lookAround(home).ours.filter(({ made }) => made || !keep),
  )
  const { ours, yours, strangers } = lookAround(home)
  if (ours.length > 0) say(io, `Kept: ${list(ours.map(({ path }) => path))}`)
  if (yours.length > 0) say(io, `Left, because you wrote it: ${list(yours.map(({ path }) => path))}`)
  if (strangers.length > 0) say(io, `Left, because it is not ours: ${list(strangers)}`)
  print(io, `Done. Nothing was ever written into other programs' files. ${last}`)
  return 0
}
