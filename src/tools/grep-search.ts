import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { ToolParts } from './tool-parts.ts'
import type { RipgrepParts } from './file-search.ts'
import { basename, dirname, join, resolve } from 'node:path'
import { globFilter, plainFiles, plainMatches, ripgrep, searchPlace } from './file-search.ts'
import { shortPath } from '../base/short-path.ts'
import { messageOf } from '../base/error-message.ts'
import { defineTool } from './tool-definition.ts'
import { optional, parser, string } from '../core/work/shape.ts'

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
      const { at, folder } = await searchPlace(wanted.path || '.', call)
      const isSecret = (path: string) => parts.isSecret?.(resolve(call.cwd, path)) === true
      const place: Place = { at, folder, secret: folder ? await secretFiles(wanted, at, call, parts, isSecret) : [] }
      const found = (await byRipgrep(wanted, place, call, parts)) ?? (await searchWithoutRipgrep(wanted, place, call))
      // A search in one named file has no paths in its result: the policy has judged that file by its name.
      const groups = found.groups.filter(({ path }) => path === undefined || !isSecret(path))
      return matchesText({ groups, more: found.more }, place.secret) ?? nothing(wanted)
    },
  })
}

/** Where to search; the secret files in it are not searched. */
type Place = { at: string; folder: boolean; secret: readonly string[] }

/** At most this many names of a folder are looked through for secret files. */
const mostNames = 500_000

/**
 * The files of a folder that may hold keys, as seen from the working folder. They are found by their names and never
 * searched: whether a pattern matches in one of them would already tell what it holds.
 */
async function secretFiles(
  { glob }: Wanted,
  at: string,
  { cwd, signal }: ToolCall,
  parts: RipgrepParts,
  isSecret: (path: string) => boolean,
): Promise<string[]> {
  const listed = await ripgrep(['--files', '--sort', 'path'], { cwd: at, most: mostNames, signal }, parts)
  const wanted = glob ? globFilter(glob) : () => true
  const names = (listed?.lines ?? (await plainFiles(at, signal))).filter((name) => isSecret(join(at, name)))
  return names.filter(wanted).map((name) => shortPath(join(at, name), cwd))
}

async function byRipgrep(
  { pattern, glob }: Wanted,
  { at, folder, secret }: Place,
  { cwd, signal }: ToolCall,
  parts: RipgrepParts,
): Promise<Matches | undefined> {
  const long = ['--max-columns', `${longestLine}`, '--max-columns-preview']
  const only = glob ? [`--glob=${glob}`] : []
  const but = secret.map((path) => `--glob=!/${path.replaceAll(/[\\*?{}[\]!]/g, '\\$&').replace(/^\//, '')}`)
  const lines = /\n|\\n/.test(pattern) ? ['--multiline'] : []
  const place = at === cwd ? '.' : shortPath(at, cwd)
  const args = [
    '--line-number',
    '--heading',
    '--sort',
    'path',
    ...lines,
    ...long,
    ...only,
    ...but,
    '-e',
    pattern,
    '--',
    place,
  ]
  const found = await ripgrep(args, { cwd, most: mostLines, signal }, parts)
  if (found?.trouble && found.lines.length === 0) throw new Error(troubleWords(found.trouble))
  return found && { groups: groupsOf(found.lines, folder), more: found.more }
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

/** Searches in JavaScript where ripgrep is not installed. */
async function searchWithoutRipgrep(
  wanted: Wanted,
  { at, folder, secret }: Place,
  { cwd, signal }: ToolCall,
): Promise<Matches> {
  const pattern = regex(wanted.pattern)
  const base = folder ? at : dirname(at)
  const files = folder ? await plainFiles(at, signal) : [basename(at)]
  const found: Matches = { groups: [], more: false }
  let left = mostLines
  for (const name of wanted.glob ? files.filter(globFilter(wanted.glob)) : files) {
    if (signal.aborted) throw new Error('cancelled.')
    if (secret.includes(shortPath(join(base, name), cwd))) continue
    const matches = await plainMatches(join(base, name), pattern)
    if (matches.length === 0) continue
    if (left <= 0) return { ...found, more: true }
    const lines = matches.slice(0, left).map(({ line, text }) => `${line}:${text.slice(0, longestLine)}`)
    found.groups.push({ path: folder ? shortPath(join(base, name), cwd) : undefined, lines })
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

/** The matching lines of one file; without a path in a search of one named file. */
type Group = { path?: string; lines: string[] }

type Matches = { groups: Group[]; more: boolean }

/**
 * Groups ripgrep's output by file: an empty line separates two files, and a search in one file has no heading. A group with a
 * line that is no match belongs to a file whose path has a line break in it; it is left out, because its path cannot be judged.
 */
function groupsOf(lines: readonly string[], headings: boolean): Group[] {
  if (!headings) return lines.length > 0 ? [{ lines: [...lines] }] : []
  const groups: Group[] = []
  let open: Group | undefined
  for (const line of lines) {
    if (line === '') open = undefined
    else if (open) open.lines.push(line)
    else groups.push((open = { path: line.replace(/^\.\//, ''), lines: [] }))
  }
  // The line limit may have cut off the lines of the last heading.
  return groups.filter(({ lines }) => lines.length > 0 && lines.every((line) => /^\d+[:-]|^--$/.test(line)))
}

/** At most this many secret files are named. */
const mostSecret = 10

/** The matches as text for the model; undefined when there is nothing to tell. */
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
