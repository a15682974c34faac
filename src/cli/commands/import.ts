import type { FoundSession, FoundSessions, ImportWorld } from '../../people/import/import.ts'
import type { PastProfile } from '../../people/import/session-files.ts'
import type { Io } from '../../core/io.ts'
import type { Parsed } from '../arguments/cli-command.ts'
import { bytes, list, table } from '../../base/text/table.ts'
import { listedTime, print, say, voiceOf } from '../../core/io.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { openIndex } from '../../store/index/conversation-index.ts'
import { placeOf } from '../../home/place.ts'
import { copyPast, findPast, undoImport } from '../../people/import/import.ts'
import { importableClis, importNotes, isImportable, undoneWords } from '../../people/import/import-words.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const chosen = importableClis(words)
  const place = placeOf(io)
  const store = fileStore(place.home, voiceOf(io))
  if (values.undo) return undo(io, { store, place }, chosen, values.yes === true)
  const index = openIndex(place.home, voiceOf(io))
  try {
    await index.catchUp()
    const world = { io, home: io.env.HOME ?? '', place, store, index }
    return await bring(world, io, chosen, values)
  } finally {
    await index.close()
  }
}

async function bring(world: ImportWorld, io: Io, chosen: PastProfile[], values: Parsed['values']): Promise<number> {
  const found = await findPast(world, chosen)
  const wanted = found.flatMap(({ sessions }) => sessions.filter(isImportable))
  const dry = values['dry-run'] === true
  if (values.json && dry) {
    print(io, JSON.stringify(found.map(asJson)))
    return 0
  }
  if (!values.json) showFound(io, world, found)
  else for (const fault of found.flatMap(({ faults }) => faults)) say(io, `termaite: ${fault}`)
  if (wanted.length === 0) {
    if (values.json) print(io, JSON.stringify(found.map(asJson)))
    else if (found.some(({ sessions }) => sessions.length > 0)) say(io, 'Everything is imported already.')
    return 0
  }
  if (dry) {
    say(io, 'Nothing was copied. Leave --dry-run out to import them.')
    return 0
  }
  const many = wanted.length === 1 ? 'this session' : `these ${wanted.length} sessions`
  const question = `Copy ${many} into the conversations of ${world.place.root}? The files of the other programs are only read.`
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was copied.')
    return 1
  }
  const copied = await copyPast(world, found)
  await world.index.catchUp()
  if (values.json) {
    print(io, JSON.stringify(found.map(asJson)))
    return 0
  }
  print(
    io,
    `Imported ${copied.length} ${copied.length === 1 ? 'session' : 'sessions'}. termaite sessions lists them, sessions search finds their words, sessions resume <id> continues one. termaite import --undo removes the copies.`,
  )
  return 0
}

const sum = (sessions: readonly FoundSession[], of: (session: FoundSession) => number) =>
  sessions.reduce((total, session) => total + of(session), 0)

function showFound(io: Io, { place }: ImportWorld, found: readonly FoundSessions[]): void {
  const there = found
    .map(({ profile, sessions }) => ({
      profile,
      sessions: sessions.filter(({ standing }) => standing !== 'continued'),
    }))
    .filter(({ sessions }) => sessions.length > 0)
  if (there.length === 0)
    say(io, `Found no earlier sessions in ${place.root} of ${list(found.map(({ profile }) => profile.title))}.`)
  else
    print(
      io,
      table([
        ['CLI', 'SESSIONS', 'NEW', 'GROWN', 'TURNS', 'SIZE', 'FROM', 'TO'],
        ...there.map(({ profile, sessions }) => cells(io, profile, sessions)),
      ]),
    )
  for (const cli of found) {
    for (const note of importNotes(cli)) say(io, note)
    for (const fault of cli.faults) say(io, `termaite: could not read ${fault}`)
  }
}

function cells(io: Io, { title }: PastProfile, sessions: readonly FoundSession[]): string[] {
  const many = (standing: FoundSession['standing']) =>
    String(sessions.filter((session) => session.standing === standing).length)
  return [
    title,
    String(sessions.length),
    many('new'),
    many('grown'),
    String(sum(sessions, ({ turns }) => turns)),
    bytes(sum(sessions, ({ file }) => file.bytes)),
    listedTime(io, Math.min(...sessions.map(({ from }) => from))),
    listedTime(io, Math.max(...sessions.map(({ to }) => to))),
  ]
}

const asJson = ({ profile, sessions, own, faults }: FoundSessions) => ({
  cli: profile.name,
  sessions: sessions.map(({ id, key, cwd, turns, ours, from, to, standing, file, unread }) => ({
    ...{ id, key, cwd, turns, ours, from, to, standing },
    ...{ file: file.path, bytes: file.bytes, unread },
  })),
  own,
  faults,
})

async function undo(
  io: Io,
  world: Pick<ImportWorld, 'store' | 'place'>,
  chosen: readonly PastProfile[],
  yes: boolean,
): Promise<number> {
  const question = `Remove the imported sessions of ${list(chosen.map(({ title }) => title))} from the conversations of ${world.place.root}? The files of the other programs are not touched.`
  if (!(await confirm(io, question, yes))) {
    say(io, 'Nothing was removed.')
    return 1
  }
  const undone = await undoImport(
    world,
    chosen.map(({ name }) => name),
  )
  const index = openIndex(world.place.home, voiceOf(io))
  try {
    await index.catchUp()
  } finally {
    await index.close()
  }
  const [removed, ...stays] = undoneWords(undone)
  print(io, removed!)
  for (const words of stays) say(io, words)
  return 0
}
