import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { ShellName } from '../../arguments/completion-files.ts'
import type { OwnEntry } from '../../../native/mcp/mcp-entries.ts'
import { existsSync, rmSync } from 'node:fs'
import { thisProgram } from '../../../base/process/own-program.ts'
import { messageOf } from '../../../base/error-message.ts'
import { codeCache, homeFolder, homeContents, remove } from '../../../home/home-files.ts'
import { confirm } from '../../../questions/terminal-questions.ts'
import { print, say } from '../../../core/io.ts'
import { carryOut, planRemoval, whereabouts, ownEntries } from '../../../native/mcp/mcp-entries.ts'
import { refuseUnwritable } from '../../../native/mcp-config/config-file.ts'
import { refuseIfRunning } from '../../../turn/unfinished-turns.ts'
import { endTerminals, livingTerminals } from '../../../crew/machine/stray-terminals.ts'
import { list } from '../../../base/text/table.ts'
import { removeCompletion, shellNames } from '../../arguments/completion-files.ts'

/** Removes termaite's entries from other programs' settings, and deletes its own files. Other files in its home stay. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const home = homeFolder(io.env)
  const [program, file] = thisProgram()
  const last = `Remove the program itself with: ${file === undefined ? `rm ${program}` : 'npm uninstall -g termaite'}`
  const wired = ownEntries(whereabouts(io.env))
  if (!existsSync(home) && wired.length === 0) {
    print(io, `termaite has no files in ${home} and no entries in other programs. ${last}`)
    return 0
  }
  await refuseIfRunning(io, 'uninstall')
  const keep = values['keep-history'] === true
  const others = wired.length > 0 ? `Remove termaite’s entry from ${list(wired.map(({ file }) => file.path))}. ` : ''
  const own = keep
    ? `Delete caches and indexes in ${home}, and keep settings and conversations?`
    : `Delete termaite’s files in ${home}, with every conversation and snapshot, for good?`
  const agents = (await livingTerminals(io)).length
  const ends =
    agents === 0 ? '' : `End ${agents === 1 ? 'the agent that runs' : `the ${agents} agents that run`} in tmux. `
  const question = others + ends + own
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was deleted.')
    return 1
  }
  // Without our files nobody would find the agents again.
  await endTerminals(io, () => true)
  const left = wired.flatMap((one) => removeEntry(one) ?? [])
  remove(
    home,
    homeContents(home).ours.filter(({ made }) => made || !keep),
  )
  const cache = codeCache(io.env)
  if (cache) rmSync(cache, { recursive: true, force: true })
  if (io.env.HOME) left.push(...shellNames.flatMap((shell) => removeScript(shell, io)))
  const { ours, yours, strangers } = homeContents(home)
  if (ours.length > 0) say(io, `Kept: ${list(ours.map(({ path }) => path))}`)
  if (yours.length > 0) say(io, `Kept, because you wrote it: ${list(yours.map(({ path }) => path))}`)
  if (strangers.length > 0) say(io, `Kept, because it is not termaite’s: ${list(strangers)}`)
  for (const words of left) say(io, `termaite: ${words}`)
  print(io, `Done. ${left.length > 0 ? '' : "No entry of termaite is left in other programs' files. "}${last}`)
  return left.length > 0 ? 1 : 0
}

/** Removes one entry; returns a message if that failed. */
function removeEntry({ client, file }: OwnEntry): string | undefined {
  try {
    refuseUnwritable(file)
    const change = planRemoval(client, file)
    if (change) carryOut(change)
    return undefined
  } catch (error) {
    return `termaite’s entry is still in ${file.path}: the file ${messageOf(error)}. Remove the entry with: termaite mcp remove ${client.name}`
  }
}

/** Removes the completion of one shell; returns a message if that failed. */
function removeScript(shell: ShellName, io: Io): string[] {
  try {
    for (const words of removeCompletion(shell, io.env)) say(io, words)
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}
