import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { projectRoot } from './git.ts'
import { isWithin, realOrSame } from './real-path.ts'
import { quotedWord } from './shell-word.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A PATH without relative folders: the author of the current folder would choose the programs in those. */
export function absolutePath(path: string): string {
  return path.split(delimiter).filter(isAbsolute).join(delimiter)
}

/**
 * Finds a program on the PATH that no project put there: relative folders and folders inside the project of `cwd` are left
 * out. A project that holds the person's home is the person's own.
 */
export function findOutside(word: string, env: Env, cwd: string): string | undefined {
  const inside = insideOf(env, cwd)
  return foldersOf(env)
    .filter((folder) => !inside(folder))
    .map((folder) => join(folder, word))
    .find(isProgram)
}

/** The environment with a PATH on which the project of `cwd` has no folder: for looking at the programs of the machine. */
export function withoutProject(env: Env, cwd: string): Record<string, string | undefined> {
  if (env.PATH === undefined) return { ...env }
  const inside = insideOf(env, cwd)
  return {
    ...env,
    PATH: foldersOf(env)
      .filter((folder) => !inside(folder))
      .join(delimiter),
  }
}

/**
 * The path of a program that termaite itself starts. A program that exists only inside the project gets a path that
 * does not exist, so that starting it fails with a clear message.
 */
export function ownProgram(word: string, env: Env, cwd: string): string {
  // Without a PATH the system looks in its own folders.
  if (word.includes('/') || env.PATH === undefined) return word
  return findOutside(word, env, cwd) ?? `/nonexistent/${word}`
}

/**
 * A command line whose program is not chosen by the project: where a folder of the project on the PATH would decide, the first
 * word is replaced by the program outside, or by a path that does not exist. Any other line stays as it is written.
 */
export function unshadowed(line: string, env: Env, cwd: string): string {
  const [, blank = '', word] = /^(\s*)([\w.+-]+)(?=\s|$)/.exec(line) ?? []
  const path = word === undefined ? undefined : shadowOf(word, env, cwd)
  if (word === undefined || path === undefined) return line
  return `${blank}${quotedWord(path)}${line.slice(blank.length + word.length)}`
}

/** The same for a command as it is started: a line for bash, or a program with its arguments. */
export function unshadowedArgv(argv: [string, ...string[]], env: Env, cwd: string): [string, ...string[]] {
  const [program, flag, line, ...more] = argv
  if (program === 'bash' && flag === '-c' && line !== undefined)
    return [shadowOf(program, env, cwd) ?? program, flag, unshadowed(line, env, cwd), ...more]
  return [shadowOf(program, env, cwd) ?? program, ...argv.slice(1)]
}

/** The program to start instead of one that a folder of the project on the PATH would choose. */
function shadowOf(word: string, env: Env, cwd: string): string | undefined {
  if (word.includes('/')) return undefined
  const chosen = foldersOf(env).find((folder) => isProgram(join(folder, word)))
  if (chosen === undefined || !insideOf(env, cwd)(chosen)) return undefined
  return findOutside(word, env, cwd) ?? `/nonexistent/${word}`
}

const foldersOf = ({ PATH = '' }: Env) => PATH.split(delimiter).filter(isAbsolute)

function insideOf({ HOME }: Env, cwd: string): (folder: string) => boolean {
  let root: string
  try {
    root = projectRoot(cwd)
  } catch {
    return () => false
  }
  if (root === '/' || (HOME !== undefined && isWithin(root, realOrSame(HOME)))) return () => false
  return (folder) => isWithin(root, realOrSame(folder))
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
