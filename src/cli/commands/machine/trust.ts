import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { FolderTrust } from '../../../safety/trust/folder-trust.ts'
import type { Place } from '../../../home/place.ts'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { table } from '../../../base/text/table.ts'
import { borderOf } from '../../../border/border.ts'
import { folderFileLines, folderQuestion } from '../../../native/native-trust.ts'
import { homeOf, placeOf } from '../../../home/place.ts'
import { listedTime, print, say, UsageError, voiceOf } from '../../../core/io.ts'
import { questionText } from '../../../questions/question-text.ts'
import { confirm } from '../../../questions/terminal-questions.ts'
import { Audit } from '../../../safety/audit-log.ts'
import { excessWords, TrustBook } from '../../../safety/trust/folder-trust.ts'
import { fileStore } from '../../../store/files/file-store.ts'

/** Trusts a folder, lists the trusted folders, or removes the trust. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const { list, revoke, yes, json } = values
  if (list && revoke) throw new UsageError('trust: use either --list or --revoke.')
  if (list && words.length > 0) throw new UsageError('trust: --list shows all trusted folders, and takes no path.')
  const home = homeOf(io.env)
  const store = fileStore(home, voiceOf(io))
  const book = new TrustBook(store, { clock: io.clock, own: home })
  const audit = new Audit(store, { clock: io.clock, mask: borderOf(io.env, home).toward('audit') })
  const record = async (what: string, answer: 'trust' | 'no' | 'forget') => {
    await audit.record({ type: 'trust', what, answer })
    await audit.settle()
  }
  if (list) return listFolders(io, book, json === true)
  if (revoke) {
    const folder = resolve(io.cwd, words[0] ?? '.')
    const gone = await book.forget(folder)
    if (gone.length === 0) throw new UsageError(`trust: ${folder} is not trusted, so nothing was changed.`, 1)
    await record(folder, 'forget')
    if (json) print(io, JSON.stringify({ revoked: gone }))
    else for (const one of gone) print(io, `${one} is no longer trusted.`)
    return 0
  }
  const folder = resolve(io.cwd, words[0] ?? '.')
  if (!existsSync(folder)) throw new UsageError(`trust: there is no folder ${folder}.`)
  const place = placeOf(io, folder)
  const now = await book.of(place.root, place.cwd)
  if (now.excess !== undefined) throw new UsageError(`trust: ${excessWords(place.root, now.excess)}`, 1)
  const needsNothing = now.state === 'trusted' && !now.agreed
  if (now.agreed || (needsNothing && yes !== true && !io.in.isTTY)) {
    if (!json && now.files.length > 0) say(io, (await folderFileLines(place, now.files)).join('\n'))
    return reportTrust(io, place, now, json === true)
  }
  const shown = await shownText(place, now, book)
  if (yes !== true) {
    say(io, shown)
    const question = needsNothing ? `Trust ${place.root}?` : `Trust these files in ${place.root} as they are now?`
    if (!(await confirm(io, question, false))) {
      await record(place.root, 'no')
      say(io, 'Nothing was changed: the folder is still not trusted.')
      return needsNothing ? 0 : 1
    }
  }
  await record(place.root, 'trust')
  const after = await book.trust(place.root, now.mark, place.cwd)
  if (after.state !== 'trusted')
    throw new UsageError(
      `trust: files in ${place.root} changed while you were asked, so nothing was trusted. Run the command again.`,
      1,
    )
  if (yes === true && !json) print(io, shown)
  return reportTrust(io, place, after, json === true)
}

/** Everything that the trust covers: the files, the programs that they start, and their changes. */
async function shownText(place: Place, now: FolderTrust, book: TrustBook): Promise<string> {
  const { text, shows } = await folderQuestion(place, now, book)
  return (await questionText({ about: 'trust', text, from: [], shows, options: [] })).trimEnd()
}

function reportTrust(io: Io, place: Place, { files, agreed }: FolderTrust, json: boolean): number {
  if (json) print(io, JSON.stringify({ folder: place.root, trusted: true, files }))
  else if (files.length === 0 && agreed)
    print(
      io,
      `${place.root} is trusted: its instruction files count for the projects below it, and programs in it, such as its own language servers, may start in the sandbox.`,
    )
  else if (files.length === 0)
    print(
      io,
      `${place.root} has no settings that need trust. Programs in it, such as its own language servers, start only after termaite trust --yes, and only then do its instruction files count for the projects below it.`,
    )
  else {
    const count = `${files.length} ${files.length === 1 ? 'file' : 'files'}`
    print(io, `${place.root} is trusted: ${count}, until one of them changes.`)
  }
  return 0
}

async function listFolders(io: Io, book: TrustBook, json: boolean): Promise<number> {
  const all = await book.all()
  if (json) print(io, JSON.stringify(all))
  else if (all.length === 0) say(io, 'No folder is trusted.')
  else
    print(
      io,
      table([
        ['FOLDER', 'SINCE', 'FILES'],
        ...all.map((one) => [one.folder, listedTime(io, one.at), String(one.files.length)]),
      ]),
    )
  return 0
}
