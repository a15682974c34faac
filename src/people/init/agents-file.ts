import { chmodSync, copyFileSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isMissing, replaceFile } from '../../base/files/files.ts'
import { newId } from '../../base/id.ts'
import { stripAnsi } from '../../base/text/ansi.ts'

/** The file gets the usual permissions: the person's umask narrows them. */
const readable = 0o666

/** A project's AGENTS.md. `path` is its real path; without `text` it does not exist yet. */
type AgentsFile = { path: string; text?: string }

/** Finds AGENTS.md. Throws if it is a link that leads out of the project: termaite does not write another repository's file. */
export function findDocument(root: string): AgentsFile {
  const place = join(root, 'AGENTS.md')
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return { path: place }
  const path = realPath(place)
  if (relative(root, path).split(sep)[0] === '..' || !statSync(path).isFile())
    throw new Error(`AGENTS.md is a link to ${path}, which is outside this project`)
  return { path, text: readFileSync(path, 'utf8') }
}

function realPath(place: string): string {
  try {
    return realpathSync(place)
  } catch (error) {
    throw isMissing(error) ? new Error('AGENTS.md is a link to a file that does not exist') : error
  }
}

/** Writes AGENTS.md. Returns the path of the backup, if the file existed before. */
export function writeDocument({ path, text }: AgentsFile, document: string, now: number): string | undefined {
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

const title = /^# AGENTS\.md\b/

/**
 * The document in an agent's answer, without the fence or the chatter around it; undefined if the answer contains no document. It begins
 * with its title and has at least one section, so that a sentence about the file is not mistaken for it.
 */
export function documentIn(answer: string): string | undefined {
  const lines = stripAnsi(answer.replaceAll('\r\n', '\n')).split('\n')
  const start = lines.findIndex((line) => title.test(line))
  if (start < 0) return undefined
  const [, fence] = /^\s*(`{3,}|~{3,})\s*(?:markdown|md)?\s*$/.exec(lines[start - 1] ?? '') ?? []
  const end = fence === undefined ? lines.length : endOf(lines, start, fence)
  const body = lines.slice(start, end)
  if (!body.some((line) => /^#{2,3} \S/.test(line))) return undefined
  return `${body.join('\n').trimEnd()}\n`
}

/** Finds the end of the fence around the document: the last marker of its kind, because markers inside come in pairs. */
function endOf(lines: readonly string[], start: number, fence: string): number {
  const end = lines.findLastIndex((line, index) => index > start && line.trim() === fence)
  return end < 0 ? lines.length : end
}
