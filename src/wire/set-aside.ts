import type { Io } from './io.ts'
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../base/files.ts'
import { say } from './io.ts'

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
    throw error
  }
  say(
    io,
    `termaite: ${file} is damaged and was set aside as ${aside}. The conversation goes on with what was said last; the names of sessions are in that file.`,
  )
}

function isWhole(file: string): boolean {
  try {
    const doc = JSON.parse(readFileSync(file, 'utf8')) as { path?: unknown; sessions?: unknown } | null
    return typeof doc?.path === 'string' && isSessions(doc.sessions)
  } catch (error) {
    // What cannot be opened at all is told by whoever needs it.
    return !(error instanceof SyntaxError)
  }
}

function isSessions(value: unknown): boolean {
  const isObject = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one)
  return isObject(value) && Object.values(value as object).every(isObject)
}
