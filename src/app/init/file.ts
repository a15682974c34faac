import { chmodSync, copyFileSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isMissing, replaceFile } from '../../base/files.ts'
import { newId } from '../../base/id.ts'

/** As any other file of the project: what the person's own mask leaves of it. */
const readable = 0o666

/** A project's AGENTS.md as it was looked at; `path` is where it really is. */
export type Found = { path: string; text?: string }

/** A link is followed inside the project alone: another repository's AGENTS.md is not ours to write. Throws words. */
export function findDocument(root: string): Found {
  const place = join(root, 'AGENTS.md')
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return { path: place }
  const path = realPath(place)
  if (relative(root, path).split(sep)[0] === '..' || !statSync(path).isFile())
    throw new Error(`AGENTS.md leads to ${path}, which is no file of this project`)
  return { path, text: readFileSync(path, 'utf8') }
}

function realPath(place: string): string {
  try {
    return realpathSync(place)
  } catch (error) {
    throw isMissing(error) ? new Error('AGENTS.md is a link that leads nowhere') : error
  }
}

/** Writes it whole; gives where the one before is kept, if there was one. */
export function writeDocument({ path, text }: Found, document: string, now: number): string | undefined {
  const temporary = `${path}.${newId(now)}.tmp`
  if (text === undefined) {
    replaceFile(path, document, temporary, readable)
    return undefined
  }
  const { mode } = statSync(path)
  const backup = `${path}.${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.bak`
  copyFileSync(path, backup)
  replaceFile(path, document, temporary, mode)
  chmodSync(path, mode)
  return backup
}
