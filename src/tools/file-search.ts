import type { ToolCall } from '../core/work/tool.ts'
import type { ToolParts } from './tool-parts.ts'
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path'
import { open, opendir, realpath, stat } from 'node:fs/promises'
import { isProgram } from '../base/program-path.ts'
import { withoutModelKeys } from '../core/work/key-variables.ts'
import { mustBeJudged, openTrouble } from './files/file-access.ts'

type Found = { lines: string[]; more: boolean; trouble?: string }

export type RipgrepParts = Pick<ToolParts, 'env'> & {
  /** Finds ripgrep; undefined when it is not installed. */
  ripgrep?(): Promise<string | undefined>
}

/** Every search includes hidden files, honours ignore files, and reads no ripgrep settings of the person or the project. */
const always = ['--no-config', '--hidden', '--no-require-git', '--glob', '!.git', '--color', 'never']

/** Runs ripgrep and returns up to `most` lines of its output; undefined when it is not installed. */
export async function ripgrep(
  args: readonly string[],
  { cwd, most, signal }: { cwd: string; most: number; signal: AbortSignal },
  parts: RipgrepParts,
): Promise<Found | undefined> {
  const path = await (parts.ripgrep ?? (() => ripgrepPath(parts.env)))()
  if (path === undefined) return undefined
  let seen = 0
  const enough = (chunk: Uint8Array) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++
    return seen > most
  }
  const { collect } = await import('../base/collect.ts')
  const env = withoutModelKeys(parts.env)
  const { code, out, err, error } = await collect(path, [...always, ...args], { cwd, env, signal, enough })
  if (signal.aborted) throw new Error('cancelled.')
  if (error) return undefined
  const lines = out.toString('utf8').split('\n')
  // The text after the last line end is empty, or a line that was cut.
  lines.pop()
  const trouble = code === 2 ? err.trim() : ''
  return { lines: lines.slice(0, most), more: seen > most, trouble: trouble || undefined }
}

/** The ripgrep that is installed with termaite, or else the one on the path. */
async function ripgrepPath(env: ToolParts['env']): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    const places = (env.PATH ?? '').split(delimiter).filter(isAbsolute)
    return places.map((folder) => join(folder, 'rg')).find(isProgram)
  }
}

/** The file or folder to search; throws an error for the model when it does not exist, or leads elsewhere since it was judged. */
export async function searchPlace(
  path: string,
  call: Pick<ToolCall, 'cwd' | 'places'>,
): Promise<{ at: string; folder: boolean }> {
  const at = resolve(call.cwd, path)
  mustBeJudged(at, await realpath(at).catch(() => at), call)
  const stats = await stat(at).catch(async (error) => {
    throw new Error(await openTrouble(error, at, path, call.cwd))
  })
  return { at, folder: stats.isDirectory() }
}

/** Matches paths against a glob as ripgrep does: a glob without a slash is matched against the name alone. */
export function globFilter(glob: string): (path: string) => boolean {
  const whole = glob.replace(/\/$/, '/**')
  const anchor = whole.includes('/') ? '' : '(?:.*/)?'
  const pattern = new RegExp(`^${anchor}${globPattern(whole.replace(/^\.?\//, ''))}$`, 'su')
  return (path) => pattern.test(path)
}

function globPattern(glob: string): string {
  let out = ''
  let depth = 0
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!
    if (glob.startsWith('**/', i)) {
      out += '(?:.*/)?'
      i += 2
    } else if (glob.startsWith('**', i)) {
      out += '.*'
      i++
    } else if (char === '*') out += '[^/]*'
    else if (char === '?') out += '[^/]'
    else if (char === '{') out += (depth++, '(?:')
    else if (char === '}' && depth > 0) out += (depth--, ')')
    else if (char === ',' && depth > 0) out += '|'
    // Brackets are literal: many projects have them in file names, and models do not use them as wildcards.
    else out += char.replace(/[\\^$.|+()[\]{}/]/, '\\$&')
  }
  return out + ')'.repeat(depth)
}

const skipped = new Set(['.git', 'node_modules'])
const mostFiles = 20_000
const longestFile = 2 * 1024 * 1024

/** Lists the files below a folder, sorted, where ripgrep is not installed; ignore files are not read. */
export async function plainFiles(folder: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  const waiting = [folder]
  while (waiting.length > 0 && found.length < mostFiles) {
    if (signal.aborted) throw new Error('cancelled.')
    const at = waiting.pop()!
    try {
      for await (const entry of await opendir(at)) {
        if (entry.isDirectory() && !skipped.has(entry.name)) waiting.push(join(at, entry.name))
        else if (entry.isFile()) found.push(relative(folder, join(at, entry.name)))
      }
    } catch {
      // A folder that vanishes or cannot be opened is skipped.
    }
  }
  return found.sort()
}

/** The lines of a file that match a pattern; none if the file is not text. */
export async function plainMatches(path: string, pattern: RegExp): Promise<{ line: number; text: string }[]> {
  const file = await open(path).catch(() => undefined)
  if (!file) return []
  try {
    if ((await file.stat()).size > longestFile) return []
    const text = await file.readFile('utf8')
    if (text.includes('\0')) return []
    return text.split('\n').flatMap((line, i) => (pattern.test(line) ? [{ line: i + 1, text: line }] : []))
  } finally {
    await file.close()
  }
}
