import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { ToolParts } from './parts.ts'
import type { Matches } from './search/matches.ts'
import type { RipgrepParts } from './search/ripgrep.ts'
import { basename, dirname, join, resolve } from 'node:path'
import { groupsOf, toldMatches } from './search/matches.ts'
import { ripgrep } from './search/ripgrep.ts'
import { shortPath } from '../base/short-path.ts'
import { messageOf } from '../base/error-message.ts'
import { defineTool } from './tool-definition.ts'
import { searched } from './search/folder.ts'
import { byGlob } from './search/names.ts'
import { plainFiles, plainMatches } from './search/plain.ts'
import { optional, parser, string } from '../core/work/shape.ts'

const mostLines = 250
const longestLine = 300

const input = parser({ pattern: string({ min: 1 }), path: optional(string()), glob: optional(string()) })

type Wanted = { pattern: string; path?: string; glob?: string }

export function grepSearch(parts: RipgrepParts & Pick<ToolParts, 'hides'>): Tool {
  return defineTool({
    name: 'grep_search',
    risk: 'read',
    input,
    aliases: { rules: ['Read', 'Grep'], hooks: ['Grep'] },
    effect: ({ path }, cwd) => ({ does: 'access', paths: [{ access: 'read', path: resolve(cwd, path || '.') }] }),
    async run(wanted, call) {
      const { at, folder } = await searched(call.cwd, wanted.path || '.')
      const found = (await byRipgrep(wanted, at, folder, call, parts)) ?? (await plainly(wanted, at, folder, call))
      // One that was named was judged by its name.
      const isHidden = (path: string | undefined) => path !== undefined && !!parts.hides?.(resolve(call.cwd, path))
      const hidden = found.groups.flatMap(({ path }) => (isHidden(path) ? [path!] : []))
      const groups = found.groups.filter(({ path }) => !isHidden(path))
      return toldMatches({ groups, more: found.more }, hidden) ?? nothing(wanted)
    },
  })
}

async function byRipgrep(
  { pattern, glob }: Wanted,
  at: string,
  folder: boolean,
  { cwd, signal }: ToolCall,
  parts: RipgrepParts,
): Promise<Matches | undefined> {
  const long = ['--max-columns', `${longestLine}`, '--max-columns-preview']
  const only = glob ? ['--glob', glob] : []
  const lines = /\n|\\n/.test(pattern) ? ['--multiline'] : []
  const place = at === cwd ? '.' : shortPath(at, cwd)
  const args = ['--line-number', '--heading', '--sort', 'path', ...lines, ...long, ...only, '-e', pattern, '--', place]
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
  return `the pattern is no regular expression: ${reason}\nPut a backslash before what is meant literally: ( ) [ ] { } . * + ? | ^ $`
}

/** Where there is no ripgrep. */
async function plainly(wanted: Wanted, at: string, folder: boolean, { cwd, signal }: ToolCall): Promise<Matches> {
  const pattern = regex(wanted.pattern)
  const base = folder ? at : dirname(at)
  const files = folder ? await plainFiles(at, signal) : [basename(at)]
  const found: Matches = { groups: [], more: false }
  let left = mostLines
  for (const name of wanted.glob ? files.filter(byGlob(wanted.glob)) : files) {
    if (signal.aborted) throw new Error('cancelled.')
    const matches = await plainMatches(join(base, name), pattern)
    if (matches.length === 0) continue
    if (left <= 0) return { ...found, more: true }
    const lines = matches.slice(0, left).map(({ line, text }) => `${line}:${text.slice(0, longestLine)}`)
    found.groups.push({ ...(folder ? { path: shortPath(join(base, name), cwd) } : {}), lines })
    found.more = matches.length > left
    left -= matches.length
  }
  return found
}

function regex(pattern: string): RegExp {
  try {
    return new RegExp(pattern.replace(/^\(\?i\)/, ''), pattern.startsWith('(?i)') ? 'iu' : 'u')
  } catch (error) {
    throw new Error(`the pattern is no regular expression: ${messageOf(error)}.`)
  }
}
