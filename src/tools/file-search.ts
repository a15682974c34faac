import type { ToolParts } from './tool-parts.ts'
import { accessSync, constants } from 'node:fs'
import { delimiter, join, relative, resolve } from 'node:path'
import { open, opendir, stat } from 'node:fs/promises'
import { trouble } from './files/file-access.ts'

export type Found = { lines: string[]; more: boolean; trouble?: string }

export type RipgrepParts = Pick<ToolParts, 'env'> & {
  /** Where ripgrep is; undefined when it is nowhere. */
  ripgrep?(): Promise<string | undefined>
}

/** Searched in alike: hidden files too, ignore files honoured, no settings of the person or of a project. */
const always = ['--no-config', '--hidden', '--no-require-git', '--glob', '!.git', '--color', 'never']

/** Lines of ripgrep's answer, up to so many; undefined when there is no ripgrep. */
export async function ripgrep(
  args: readonly string[],
  { cwd, most, signal }: { cwd: string; most: number; signal: AbortSignal },
  parts: RipgrepParts,
): Promise<Found | undefined> {
  const path = await (parts.ripgrep ?? (() => place(parts.env)))()
  if (path === undefined) return undefined
  let seen = 0
  const enough = (chunk: Uint8Array) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++
    return seen > most
  }
  const { collect } = await import('../base/collect.ts')
  const { code, out, err, error } = await collect(path, [...always, ...args], { cwd, env: parts.env, signal, enough })
  if (signal.aborted) throw new Error('cancelled.')
  if (error) return undefined
  const lines = out.toString('utf8').split('\n')
  // What comes after the last line end was cut in the middle, or is nothing.
  lines.pop()
  const trouble = code === 2 ? err.trim() : ''
  return { lines: lines.slice(0, most), more: seen > most, ...(trouble === '' ? {} : { trouble }) }
}

/** The one that came with us, else the one on the path. */
async function place(env: ToolParts['env']): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    const places = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
    return places.map((folder) => join(folder, 'rg')).find(isProgram)
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where a search begins; throws words when there is no such place. */
export async function searched(cwd: string, path: string): Promise<{ at: string; folder: boolean }> {
  const at = resolve(cwd, path)
  const stats = await stat(at).catch(async (error) => {
    throw new Error(await trouble(error, at, path))
  })
  return { at, folder: stats.isDirectory() }
}

/** Whether a path is meant by a glob, as ripgrep reads one: without a slash the name alone counts. For where there is no ripgrep. */
export function byGlob(glob: string): (path: string) => boolean {
  const whole = glob.replace(/\/$/, '/**')
  const anchor = whole.includes('/') ? '' : '(?:.*/)?'
  const pattern = new RegExp(`^${anchor}${translated(whole.replace(/^\.?\//, ''))}$`, 'su')
  return (path) => pattern.test(path)
}

function translated(glob: string): string {
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
    // Brackets are meant literally: many projects have them in their names, and nobody else needs them.
    else out += char.replace(/[\\^$.|+()[\]{}/]/, '\\$&')
  }
  return out + ')'.repeat(depth)
}

const skipped = new Set(['.git', 'node_modules'])
const mostFiles = 20_000
const longestFile = 2 * 1024 * 1024

/** The files below a folder in the order of their paths, for where there is no ripgrep; ignore files are not read. */
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
      // What vanishes or may not be opened while we look is not found.
    }
  }
  return found.sort()
}

/** The lines of a file that a pattern matches; none of what is no text. */
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
