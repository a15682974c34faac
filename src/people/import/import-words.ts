import type { FoundSession, FoundSessions } from './import.ts'
import type { PastProfile } from './session-files.ts'
import { UsageError } from '../../core/io.ts'
import { allProfiles } from '../../profiles/all.ts'
import { hasPast } from './session-files.ts'

/** The CLIs of these names whose sessions can be imported; without a name all of them. */
export function importableClis(words: readonly string[]): PastProfile[] {
  const known = allProfiles().filter(hasPast)
  const names = known.map(({ name }) => name)
  const strange = words.find((word) => !names.includes(word))
  if (strange !== undefined) throw new UsageError(`import: found "${strange}", allowed: ${names.join(', ')}.`)
  return words.length === 0 ? known : known.filter(({ name }) => words.includes(name))
}

/** Whether a session has something that its copy here does not have. */
export const isImportable = ({ standing }: FoundSession): boolean => standing === 'new' || standing === 'grown'

/** Sentences about everything that is left out: sessions, and lines of their files that could not be read. */
export function importNotes({ profile: { title }, sessions, own }: FoundSessions): string[] {
  const unread = sessions.map((session) => session.unread)
  const broken = unread.reduce((total, { broken: more }) => total + more, 0)
  const long = unread.reduce((total, { long: more }) => total + more, 0)
  const cut = unread.filter((one) => one.cut).length
  const ours = sessions.reduce((total, session) => total + session.ours, 0)
  const continued = sessions.filter(({ standing }) => standing === 'continued').length
  return [
    own > 0
      ? `${title}: ${own} more ${own === 1 ? 'session is' : 'sessions are'} termaite’s own and not imported.`
      : '',
    ours > 0
      ? `${title}: ${ours} ${ours === 1 ? 'turn of these sessions is' : 'turns of these sessions are'} termaite’s own and left out.`
      : '',
    continued > 0
      ? `${title}: ${continued} ${continued === 1 ? 'session was' : 'sessions were'} continued in termaite and not imported again.`
      : '',
    broken > 0 ? `${title}: ${broken} ${broken === 1 ? 'line is' : 'lines are'} damaged and left out.` : '',
    long > 0 ? `${title}: ${long} ${long === 1 ? 'line is' : 'lines are'} longer than 32 MB and left out.` : '',
    cut > 0 ? `${title}: of ${cut} ${cut === 1 ? 'file' : 'files'} only the first 256 MB are read.` : '',
  ].filter((note) => note !== '')
}

/** Says what an undone import removed, and what stays. */
export function undoneWords({ removed, continued }: { removed: number; continued: number }): string[] {
  const stays =
    continued === 1
      ? '1 session that you continued stays, as a session of termaite.'
      : `${continued} sessions that you continued stay, as sessions of termaite.`
  return [`Removed ${removed} imported ${removed === 1 ? 'session' : 'sessions'}.`, ...(continued > 0 ? [stays] : [])]
}
