import type { FileHandle } from 'node:fs/promises'
import type { ToolCall } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import { constants } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
import { HeldTree } from '../../base/files/held-folder.ts'
import { findOutside } from '../../base/process/program-path.ts'
import { withoutModelKeys } from '../../core/profile/key-variables.ts'
import { mustBeJudged, openTrouble } from './files/file-access.ts'

type Found = { lines: string[]; more: boolean; trouble?: string }

export type RipgrepParts = Pick<ToolParts, 'env'> & {
  /** Finds ripgrep; undefined if it is not installed. */
  ripgrep?(): Promise<string | undefined>
}

/** Every search includes hidden files, honours ignore files, and reads no ripgrep settings of the person or the project. */
const always = ['--no-config', '--hidden', '--no-require-git', '--glob', '!.git', '--color', 'never']

type RipgrepRun = {
  cwd: string
  /** The most lines to return. */
  most: number
  signal: AbortSignal
  /** Separates the lines. */
  end?: '\n' | '\0'
  /** Open files, which ripgrep searches by their descriptors. */
  files?: readonly number[]
}

/** Runs ripgrep and returns up to `most` lines of its output; undefined when it is not installed. */
export async function ripgrep(
  args: readonly string[],
  { cwd, most, signal, end = '\n', files = [] }: RipgrepRun,
  parts: RipgrepParts,
): Promise<Found | undefined> {
  const path = await (parts.ripgrep ?? (() => ripgrepPath(parts.env)))()
  if (path === undefined) return undefined
  let seen = 0
  const enough = (chunk: Uint8Array) => {
    const code = end.charCodeAt(0)
    for (let at = chunk.indexOf(code); at >= 0; at = chunk.indexOf(code, at + 1)) seen++
    return seen > most
  }
  const { collect } = await import('../../base/process/collect.ts')
  const env = withoutModelKeys(parts.env)
  const { code, out, err, error } = await collect(path, [...always, ...args], { cwd, env, signal, enough, files })
  if (signal.aborted) throw new Error('cancelled.')
  if (error) return undefined
  const lines = out.toString('utf8').split(end)
  // The text after the last line end is empty, or a line that was cut.
  lines.pop()
  const trouble = code === 2 ? err.trim() : ''
  return { lines: lines.slice(0, most), more: seen > most, trouble: trouble || undefined }
}

/** The most names of a tree that are read. */
const mostNames = 500_000

/**
 * Lists the files below a folder that no ignore file excludes, sorted. Ripgrep opens each folder by its name, and meanwhile somebody may
 * replace a folder by a link, so a path of this list is only shown or read through the tree that is held open.
 */
export async function proposedFiles(
  { at, tree }: SearchPlace,
  signal: AbortSignal,
  parts: RipgrepParts,
): Promise<string[]> {
  const listed = await ripgrep(['--files', '--null'], { cwd: at, most: mostNames, signal, end: '\0' }, parts)
  return listed ? listed.lines.sort() : plainFiles(tree, signal)
}

/** The ripgrep that is installed with termaite, otherwise the one on the PATH. */
async function ripgrepPath(env: ToolParts['env']): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    return findOutside('rg', env)
  }
}

/** The folder to search, or the folder of the one file to search. */
export type SearchPlace = {
  /** The path of the folder as the model named it. */
  at: string
  /** The folder itself, held open; the caller closes it. */
  tree: HeldTree
  /** The name of the one file to search. */
  file?: string
}

/** Opens the place to search; throws an error for the model if it does not exist, or leads elsewhere since the policy judged it. */
export async function openSearch(path: string, call: Pick<ToolCall, 'cwd' | 'places'>): Promise<SearchPlace> {
  const at = resolve(call.cwd, path)
  try {
    const real = await realpath(at)
    mustBeJudged(at, real, call)
    if ((await lstat(real)).isDirectory()) return { at, tree: HeldTree.open(real) }
    return { at: dirname(at), tree: HeldTree.open(dirname(real)), file: basename(real) }
  } catch (error) {
    throw new Error(await openTrouble(error, at, path, call))
  }
}

/** Matches paths against a glob as ripgrep does: a glob without a slash is only matched against the file name. */
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

/** Lists the files below a folder, sorted, for a machine without ripgrep; ignore files are not read. */
async function plainFiles(tree: HeldTree, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  const waiting = ['']
  while (waiting.length > 0 && found.length < mostFiles) {
    if (signal.aborted) throw new Error('cancelled.')
    const at = waiting.pop()!
    try {
      for (const entry of (await tree.folderOf(at)?.entries()) ?? []) {
        if (entry.isDirectory() && !skipped.has(entry.name)) waiting.push(`${at}${entry.name}${sep}`)
        else if (entry.isFile()) found.push(`${at}${entry.name}`)
      }
    } catch {
      // A folder that disappears or cannot be opened is skipped.
    }
  }
  return found.sort()
}

/** Opens a file below a folder; undefined if it is missing, not readable for us, a link, or not a file. The caller closes it. */
export async function openBelow(tree: HeldTree, path: string): Promise<FileHandle | undefined> {
  const file = await tree
    .folderOf(path)
    ?.openFile(basename(path), constants.O_RDONLY)
    .catch(() => undefined)
  if ((await file?.stat())?.isFile()) return file
  await file?.close()
  return undefined
}

/** The lines of a file below a folder that match a pattern; none if the file is not text. */
export async function plainMatches(
  tree: HeldTree,
  path: string,
  pattern: RegExp,
): Promise<{ line: number; text: string }[]> {
  const file = await openBelow(tree, path)
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
