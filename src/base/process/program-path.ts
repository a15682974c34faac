import type { Env } from '../env.ts'
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { gitFolders, projectRoot } from '../files/git.ts'
import { isWithin, realOrSame } from '../files/real-path.ts'
import { quotedWord } from '../text/shell-word.ts'

/** A PATH without relative folders: otherwise the author of the current folder would choose the programs. */
export function absolutePath(path: string): string {
  return path.split(delimiter).filter(isAbsolute).join(delimiter)
}

/** The folders for which this process works: no program of their projects is started for termaite's own use. */
const places = new Set<string>()

export function rememberPlace(cwd: string): void {
  places.add(cwd)
}

/**
 * Finds a program on the PATH that no person or agent working in a project could have put there: relative folders are skipped, as are
 * these trees and those of the places for which this process works, both by the folder on the PATH and by the real path of the program. A
 * project that contains the person's home is the person's own.
 */
export function programOutside(word: string, env: Env, trees: readonly string[]): string | undefined {
  const all = [...trees, ...treesOf(env)]
  const isInside = (path: string) => all.some((tree) => tree !== '/' && isWithin(tree, path))
  for (const folder of foldersOf(env)) {
    const path = join(folder, word)
    if (isProgram(path) && !isInside(folder) && !isInside(realpathSync(path))) return path
  }
  return undefined
}

/** Finds a program on the PATH, skipping those in any tree of the repository of `cwd`. */
export function findOutside(word: string, env: Env, cwd?: string): string | undefined {
  return programOutside(word, env, treesOf(env, cwd))
}

/**
 * The environment with a PATH without folders of projects: for programs that termaite itself starts by name, and for examining the
 * programs of the machine.
 */
export function withoutProject(env: Env, cwd?: string): Record<string, string | undefined> {
  if (env.PATH === undefined) return { ...env }
  const trees = treesOf(env, cwd)
  const isInside = (folder: string) => trees.some((tree) => isWithin(tree, realOrSame(folder)))
  return {
    ...env,
    PATH: foldersOf(env)
      .filter((folder) => !isInside(folder))
      .join(delimiter),
  }
}

/**
 * The path of a program that termaite itself starts. A program that only exists inside the project gets a path that does not exist, so
 * that starting it fails with a clear message.
 */
export function ownProgram(word: string, env: Env, cwd: string): string {
  // Without a PATH the system looks in its own folders.
  if (word.includes('/') || env.PATH === undefined) return word
  return findOutside(word, env, cwd) ?? `/nonexistent/${word}`
}

/**
 * A command line whose program the project cannot choose: if a folder of the project on the PATH would decide, the first word is replaced
 * by the program outside, or by a path that does not exist. Any other line stays unchanged.
 */
export function bypassFolderProgram(line: string, env: Env, cwd: string): string {
  const [, blank = '', word] = /^(\s*)([\w.+-]+)(?=\s|$)/.exec(line) ?? []
  const path = word === undefined ? undefined : shadowOf(word, env, cwd)
  if (word === undefined || path === undefined) return line
  return `${blank}${quotedWord(path)}${line.slice(blank.length + word.length)}`
}

/** Replaces the program in the arguments of a command: a line for bash, or a program with its arguments. */
export function unshadowedArgv(argv: [string, ...string[]], env: Env, cwd: string): [string, ...string[]] {
  const [program, flag, line, ...more] = argv
  if (program === 'bash' && flag === '-c' && line !== undefined)
    return [shadowOf(program, env, cwd) ?? program, flag, bypassFolderProgram(line, env, cwd), ...more]
  return [shadowOf(program, env, cwd) ?? program, ...argv.slice(1)]
}

/** The program to start instead of one that a folder of the project on the PATH would choose. */
function shadowOf(word: string, env: Env, cwd: string): string | undefined {
  if (word.includes('/')) return undefined
  const chosen = foldersOf(env).find((folder) => isProgram(join(folder, word)))
  if (chosen === undefined) return undefined
  const outside = findOutside(word, env, cwd)
  return outside === join(chosen, word) ? undefined : (outside ?? `/nonexistent/${word}`)
}

const foldersOf = ({ PATH = '' }: Env) => PATH.split(delimiter).filter(isAbsolute)

/** The real paths of every tree of the projects that a process works for. */
function treesOf({ HOME }: Env, cwd?: string): string[] {
  const home = HOME === undefined ? undefined : realOrSame(HOME)
  const trees = new Set<string>()
  for (const place of new Set(cwd === undefined ? places : [cwd, ...places]))
    for (const tree of treesAt(place)) trees.add(tree)
  return [...trees].filter((tree) => tree !== '/' && !(home !== undefined && isWithin(tree, home)))
}

/** The project of a folder, the repositories around it, and every tree next to them: the main checkout and the worktrees. */
export function treesAt(cwd: string): string[] {
  try {
    const project = projectRoot(cwd)
    const trees = [project]
    for (let root = project; existsSync(join(root, '.git')); root = projectRoot(dirname(root))) {
      trees.push(root, ...treesBeside(root))
      if (root === dirname(root)) break
    }
    return trees
  } catch {
    return []
  }
}

/** A tree only counts if it has its `.git`: a repository may name any folder, and the machine's own programs must still be found. */
function treesBeside(root: string): string[] {
  const common = gitFolders(root)?.common
  if (common === undefined) return []
  const all = join(common, 'worktrees')
  const links = existsSync(all) ? readdirSync(all).map((name) => linkIn(join(all, name, 'gitdir'))) : []
  return [...(basename(common) === '.git' ? [common] : []), ...links].flatMap((link) =>
    link !== undefined && isAbsolute(link) && existsSync(link) ? [realOrSame(dirname(link))] : [],
  )
}

function linkIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
