import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { RipgrepParts } from './search/ripgrep.ts'
import { dirname, basename, join } from 'node:path'
import { shortPath } from '../base/short-path.ts'
import { wordsOf } from '../base/words.ts'
import { made } from './made.ts'
import { searched } from './search/folder.ts'
import { byGlob } from './search/names.ts'
import { plainFiles, plainMatches } from './search/plain.ts'
import { ripgrep } from './search/ripgrep.ts'
import { optional, shape, string } from './shape.ts'

const mostLines = 250
const mostChars = 24 * 1024
const longestLine = 300

const input = shape({ pattern: string({ min: 1 }), path: optional(string()), glob: optional(string()) })

type Wanted = { pattern: string; path?: string; glob?: string }

export function grepSearch(parts: RipgrepParts): Tool {
  return made('grep_search', 'read', input, async (wanted, call) => {
    const { at, folder } = await searched(call.cwd, wanted.path || '.')
    const args = ['--line-number', '--heading', '--sort', 'path', '--max-columns', `${longestLine}`]
    const found = await ripgrep(
      [
        ...args,
        '--max-columns-preview',
        ...(wanted.glob ? ['--glob', wanted.glob] : []),
        '-e',
        wanted.pattern,
        '--',
        at === call.cwd ? '.' : shortPath(at, call.cwd),
      ],
      { cwd: call.cwd, most: mostLines, signal: call.signal },
      parts,
    )
    if (!found) return plainSearch(wanted, at, folder, call)
    if (found.trouble && found.lines.length === 0) throw new Error(troubleWords(found.trouble))
    // With one file ripgrep leaves its name out.
    const lines = folder ? found.lines.map((line) => line.replace(/^\.\//, '')) : found.lines
    return told(lines, found.more, wanted)
  })
}

function told(lines: readonly string[], more: boolean, { pattern, path, glob }: Wanted): string {
  const text = lines.join('\n').trimEnd()
  if (text === '') {
    const where = [path && `in ${path}`, glob && `in files like ${glob}`].filter(Boolean).join(' ')
    return `Nothing matches ${pattern}${where ? ` ${where}` : ''}. Try a shorter pattern, (?i) for any case, or another place.`
  }
  if (text.length > mostChars) return `${text.slice(0, mostChars)}\n${narrower}`
  return more ? `${text}\n${narrower}` : text
}

const narrower = '[there is more: narrow it by path, glob or a longer pattern]'

function troubleWords(trouble: string): string {
  const reason = trouble.replace(/^rg: /gm, '').slice(0, 600)
  return `ripgrep could not search: ${reason}\nEscape what is meant literally with a backslash: ( ) [ ] { } . * + ? | ^ $`
}

/** Where there is no ripgrep. */
async function plainSearch(wanted: Wanted, at: string, folder: boolean, { cwd, signal }: ToolCall): Promise<string> {
  const pattern = regex(wanted.pattern)
  const base = folder ? at : dirname(at)
  const files = folder ? await plainFiles(at, signal) : [basename(at)]
  const lines: string[] = []
  for (const name of wanted.glob ? files.filter(byGlob(wanted.glob)) : files) {
    if (signal.aborted) throw new Error('cancelled.')
    const matches = await plainMatches(join(base, name), pattern)
    if (matches.length > 0 && folder) lines.push(shortPath(join(base, name), cwd))
    lines.push(...matches.map(({ line, text }) => `${line}:${text.slice(0, longestLine)}`))
    if (lines.length > mostLines) break
    if (matches.length > 0 && folder) lines.push('')
  }
  return told(lines.slice(0, mostLines), lines.length > mostLines, wanted)
}

function regex(pattern: string): RegExp {
  try {
    return new RegExp(pattern.replace(/^\(\?i\)/, ''), pattern.startsWith('(?i)') ? 'iu' : 'u')
  } catch (error) {
    throw new Error(`the pattern is no regular expression: ${wordsOf(error)}.`)
  }
}
