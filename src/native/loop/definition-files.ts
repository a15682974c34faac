import type { SessionPlace } from './instructions.ts'
import { lstatSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { terminalText } from '../../base/text/ansi.ts'
import { frontmatter, headAndBody, nestedFields } from '../../base/text/frontmatter.ts'
import { realIfThere, realOrSame } from '../../base/files/real-path.ts'
import { definitionFolders } from '../../core/profile/definition-folders.ts'
import { isInside, readUntrustedFile } from '../../safety/untrusted-file.ts'
import { messageOf } from '../../base/error-message.ts'
import { namesIn } from '../../base/files/files.ts'
import { parseToml } from '../../base/text/toml-parser.ts'

/** The two kinds of definition: a slash command, or a subagent, from a Markdown file with frontmatter. */
type DefinitionKind = 'commands' | 'agents'

/**
 * A file with a definition: Markdown with frontmatter and a text, or a command in TOML. `name` is its path below its folder without the
 * extension, with a colon for each slash; `place` is its path for a person.
 */
export type DefinitionFile = {
  name: string
  path: string
  place: string
  from: 'project' | 'user'
  fields: Record<string, string | string[]>
  /** The frontmatter, unparsed. */
  head: string
  /** The values of the fields that contain a map, by field and entry. */
  maps: Record<string, Record<string, string[]>>
  body: string
}

/** `unused`: the files of an untrusted project, which exist and are not read. */
type Definitions = { files: DefinitionFile[]; warnings: string[]; unused: { name: string; place: string }[] }

/** The longest file that is read: longer than any real command or role. */
const longestDefinition = 64 * 1024

/** The file extensions of each kind. Commands of Gemini CLI are TOML. */
const endings: Record<DefinitionKind, readonly string[]> = { commands: ['.md', '.toml'], agents: ['.md'] }
const deepest = 4
const mostFiles = 200

/**
 * Finds the files of one kind: the project's in the order of their places, then the person's own. Of several files with one name only the
 * first counts. Nothing is executed, no link is followed out of the project, and every unused file causes a warning.
 */
export function findDefinitions(kind: DefinitionKind, place: SessionPlace): Definitions {
  const search = new DefinitionSearch(kind, place)
  for (const folder of definitionFolders[kind]) search.walk(join(place.root, folder), 'project')
  search.walk(join(place.home, kind), 'user')
  return search.found
}

/** The names that a subagent or a command may have; a colon separates a folder from a name. */
const usable = /^[\w-]+(?::[\w-]+)*$/

class DefinitionSearch {
  found: Definitions = { files: [], warnings: [], unused: [] }
  #kind: DefinitionKind
  #place: SessionPlace
  #root: string
  #home: string | undefined
  #seen = new Set<string>()
  #read = 0

  constructor(kind: DefinitionKind, place: SessionPlace) {
    this.#kind = kind
    this.#place = place
    this.#root = realOrSame(place.root)
    this.#home = realIfThere(place.home)
  }

  walk(folder: string, from: DefinitionFile['from'], within = '', depth = 0): void {
    const at = realIfThere(folder)
    if (at === undefined || this.#seen.has(at) || depth > deepest) return
    // The person's own folder may be inside the project; it still counts as their own.
    if (from === 'project' && this.#home !== undefined && isInside(at, this.#home)) return
    this.#seen.add(at)
    if (from === 'project' && !isInside(at, this.#root))
      return this.#refuse(folder, from, `it leads out of the project, to ${at}`)
    for (const name of namesIn(at).sort()) {
      const path = join(folder, name)
      const below = within === '' ? name : `${within}:${name}`
      const ending = endings[this.#kind].find((one) => name.endsWith(one))
      if (isFolder(path)) this.walk(path, from, below, depth + 1)
      else if (ending !== undefined) this.#take(path, from, below.slice(0, -ending.length))
    }
  }

  #take(path: string, from: DefinitionFile['from'], name: string): void {
    const place = this.#shown(path, from)
    if (from === 'project' && !this.#place.trusted) {
      if (usable.test(name)) this.found.unused.push({ name, place })
      return
    }
    if (this.#read === mostFiles)
      this.found.warnings.push(`There are too many ${this.#kind}: ${place} and those after it are left out.`)
    if (this.#read++ >= mostFiles) return
    const refuse = (why: string) => this.#refuse(path, from, why)
    if (!usable.test(name) || name.length > 64)
      return refuse('its name may hold only letters, digits, "-" and "_", and at most 64 of them')
    const body = readUntrustedFile(path, longestDefinition, from === 'project' ? this.#root : undefined)
    if (body === undefined) return refuse('it is a link to a file that does not exist')
    if (typeof body === 'string') return refuse(body)
    if (body.bytes > longestDefinition) return refuse(`it is longer than ${longestDefinition / 1024} KiB`)
    if (path.endsWith('.toml')) {
      const command = tomlCommand(body.text)
      if (typeof command === 'string') return refuse(command)
      this.found.files.push({ name, path, place, from, ...command, head: '', maps: {} })
      return
    }
    const head = frontmatter(body.text)
    if (!head) return refuse('its frontmatter is not closed with a line of ---')
    if (head.body === '') return refuse('there is no text below its frontmatter')
    const written = headAndBody(body.text)!.head
    this.found.files.push({ name, path, place, from, ...head, head: written, maps: nestedFields(body.text) })
  }

  #refuse(path: string, from: DefinitionFile['from'], why: string): void {
    // The files of an untrusted project are not read, so their mistakes are not reported.
    if (from === 'user' || this.#place.trusted)
      this.found.warnings.push(`${this.#shown(path, from)} is not used: ${why}.`)
  }

  /** The path as a person reads it: relative to the project's root, or absolute. */
  #shown(path: string, from: DefinitionFile['from']): string {
    return terminalText(from === 'project' ? relative(this.#place.root, path) : path)
  }
}

/**
 * Parses a command in the format of Gemini CLI: TOML with a `prompt` and a `description`. A returned text says why the file is not used.
 */
function tomlCommand(text: string): Pick<DefinitionFile, 'fields' | 'body'> | string {
  try {
    const { prompt, description } = parseToml(text)
    if (typeof prompt !== 'string' || prompt.trim() === '') return 'it has no prompt'
    return { fields: { description: typeof description === 'string' ? description : '' }, body: prompt.trim() }
  } catch (error) {
    return messageOf(error)
  }
}

/** A field of the frontmatter on one line that is safe for a terminal. */
export function fieldLine({ fields }: Pick<DefinitionFile, 'fields'>, name: string): string {
  return terminalText([fields[name] ?? ''].flat().join(', '))
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** A field on one line, unparsed: YAML would read `[file] [words]` as a list. */
export function writtenField({ head }: Pick<DefinitionFile, 'head'>, name: string): string {
  const line = head.split(/\r?\n/).find((one) => one.startsWith(`${name}:`))
  const text = line
    ?.slice(name.length + 1)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  return fieldLine({ fields: { [name]: text ?? '' } }, name)
}

/** A field that lists names of tools: Claude Code writes them on one line, others as a list. A pattern in brackets may contain spaces. */
export function fieldNames({ fields }: Pick<DefinitionFile, 'fields'>, name: string): string[] {
  const text = [fields[name] ?? []].flat().join(', ')
  return [...text.matchAll(/[^\s,()]+(?:\([^)]*\))?/g)].map(([one]) => one)
}

/** The fields of a file that are unknown to termaite. */
export function unknownFields({ fields, maps }: Pick<DefinitionFile, 'fields' | 'maps'>, known: readonly string[]) {
  return [...Object.keys(fields), ...Object.keys(maps)].filter((name) => !known.includes(name))
}

/** Keeps the first of several files with one name; warnings name the others. */
export function firstOfEachName<T extends { name: string; place: string }>(all: readonly T[], warnings: string[]): T[] {
  const first = new Map<string, T>()
  for (const one of all) {
    const before = first.get(one.name)
    if (before) warnings.push(`${one.place} is not used: ${before.place} has the same name and comes first.`)
    else first.set(one.name, one)
  }
  return [...first.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isFolder(path: string): boolean {
  try {
    const there = lstatSync(path)
    return there.isDirectory() || (there.isSymbolicLink() && lstatSync(realpathSync(path)).isDirectory())
  } catch {
    return false
  }
}
