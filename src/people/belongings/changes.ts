import type { ThingsPlace, Thing } from './belongings-search.ts'
import { lstatSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../base/defined.ts'
import { errorCode, isMissing, makeFolder, replaceFile } from '../../base/files/files.ts'
import { UsageError } from '../../core/io.ts'
import { jsonFormat } from '../../native/mcp-config/json-format.ts'
import { withItem, withoutItem } from '../../native/mcp-config/json-lists.ts'
import { projectFile } from '../../settings/settings-schema.ts'

/**
 * The change that is written for one thing, so that it can be found and removed again: an entry of a settings file, an item of
 * a list in one, a line of the instructions, or a link to a folder.
 */
export type Written =
  | { as: 'entry'; file: string; keys: string[]; value: unknown }
  | { as: 'item'; file: string; keys: string[]; value: unknown }
  | { as: 'line'; file: string; line: string }
  | { as: 'link'; path: string; target: string }

/** The state of a thing: not used yet, used, or its name is taken by something else. */
export type ThingStanding = 'new' | 'used' | 'taken'

/** Returns the change that would be written for a thing. */
export function writtenFor(thing: Thing, { home, root }: ThingsPlace): Written {
  const file = thing.source.owner === 'person' ? join(home, 'settings.json') : join(root, projectFile)
  switch (thing.kind) {
    case 'server':
      return { as: 'entry', file, keys: ['mcpServers', thing.name], value: thing.entry }
    case 'rule':
      return { as: 'item', file, keys: ['permissions', thing.list], value: thing.rule }
    case 'hook': {
      const { event, matcher, command, timeout } = thing
      const value = defined({ matcher, hooks: [defined({ type: 'command', command, timeout })] })
      return { as: 'item', file, keys: ['hooks', event], value }
    }
    case 'instructions':
      return { as: 'line', file: join(home, 'TERMAITE.md'), line: `@${thing.path}` }
    default:
      return { as: 'link', path: join(home, thing.kind, thing.link), target: thing.path }
  }
}

/** A file as it is, and as it would be after all changes; a file that does not exist has no `before`. */
type FileEdit = { path: string; before?: string; after: string }

export type Changes = { edits: FileEdit[]; links: { path: string; target: string }[] }

/** The state of a thing, by the current content of the files. */
export function standingOf(written: Written): ThingStanding {
  switch (written.as) {
    case 'entry': {
      const there = jsonFormat.find(textOf(written.file) ?? '', written.keys)
      return there === undefined ? 'new' : isDeepStrictEqual(there, written.value) ? 'used' : 'taken'
    }
    case 'item': {
      const there = jsonFormat.find(textOf(written.file) ?? '', written.keys)
      return Array.isArray(there) && there.some((one) => isDeepStrictEqual(one, written.value)) ? 'used' : 'new'
    }
    case 'line':
      return linesOf(textOf(written.file) ?? '').includes(written.line) ? 'used' : 'new'
    case 'link': {
      const there = linkTarget(written.path)
      return there === undefined ? 'new' : there === written.target ? 'used' : 'taken'
    }
  }
}

/** Combines everything that is to be written into edits of whole files. Changes nothing. */
export function changesFor(all: readonly Written[]): Changes {
  const edits = new Map<string, FileEdit>()
  const links: Changes['links'] = []
  for (const written of all) {
    if (written.as === 'link') {
      links.push({ path: written.path, target: written.target })
      continue
    }
    const edit = edits.get(written.file) ?? startOf(written.file)
    edits.set(written.file, { ...edit, after: added(edit.after, written) })
  }
  return { edits: [...edits.values()], links }
}

function startOf(path: string): FileEdit {
  const before = textOf(path)
  return defined({ path, before, after: before ?? '' })
}

function added(text: string, written: Exclude<Written, { as: 'link' }>): string {
  if (written.as === 'entry') return jsonFormat.put(text, written.keys, written.value)
  if (written.as === 'item') return withItem(text, written.keys, written.value)
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${written.line}\n`
}

/** Writes the changes. Throws a UsageError if a file has changed since the person saw them. */
export function carryOut({ edits, links }: Changes): void {
  for (const { path, before } of edits)
    if (textOf(path) !== before)
      throw new UsageError(`${path} was changed meanwhile, so nothing was written. Run the command again.`, 1)
  for (const { path, after } of edits) {
    makeFolder(dirname(path))
    replaceFile(path, after)
  }
  for (const { path, target } of links) {
    makeFolder(dirname(path))
    symlinkSync(target, path)
  }
}

/** Removes the change that was written for one thing. Returns false if the change is no longer there in its original form. */
export function takeBack(written: Written): boolean {
  if (written.as === 'link') {
    if (linkTarget(written.path) !== written.target) return false
    rmSync(written.path)
    return true
  }
  const text = textOf(written.file)
  const left = text === undefined ? undefined : removed(text, written)
  if (text === undefined || left === undefined || left === text) return false
  if (left.trim() === '' || left.trim() === '{}') rmSync(written.file)
  else replaceFile(written.file, left)
  return true
}

/** The text without the written change; undefined if the file cannot be parsed. */
function removed(text: string, written: Exclude<Written, { as: 'link' }>): string | undefined {
  if (written.as === 'line') {
    const lines = text.split('\n')
    const at = lines.findLastIndex((line) => line.replace(/\r$/, '') === written.line)
    return at < 0 ? text : lines.toSpliced(at, 1).join('\n')
  }
  try {
    if (written.as === 'item') return withoutItem(text, written.keys, written.value)
    return isDeepStrictEqual(jsonFormat.find(text, written.keys), written.value)
      ? jsonFormat.take(text, written.keys)
      : text
  } catch {
    return undefined
  }
}

const linesOf = (text: string) => text.split(/\r?\n/)

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** The target of a link as it is written; an empty text if the path is not a link, undefined if it does not exist. */
function linkTarget(path: string): string | undefined {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (!there) return undefined
  return there.isSymbolicLink() ? readlinkSync(path) : ''
}
