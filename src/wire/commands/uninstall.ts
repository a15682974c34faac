import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileStore } from '../../store/files/store.ts'
import { confirm } from '../confirm.ts'
import { print, say, UsageError } from '../io.ts'
import { homeOf } from '../place.ts'
import { runningTurns } from '../running.ts'

/** What a person wrote or said; the rest can be made again. */
const precious = new Set([
  'projects',
  'settings.json',
  'config.yaml',
  'credentials.json',
  'TERMAITE.md',
  'skills',
  'commands',
  'agents',
  'audit.jsonl',
])

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const home = homeOf(io.env)
  const last = 'Remove the program itself with: npm uninstall -g termaite'
  if (!existsSync(home)) {
    print(io, `There is nothing at ${home}, and nothing of ours in other programs. ${last}`)
    return 0
  }
  const running = await runningTurns(home, fileStore(home, { clock: io.clock }))
  if (running.length > 0) throw new UsageError('uninstall: turns are at work; stop them first: termaite stop --all', 1)
  const keep = values['keep-history'] === true
  const question = keep
    ? `Delete what can be made again in ${home}, and keep settings and conversations?`
    : `Delete ${home} with every conversation and snapshot in it, for good?`
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was deleted.')
    return 1
  }
  if (keep)
    for (const name of readdirSync(home))
      if (!precious.has(name)) rmSync(join(home, name), { recursive: true, force: true })
  if (!keep) rmSync(home, { recursive: true, force: true })
  print(io, `Done. Nothing was ever written into other programs' files. ${last}`)
  return 0
}
