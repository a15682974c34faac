import type { ProjectBounds } from '../path-location.ts'
import type { Understood } from './reading/program-table.ts'
import type { Word } from './simple-command.ts'
import { basename, isAbsolute, join } from 'node:path'
import { isProgram } from '../../base/program-path.ts'
import { isWithin } from '../../base/real-path.ts'
import { rootsOf } from '../path-location.ts'
import { builtins, readingPrograms } from './reading/reading-programs.ts'
import { hasRepository, repositoryDanger } from './git-settings.ts'
import { only } from './simple-command.ts'
import { kindAt, matchesOf, pathsBelow, targetOf } from './touched-paths.ts'

/** The files that a command reads, or the reason why it is not known to only read. */
export function understoodCommand(
  words: readonly Word[],
  cwds: readonly string[] | undefined,
  fed: boolean,
  bounds: ProjectBounds & { path?: string },
): Understood | string {
  const name = only(words[0]) ?? ''
  const bare = standardBin.test(name) ? basename(name) : name
  const pair = `${bare} ${only(words[1]) ?? ''}`
  const known = readingPrograms.get(pair) ?? readingPrograms.get(bare)
  if (!known) return `termaite does not know the program ${name}`
  if (!cwds) return 'termaite does not know which folder it runs in'
  const shadow = builtins.has(bare) || bare !== name ? undefined : shadowOf(bare, bounds.path, cwds, rootsOf(bounds))
  if (shadow !== undefined) return `${shadow} would run instead of the system’s ${name}`
  const matches = (word: Word) =>
    (word.values ?? []).flatMap((value) => cwds.flatMap((cwd) => matchesOf(value, cwd) ?? ['-']))
  const all = (path: string) => cwds.map((cwd) => (isAbsolute(path) ? path : `${cwd}/${path}`))
  const isFolder = (path: string) => kindAt(targetOf(path) ?? path) === 'folder'
  const around = {
    matches,
    fed,
    isPlainFile: (path: string) => all(path).every((one) => kindAt(one) === 'file'),
    isFolder: (path: string) => all(path).every(isFolder),
    mayBeFolder: (path: string) => all(path).some((one) => isFolder(one) || targetOf(one) === undefined),
    isThere: (path: string) => all(path).some((one) => kindAt(one) !== undefined),
    below(path: string) {
      const found = all(path).map(pathsBelow)
      return found.includes(undefined) ? undefined : found.flatMap((paths) => paths!)
    },
  }
  const read = known(words.slice(readingPrograms.has(pair) ? 2 : 1), around)
  if ('not' in read) return read.not
  if (read.git)
    for (const cwd of cwds) {
      const at = only(read.git) ?? '.'
      const folder = targetOf(isAbsolute(at) ? at : `${cwd}/${at}`)
      const danger =
        folder === undefined
          ? 'termaite does not know which repository git reads'
          : repositoryDanger(folder, rootsOf(bounds))
      if (danger !== undefined) return danger
      if (read.needsRepository && !hasRepository(folder!)) return 'there is no repository that git could read'
    }
  return read
}

/** The file of the project that a shell would run for a name, where PATH leads into the project before the system. */
function shadowOf(
  name: string,
  path: string | undefined,
  cwds: readonly string[],
  roots: readonly string[],
): string | undefined {
  for (const entry of path?.split(':') ?? [])
    for (const folder of isAbsolute(entry) ? [entry] : cwds.map((cwd) => join(cwd, entry || '.'))) {
      const file = join(folder, name)
      if (!isProgram(file)) continue
      const target = targetOf(folder)
      return target === undefined || roots.some((root) => isWithin(root, target)) ? file : undefined
    }
  return undefined
}

/** A program of the system that is named by its whole path. */
export const standardBin = /^\/(?:usr\/)?s?bin\/[^/]+$/
