import type { Profile } from '../../core/profile/profile.ts'
import { chmodSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cleanText } from '../../base/text/ansi.ts'
import { isMissing, makeFolder, replaceFile } from '../../base/files/files.ts'
import { newId } from '../../base/id.ts'
import { isWithin } from '../../base/files/real-path.ts'

/** Whose instructions a note is added to: the project's, or the person's own for every project. */
export type MemoryOwner = 'project' | 'own'

/** A file of instructions that notes are added to. `path` is its real path; without `text` it does not exist yet. */
export type MemoryFile = { name: string; path: string; text?: string }

/** Where a folder's notes go: to the first of these files that exists, because a new AGENTS.md would hide the others from agents. */
const projectNames = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md']

/** The longest file that a note is added to. */
const longest = 1024 * 1024

/** Finds the file for a note. Throws an error that says why no note can be written there. */
export function memoryFile(owner: MemoryOwner, { root, home }: { root: string; home: string }): MemoryFile {
  if (owner === 'own') return fileAt(join(home, 'TERMAITE.md'), 'your own TERMAITE.md')
  const name = projectNames.find((one) => lstatSync(join(root, one), { throwIfNoEntry: false })) ?? 'AGENTS.md'
  return fileAt(join(root, name), name, realpathSync(root))
}

/** Reads a file through its links; a project's file must not lead out of the project. */
function fileAt(place: string, name: string, within?: string): MemoryFile {
  if (!lstatSync(place, { throwIfNoEntry: false })) return { name, path: place }
  let path: string
  try {
    path = realpathSync(place)
  } catch (error) {
    throw isMissing(error) ? new Error(`${name} is a link to a file that does not exist`) : error
  }
  if (within !== undefined && !isWithin(within, path))
    throw new Error(`${name} is a link to ${path}, which is outside this project`)
  const there = statSync(path)
  if (!there.isFile()) throw new Error(`${name} is not a regular file`)
  if (there.size > longest) throw new Error(`${name} is longer than ${longest / 1024} KiB`)
  return { name, path, text: readFileSync(path, 'utf8') }
}

/** A note as it was typed, without control characters; its further lines belong to the same list item. */
export function noteText(typed: string): string {
  return cleanText(typed)
    .trim()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** The text of a file with a note at its end, as a list item; a new file gets a title. */
export function withNote({ name, text }: MemoryFile, note: string): string {
  const end = text?.includes('\r\n') ? '\r\n' : '\n'
  const item = (/^[-*] /.test(note) ? note : `- ${note}`).split('\n').join(`${end}  `)
  if (text === undefined || text.trim() === '') return `# ${basename(name.split(' ').at(-1)!)}${end}${end}${item}${end}`
  const before = text.replace(/\s+$/, '')
  const last = before.slice(before.lastIndexOf('\n') + 1)
  // The item joins a list at the end of the file; after anything else a list needs an empty line.
  const joins = /^\s*[-*] /.test(last) || /^\s{2,}\S/.test(last)
  return `${before}${end}${joins ? '' : end}${item}${end}`
}

/** Writes a file of instructions in one step, with its previous permissions. */
export function writeMemory({ path, text }: MemoryFile, after: string, now: number): void {
  const temporary = `${path}.${newId(now)}.tmp`
  if (text === undefined) {
    makeFolder(join(path, '..'))
    return replaceFile(path, after, temporary, 0o666)
  }
  const { mode } = statSync(path)
  replaceFile(path, after, temporary, mode)
  chmodSync(path, mode)
}

/** An agent of the roster, with what is known about the instruction files it reads. */
type InstructionReader = { name: string; profile?: Profile }

/**
 * Says which agents do not read a project's instruction file. They do read it if one of their own files imports it (`@AGENTS.md`) or
 * links to it.
 */
export function unreadWords({ name, path }: MemoryFile, root: string, readers: readonly InstructionReader[]): string[] {
  const others = readers.flatMap(({ name: agent, profile }) => {
    const files = profile?.instructionFiles
    return files === undefined || files.some((file) => leadsTo(join(root, file), path, name)) ? [] : [{ agent, files }]
  })
  return others.map(({ agent, files }) =>
    files.length === 0
      ? `${agent} reads no such file.`
      : `${agent} reads ${files.join(', ')} instead; a line @${name} in ${files[0]} lets it read this too.`,
  )
}

/** Whether a file is the same as the other one, or imports it. */
function leadsTo(file: string, path: string, name: string): boolean {
  try {
    const real = realpathSync(file)
    if (real === path) return true
    const there = statSync(real)
    return there.isFile() && there.size <= longest && readFileSync(real, 'utf8').split('\n').includes(`@${name}`)
  } catch {
    return file === path
  }
}
