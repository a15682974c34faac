import type { Command, CommandWorld } from '../../core/talk/command.ts'
import type { Option } from '../../core/talk/question.ts'
import type { FoundSession, FoundSessions, ImportWorld } from '../../people/import/import.ts'
import type { PastProfile } from '../../people/import/session-files.ts'
import type { DeskControls } from '../desk-controls.ts'
import { list, oneLine } from '../../base/text/table.ts'
import { relativeTime } from '../../base/time/local-time.ts'
import { consentOptions } from '../../core/talk/consent.ts'
import { voiceOf } from '../../core/io.ts'
import { allProfiles } from '../../profiles/all.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { choose, goingOn } from './shared/choice.ts'
import { withIndex } from './shared/session-index.ts'

/** The command /import: what `termaite import` does, with the sessions to choose from on a card. */
export function importCommand(controls: DeskControls): Command {
  return {
    name: 'import',
    beside: true,
    words: '[cli …] [--undo]',
    help: 'Copy earlier sessions of other CLIs into this project.',
    complete: (typed) => {
      const [, before = '', last = ''] = /^(.*\s)?(\S*)$/.exec(typed) ?? []
      const clis = allProfiles().flatMap(({ name, past }) => (past === undefined ? [] : [name]))
      return goingOn(last, [...clis, '--undo']).map((word) => `${before}${word}`)
    },
    async run(args, world) {
      const { importableClis } = await import('../../people/import/import-words.ts')
      const words = args.split(/\s+/).filter((word) => word !== '')
      const clis = importableClis(words.filter((word) => word !== '--undo'))
      await withIndex(controls, async (index) => {
        const { io, place } = controls.app()
        const store = fileStore(place.home, voiceOf(io))
        const signal = AbortSignal.any([io.signal, world.signal])
        const parts = { io: { env: io.env, clock: io.clock, signal }, home: io.env.HOME ?? '', place, store, index }
        await (words.includes('--undo') ? undo(parts, clis, world) : bring(parts, clis, world))
        await index.catchUp()
      })
    },
  }
}

async function bring(parts: ImportWorld, clis: readonly PastProfile[], world: CommandWorld): Promise<void> {
  const [{ copyPast, findPast }, { importNotes, isImportable }] = await Promise.all([
    import('../../people/import/import.ts'),
    import('../../people/import/import-words.ts'),
  ])
  const { say, signal, progress } = world
  const looked = ({ profile, done, of }: { profile: PastProfile; done: number; of: number }) =>
    progress?.(`/import: ${profile.title}, ${done} of ${of} session files read`)
  const found = await unlessCancelled(signal, () => findPast({ ...parts, looked }, clis))
  if (found === undefined) return say('The search was cancelled; nothing was copied.', 'note')
  for (const cli of found) {
    for (const note of importNotes(cli)) say(note, 'note')
    for (const fault of cli.faults) say(`could not read ${fault}`, 'error')
  }
  const wanted = found.flatMap(({ sessions }) => sessions.filter(isImportable))
  if (wanted.length === 0)
    return say(
      found.some(({ sessions }) => sessions.length > 0)
        ? 'Everything is imported already.'
        : `Found no earlier sessions in ${parts.place.root} of ${list(clis.map(({ title }) => title))}.`,
      'note',
    )
  const picks = await chosenSessions(found, parts.io.clock.now(), world)
  if (picks.size === 0) return say('Nothing was copied.', 'note')
  const chosen = found.map((cli) => ({ ...cli, sessions: cli.sessions.filter(({ id }) => picks.has(id)) }))
  let many = 0
  const copied = () => progress?.(`/import: ${++many} of ${picks.size} sessions copied`)
  progress?.(`/import: 0 of ${picks.size} sessions copied`)
  const done = await unlessCancelled(signal, () => copyPast({ ...parts, copied }, chosen))
  const sessions = (count: number) => `${count} ${count === 1 ? 'session' : 'sessions'}`
  if (done === undefined)
    return say(
      `Cancelled after ${many} of ${sessions(picks.size)}, which stay. /import offers the others again.`,
      'note',
    )
  say(
    `Imported ${sessions(done.length)}. /sessions lists them and continues one, termaite sessions search finds their words. /import --undo removes the copies.`,
    'note',
  )
}

/** Asks which sessions are copied, the newest first; all of them are marked. */
async function chosenSessions(
  found: readonly FoundSessions[],
  now: number,
  { ask, signal }: CommandWorld,
): Promise<ReadonlySet<string>> {
  const { isImportable } = await import('../../people/import/import-words.ts')
  const all = found
    .flatMap(({ profile, sessions }) => sessions.filter(isImportable).map((session) => ({ profile, session })))
    .sort((a, b) => b.session.to - a.session.to)
  const picks = await ask(
    {
      about: 'choice',
      text: 'Which sessions of other CLIs do you want to copy into this project? The files of those CLIs are only read.',
      from: [],
      multiple: true,
      marked: all.map(({ session }) => session.id),
      options: all.map(({ profile, session }) => ({ id: session.id, label: labelOf(profile, session, now) })),
      unanswered: 'copy nothing',
    },
    signal,
  )
  return new Set(picks)
}

function labelOf({ title }: PastProfile, { to, turns, first, standing }: FoundSession, now: number): string {
  const parts = [title, relativeTime(now, to), `${turns} ${turns === 1 ? 'turn' : 'turns'}`, oneLine(first, 36)]
  return [...parts, ...(standing === 'grown' ? ['went on since its copy'] : [])].join(' · ')
}

async function undo(parts: ImportWorld, clis: readonly PastProfile[], world: CommandWorld): Promise<void> {
  const [{ undoImport }, { undoneWords }] = await Promise.all([
    import('../../people/import/import.ts'),
    import('../../people/import/import-words.ts'),
  ])
  const options = consentOptions({
    once: { id: 'remove', label: 'Yes, remove the copies' },
    no: { id: 'keep', label: 'No, keep them' },
  }) as (Option & { id: string })[]
  const text = `Remove the imported sessions of ${list(clis.map(({ title }) => title))} from this project? The files of the other programs are not touched.`
  if ((await choose(world, text, options)) !== 'remove') return world.say('Nothing was removed.', 'note')
  const names = clis.map(({ name }) => name)
  world.say(undoneWords(await undoImport(parts, names)).join(' '), 'note')
}

/** The result of work that the person may cancel; undefined if they did. */
async function unlessCancelled<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!signal.aborted) throw error
    return undefined
  }
}
