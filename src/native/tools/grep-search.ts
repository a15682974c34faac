import type { FileHandle } from 'node:fs/promises'
import type { Tool, ToolCall } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import type { RipgrepParts, SearchPlace } from './file-search.ts'
import { basename, join, relative, resolve } from 'node:path'
import { descriptorPath } from '../../base/files/held-folder.ts'
import { globFilter, openBelow, openSearch, plainMatches, proposedFiles, ripgrep } from './file-search.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { messageOf } from '../../base/error-message.ts'
import { defineTool } from './shared/tool-definition.ts'
import { optional, parser, string } from '../../core/data/shape.ts'

const mostLines = 250
const longestLine = 300

const input = parser({ pattern: string({ min: 1 }), path: optional(string()), glob: optional(string()) })

type Wanted = { pattern: string; path?: string; glob?: string }

export function grepSearch(parts: RipgrepParts & Pick<ToolParts, 'isSecret'>): Tool {
  return defineTool({
    name: 'grep_search',
    risk: 'read',
    onDemand: 'with a shell',
    input,
    aliases: { rules: ['Read', 'Grep'], hooks: ['Grep'] },
    effect: ({ path }, cwd) => ({ does: 'access', paths: [{ access: 'read', path: resolve(cwd, path || '.') }] }),
    async run(wanted, call) {
      const place = await openSearch(wanted.path || '.', call)
      try {
        const isSecret = (name: string) => parts.isSecret?.(join(place.at, name)) === true
        const secret = place.file === undefined ? await secretFiles(wanted, place, call, parts, isSecret) : []
        const found =
          (await byRipgrep(wanted, place, call, parts, isSecret)) ??
          (await searchWithoutRipgrep(wanted, place, call, parts, isSecret))
        return matchesText(found, secret) ?? nothing(wanted)
      } finally {
        place.tree.close()
      }
    },
  })
}

/**
 * The files of a folder that may contain keys, relative to the working folder. They are found by their names and never searched: even the
 * fact that a pattern matches would reveal something about their content.
 */
async function secretFiles(
  { glob }: Wanted,
  place: SearchPlace,
  { cwd, signal }: ToolCall,
  parts: RipgrepParts,
  isSecret: (name: string) => boolean,
): Promise<string[]> {
  const wanted = glob ? globFilter(glob) : () => true
  const names = (await proposedFiles(place, signal, parts)).filter((name) => isSecret(name) && wanted(name))
  const isThere = (name: string) => place.tree.folderOf(name)?.stats(basename(name))?.isFile() === true
  return names.filter(isThere).map((name) => shortPath(join(place.at, name), cwd))
}

/** The most files that are open at once. */
const mostOpen = 100

/** The most files with a match that are searched for lines to show. */
const mostCandidates = 100_000

/**
 * Searches in two steps. Ripgrep searches the folder and proposes files; it opens them by their names, and meanwhile somebody may replace
 * a folder by a link. So each file is then opened through the folder that is held open, and a second ripgrep searches these open files.
 * Only its matches are shown.
 */
async function byRipgrep(
  { pattern, glob }: Wanted,
  { at, tree, file }: SearchPlace,
  { cwd, signal }: ToolCall,
  parts: RipgrepParts,
  isSecret: (name: string) => boolean,
): Promise<Matches | undefined> {
  const wanted = [...(/\n|\\n/.test(pattern) ? ['--multiline'] : []), '-e', pattern]
  const only = glob ? [`--glob=${glob}`] : []
  const propose = async () => {
    const place = at === cwd ? '.' : shortPath(at, cwd)
    const args = ['--files-with-matches', '--null', ...only, ...wanted, '--', place]
    const proposed = await ripgrep(args, { cwd, most: mostCandidates, signal, end: '\0' }, parts)
    if (proposed?.trouble) await mustBeValid([...only, ...wanted], { cwd, signal }, parts)
    return proposed?.lines.map((path) => relative(at, resolve(cwd, path))).sort()
  }
  const names = file === undefined ? await propose() : [file]
  if (!names) return undefined
  const found: Matches = { groups: [], more: false }
  let left = mostLines
  // The policy has judged a file that the model named itself.
  const searched = names.filter((name) => file !== undefined || !isSecret(name))
  for (let i = 0; i < searched.length && !found.more; i += mostOpen) {
    const batch: { name: string; open: FileHandle }[] = []
    try {
      for (const name of searched.slice(i, i + mostOpen)) {
        const open = await openBelow(tree, name)
        if (open) batch.push({ name, open })
      }
      const paths = batch.map((_one, n) => descriptorPath(3 + n))
      const long = ['--max-columns', `${longestLine}`, '--max-columns-preview']
      const shape = ['--line-number', '--heading', '--with-filename', '--threads', '1']
      const files = batch.map(({ open }) => open.fd)
      const args = [...shape, ...long, ...wanted, '--', ...paths]
      if (paths.length === 0) continue
      const ran = await ripgrep(args, { cwd, most: left, signal, files }, parts)
      if (!ran) return undefined
      if (ran.trouble && ran.lines.length === 0) await mustBeValid(wanted, { cwd, signal }, parts)
      for (const { path, lines } of groupsOf(ran.lines)) {
        const { name } = batch[paths.indexOf(path)]!
        found.groups.push({ path: file === undefined ? shortPath(join(at, name), cwd) : undefined, lines })
      }
      left -= ran.lines.length
      found.more = ran.more || (left <= 0 && i + mostOpen < searched.length)
    } finally {
      for (const { open } of batch) await open.close()
    }
  }
  return found
}

