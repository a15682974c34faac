import type { Tool } from '../../core/work/tool.ts'
import type { RipgrepParts } from './file-search.ts'
import type { HeldTree } from '../../base/files/held-folder.ts'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { globFilter, openSearch, proposedFiles } from './file-search.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { defineTool } from './shared/tool-definition.ts'
import { optional, parser, string } from '../../core/data/shape.ts'

const mostShown = 100

/** The most files that are sorted by age. */
const mostFound = 20_000

const input = parser({ pattern: string({ min: 1 }), path: optional(string()) })

export function glob(parts: RipgrepParts): Tool {
  return defineTool({
    name: 'glob',
    risk: 'read',
    onDemand: 'with a shell',
    input,
    aliases: { rules: ['Read', 'Glob'], hooks: ['Glob'] },
    effect: ({ pattern, path }, cwd) => {
      // An absolute pattern overrides the given folder.
      const folder = pattern.startsWith('/') ? stem(pattern) : path || '.'
      return { does: 'access', paths: [{ access: 'read', path: resolve(cwd, folder) }] }
    },
    async run({ pattern, path }, call) {
      const { base, rest } = split(path || '.', pattern)
      const place = await openSearch(base, call)
      try {
        if (place.file !== undefined) throw new Error(`${base} is a file: give a folder as path.`)
        // Names are listed first and matched here, because ripgrep's own glob option would include ignored files.
        const names = (await proposedFiles(place, call.signal, parts)).filter(globFilter(rest))
        const paths = await newestFirst(names.slice(0, mostFound), place.tree)
        if (paths.length === 0)
          return `No file matches ${pattern} ${base === '.' ? 'here' : `in ${base}`}. Put **/ in front of it, or try a shorter pattern.`
        const lines = paths.slice(0, mostShown).map((name) => shortPath(join(place.at, name), call.cwd))
        if (paths.length <= mostShown) return lines.join('\n')
        const count = `${names.length > mostFound ? 'more than ' : ''}${paths.length}`
        return `${lines.join('\n')}\n[The newest ${mostShown} of ${count} files: narrow the pattern or the path.]`
      } finally {
        place.tree.close()
      }
    },
  })
}

/** Splits an absolute pattern at its last folder without a wildcard. */
function split(path: string, pattern: string): { base: string; rest: string } {
  if (!isAbsolute(pattern)) return { base: path, rest: pattern }
  const base = stem(pattern)
  return { base, rest: `/${pattern.slice(base.length).replace(/^\//, '')}` }
}

/** The existing files of a list, newest first. */
async function newestFirst(names: readonly string[], tree: HeldTree): Promise<string[]> {
  const aged: { name: string; at: number }[] = []
  for (const [i, name] of names.entries()) {
    if (i % 256 === 255) await setImmediate()
    const stats = tree.folderOf(name)?.stats(basename(name))
    if (stats?.isFile()) aged.push({ name, at: stats.mtimeMs })
  }
  return aged.sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1)).map(({ name }) => name)
}

/** The last folder of a pattern before its first wildcard. */
function stem(pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?{]/.test(part))
  return parts.slice(0, wild < 0 ? parts.length - 1 : wild).join('/') || '/'
}
