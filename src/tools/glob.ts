import type { Tool } from '../core/work/tool.ts'
import type { RipgrepParts } from './file-search.ts'
import { stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { globFilter, plainFiles, ripgrep, searchPlace } from './file-search.ts'
import { shortPath } from '../base/short-path.ts'
import { defineTool } from './tool-definition.ts'
import { optional, parser, string } from '../core/work/shape.ts'

const mostShown = 100

/** At most this many files are sorted by their age. */
const mostFound = 20_000

/** At most this many names of a tree are read. */
const mostNames = 500_000

const input = parser({ pattern: string({ min: 1 }), path: optional(string()) })

export function glob(parts: RipgrepParts): Tool {
  return defineTool({
    name: 'glob',
    risk: 'read',
    onDemand: 'with a shell',
    input,
    aliases: { rules: ['Read', 'Glob'], hooks: ['Glob'] },
    effect: ({ pattern, path }, cwd) => {
      // An absolute pattern leads away from the folder it is given.
      const folder = pattern.startsWith('/') ? stem(pattern) : path || '.'
      return { does: 'access', paths: [{ access: 'read', path: resolve(cwd, folder) }] }
    },
    async run({ pattern, path }, call) {
      const { cwd, signal } = call
      const { base, rest } = split(path || '.', pattern)
      const { at, folder } = await searchPlace(base, call)
      if (!folder) throw new Error(`${base} is a file: give a folder as path.`)
      // Names are listed first and matched here: ripgrep's own glob option would include ignored files.
      const found = await ripgrep(['--files'], { cwd: at, most: mostNames, signal }, parts)
      const names = (found?.lines ?? (await plainFiles(at, signal))).filter(globFilter(rest))
      if (names.length === 0)
        return `No file matches ${pattern} ${base === '.' ? 'here' : `in ${base}`}. Put **/ in front of it, or try a shorter pattern.`
      const paths = await newestFirst(names.slice(0, mostFound), at)
      const lines = paths.slice(0, mostShown).map((name) => shortPath(join(at, name), cwd))
      if (names.length <= mostShown) return lines.join('\n')
      return `${lines.join('\n')}\n[The newest ${mostShown} of ${names.length} files: narrow the pattern or the path.]`
    },
  })
}

/** Splits an absolute pattern at its last folder without a wildcard. */
function split(path: string, pattern: string): { base: string; rest: string } {
  if (!isAbsolute(pattern)) return { base: path, rest: pattern }
  const base = stem(pattern)
  return { base, rest: `/${pattern.slice(base.length).replace(/^\//, '')}` }
}

async function newestFirst(names: readonly string[], folder: string): Promise<string[]> {
  const aged: { name: string; at: number }[] = []
  for (let i = 0; i < names.length; i += 256)
    aged.push(...(await Promise.all(names.slice(i, i + 256).map((name) => age(name, folder)))))
  return aged.sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1)).map(({ name }) => name)
}

async function age(name: string, folder: string): Promise<{ name: string; at: number }> {
  const stats = await stat(join(folder, name)).catch(() => undefined)
  return { name, at: stats?.mtimeMs ?? 0 }
}

/** The last folder of a pattern before its first wildcard. */
function stem(pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?{]/.test(part))
  return parts.slice(0, wild < 0 ? parts.length - 1 : wild).join('/') || '/'
}