/** Throws ripgrep's own message about an invalid pattern or glob. No file is read for this, so none is named. */
async function mustBeValid(
  args: readonly string[],
  { cwd, signal }: Pick<ToolCall, 'cwd' | 'signal'>,
  parts: RipgrepParts,
): Promise<void> {
  const tried = await ripgrep([...args, '--', '-'], { cwd, most: 1, signal }, parts)
  if (tried?.trouble) throw new Error(troubleWords(tried.trouble))
}

function nothing({ pattern, path, glob }: Wanted): string {
  const place = [path && `in ${path}`, glob && `in files like ${glob}`].filter(Boolean).join(' ')
  return `Nothing matches ${pattern}${place ? ` ${place}` : ''}. Try a shorter pattern, (?i) for any case, or another place.`
}

function troubleWords(trouble: string): string {
  const reason = trouble.replace(/^rg: /gm, '').slice(0, 600)
  if (!/^regex parse error/m.test(reason)) return `ripgrep could not search: ${reason}.`
  return `the pattern is not a valid regular expression: ${reason}\nPut a backslash before literal characters: ( ) [ ] { } . * + ? | ^ $`
}

/** Searches in JavaScript if ripgrep is not installed. */
async function searchWithoutRipgrep(
  wanted: Wanted,
  place: SearchPlace,
  { cwd, signal }: ToolCall,
  parts: RipgrepParts,
  isSecret: (name: string) => boolean,
): Promise<Matches> {
  const { at, tree, file } = place
  const pattern = regex(wanted.pattern)
  const isWanted = wanted.glob ? globFilter(wanted.glob) : () => true
  const searched = async () =>
    (await proposedFiles(place, signal, parts)).filter((name) => isWanted(name) && !isSecret(name))
  const found: Matches = { groups: [], more: false }
  let left = mostLines
  for (const name of file === undefined ? await searched() : [file]) {
    if (signal.aborted) throw new Error('cancelled.')
    const matches = await plainMatches(tree, name, pattern)
    if (matches.length === 0) continue
    if (left <= 0) return { ...found, more: true }
    const lines = matches.slice(0, left).map(({ line, text }) => `${line}:${text.slice(0, longestLine)}`)
    found.groups.push({ path: file === undefined ? shortPath(join(at, name), cwd) : undefined, lines })
    found.more = matches.length > left
    left -= matches.length
  }
  return found
}

function regex(pattern: string): RegExp {
  try {
    return new RegExp(pattern.replace(/^\(\?i\)/, ''), pattern.startsWith('(?i)') ? 'iu' : 'u')
  } catch (error) {
    throw new Error(`the pattern is not a valid regular expression: ${messageOf(error)}.`)
  }
}

const mostChars = 24 * 1024

/** The matching lines of one file; without a path if the search was for one named file. */
type Group = { path?: string; lines: string[] }

type Matches = { groups: Group[]; more: boolean }

/**
 * Groups ripgrep's output by file; an empty line separates two files. A group with a line that is not a match is left out: there ripgrep
 * says that the file is binary.
 */
function groupsOf(lines: readonly string[]): Required<Group>[] {
  const groups: Required<Group>[] = []
  let open: Required<Group> | undefined
  for (const line of lines) {
    if (line === '') open = undefined
    else if (open) open.lines.push(line)
    else groups.push((open = { path: line, lines: [] }))
  }
  // The line limit may have cut off the lines below the last heading.
  return groups.filter(({ lines }) => lines.length > 0 && lines.every((line) => /^\d+[:-]|^--$/.test(line)))
}

/** The most secret files that are named. */
const mostSecret = 10

/** The matches as text for the model; undefined if there is nothing to report. */
function matchesText({ groups, more }: Matches, secret: readonly string[]): string | undefined {
  if (groups.length === 0 && secret.length === 0) return undefined
  const text = groups
    .map(({ path, lines }) => [...(path === undefined ? [] : [path]), ...lines].join('\n'))
    .join('\n\n')
  const cut = more || text.length > mostChars
  const others = secret.length > mostSecret ? ` and ${secret.length - mostSecret} more` : ''
  const named = `${secret.slice(0, mostSecret).join(', ')}${others}`
  const notes = [
    ...(secret.length > 0
      ? [`[Not searched because they may hold keys: ${named}. Name one as path if you need it.]`]
      : []),
    ...(cut ? ['[There are more matches: narrow the search by path, glob or a longer pattern.]'] : []),
  ]
  const shown = groups.length === 0 ? 'Nothing matches in the other files.' : text.slice(0, mostChars)
  return [shown, ...notes].filter((part) => part !== '').join('\n')
}
