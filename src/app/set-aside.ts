import type { Io } from '../core/io.ts'
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../base/files.ts'
import { wordsOf } from '../base/words.ts'
import { StoreError } from '../core/talk/store.ts'
import { say } from '../core/io.ts'
import { knownProject } from './project.ts'

/** A project's document that is damaged must not stop a turn, and must not be lost: the log goes on without it. */
export function setAsideIfBroken(io: Io, folder: string): void {
  const file = join(folder, 'project.json')
  if (isWhole(file)) return
  const aside = `${file}.${new Date(io.clock.now()).toISOString().replaceAll(/[:.]/g, '-')}.broken`
  try {
    renameSync(file, aside)
  } catch (error) {
    // Another process was faster.
    if (isMissing(error)) return
    throw new StoreError(`${file} is damaged and cannot be set aside: ${wordsOf(error)}; move it away yourself`, {
      cause: error,
    })
  }
  say(
    io,
    `termaite: ${file} is damaged and was set aside as ${aside}. The conversation goes on with what was said last; the names of sessions are in that file.`,
  )
}

function isWhole(file: string): boolean {
  try {
    return knownProject(JSON.parse(readFileSync(file, 'utf8'))) !== undefined
  } catch (error) {
    // What cannot be opened at all is told by whoever needs it.
    return !(error instanceof SyntaxError)
  }
}
