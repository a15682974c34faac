import type { OurStretch } from '../core/profile/past-session.ts'
import type { Profile } from '../core/profile/profile.ts'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing, makeFolder, replaceFile } from '../base/files/files.ts'

/** The file that lists the sessions of other CLIs in which they worked for us, also as advisors, reviewers, racers and workers. */
export const cliSessionsFile = (home: string): string => join(home, 'cli-sessions.jsonl')

/**
 * Returns a function that records the sessions of one CLI; undefined for a CLI whose own sessions are never imported. `keeps`: whether a
 * project's log stores the tokens that the CLI reports.
 */
export function cliSessionRecord(
  home: string,
  profile: Pick<Profile, 'name' | 'past'> | undefined,
  keeps: boolean,
): ((stretch: OurStretch) => void) | undefined {
  if (profile?.past === undefined) return undefined
  return (stretch) => {
    const line = `${JSON.stringify({ cli: profile.name, ...stretch, counted: keeps && stretch.counted })}\n`
    try {
      makeFolder(home)
      appendFileSync(cliSessionsFile(home), line, { mode: 0o600 })
    } catch {
      // Without the record, `import` mistakes the session for one of the person's; the turn itself is unaffected.
    }
  }
}

/** Erases the records about the folders of one project. */
export function forgetCliSessions(home: string, isOfProject: (cwd: string) => boolean): void {
  const path = cliSessionsFile(home)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  const lines = text.split('\n').filter((line) => line !== '')
  const kept = lines.filter((line) => {
    try {
      return !isOfProject((JSON.parse(line) as OurStretch).cwd)
    } catch {
      return false
    }
  })
  if (kept.length < lines.length) replaceFile(path, kept.map((line) => `${line}\n`).join(''))
}
