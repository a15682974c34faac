import type { ProjectBounds } from '../path-location.ts'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gitFolders, hasOwnGitFolders, projectRoot } from '../../base/files/git.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'
import { rootsOf } from '../path-location.ts'
import { isSecretName, isSecretPlace, keyPathspecs } from '../secret-files.ts'
import { programOutside } from '../../base/process/program-path.ts'

/**
 * A command that may run without a wall and without a question: a program of the system that shows files of the project, started with
 * exactly these words and without a shell. `git`: started by our own git, which ignores the repository's settings.
 */
export type PlainReader = { program: string; args: readonly string[]; git?: true }

type ReaderWorld = ProjectBounds & { cwd: string }

/** The accepted words of a reader. If a word matches none of them, and is not an operand of the row, the command is not a reader. */
type Row = {
  /** Letters that may be combined after one dash. */
  letters?: string
  /** Whole words. */
  words?: readonly RegExp[]
  /** Flags whose value is the next word. */
  valued?: Readonly<Record<string, RegExp>>
  /** The meaning of an operand: a file, a file or a folder, or something that is not looked up. */
  operands: 'files' | 'places' | RegExp | 'none'
  /** Whether the command needs an operand. */
  needs?: true
}

const number = /^[+-]?\d{1,9}$/
const lines: Pick<Row, 'words' | 'valued'> = {
  words: [/^-\d{1,9}$/, /^-[nc][+-]?\d{1,9}$/, /^--(?:lines|bytes)=[+-]?\d{1,9}$/],
  valued: { '-n': number, '-c': number },
}
const color = /^--color(?:=(?:auto|always|never))?$/

/** The programs that only show files, by name. Each row has the words with which its program can do nothing else. */
export const readerRows: Readonly<Record<string, Row>> = {
  ls: {
    letters: 'laAhtrS1RdFipscugGonmxCUvBQ',
    words: [
      color,
      /^--(?:all|almost-all|human-readable|recursive|reverse|directory|classify|inode|size|group-directories-first)$/,
      /^--time-style=(?:iso|long-iso|full-iso)$/,
      /^--sort=(?:none|size|time|version|extension)$/,
    ],
    operands: 'places',
  },
  cat: { letters: 'nbsAeEtTv', words: [/^--(?:number|show-all|squeeze-blank)$/], operands: 'files', needs: true },
  head: { letters: 'qv', ...lines, operands: 'files', needs: true },
  tail: { letters: 'qv', ...lines, operands: 'files', needs: true },
  wc: { letters: 'lwcmL', words: [/^--(?:lines|words|bytes|chars)$/], operands: 'files', needs: true },
  pwd: { letters: 'PL', operands: 'none' },
  stat: {
    letters: 't',
    words: [/^--(?:format|printf)=[^\0]*$/, /^--terse$/],
    valued: { '-c': /^(?!-)[^\0]*$/ },
    operands: 'places',
    needs: true,
  },
  file: { letters: 'bi', words: [/^--(?:brief|mime|mime-type|mime-encoding)$/], operands: 'files', needs: true },
  du: {
    letters: 'shackm',
    words: [/^--(?:summarize|human-readable|all|total|apparent-size)$/, /^--max-depth=\d{1,3}$/, /^-d\d{1,3}$/],
    valued: { '-d': /^\d{1,3}$/ },
    operands: 'places',
  },
  df: { letters: 'hkTiP', words: [/^--(?:human-readable|portability|print-type|inodes)$/], operands: 'places' },
  date: {
    letters: 'uR',
    words: [/^-I(?:date|hours|minutes|seconds|ns)?$/, /^--(?:utc|iso-8601(?:=(?:date|hours|minutes|seconds|ns))?)$/],
    operands: /^\+[^\0]*$/,
  },
}

const counts = [/^-\d{1,6}$/, /^-n\d{1,6}$/, /^--max-count=\d{1,6}$/, /^--skip=\d{1,6}$/]
const summaries = [/^--(?:stat|shortstat|numstat|name-only|name-status|summary)$/, /^--(?:no-)?color$/, color]
const patches = [/^-[puwbMsR]$/, /^--(?:patch|no-patch|word-diff|ignore-all-space|ignore-blank-lines)$/, /^-U\d{1,4}$/]
/**
 * A name of a format that git knows, or a text without `%G`, for which git would start a program that checks signatures. A sign may
 * precede the letter: `%+G`.
 */
const formats =
  /^--(?:format|pretty)=(?:oneline|short|medium|full|fuller|reference|raw|t?format:(?:(?!%[-+ ]?[Gg])[^\0])*)$/
const commits = [
  ...[formats, /^--(?:since|until|after|before|author|grep)=[^\0]+$/, /^--date=(?:iso|short|relative|human|raw|unix)$/],
  /^--(?:oneline|graph|all|decorate|no-decorate|reverse|merges|no-merges|first-parent|abbrev-commit)$/,
]

/** The commands of git that only show something. Their operands are commits, and files that come after `--` or that exist. */
export const gitRows: Readonly<Record<string, readonly RegExp[]>> = {
  status: [/^-(?:s|b|sb|z)$/, /^--(?:short|branch|long|porcelain(?:=v[12])?|ignored)$/, /^-u(?:no|normal|all)$/],
  log: [...counts, ...summaries, ...patches, ...commits],
  diff: [...summaries, ...patches, /^--(?:cached|staged)$/],
  show: [...summaries, ...patches, ...commits],
}

/** The reader that a command line stands for; undefined for every other command, or if its folder or files cannot be examined. */
export async function plainReader(command: string, world: ReaderWorld): Promise<PlainReader | undefined> {
  const [name, ...words] = splitWords(command) ?? []
  const cwd = realIfThere(world.cwd)
  const roots = rootsOf(world).flatMap((folder) => realIfThere(folder) ?? [])
  if (name === undefined || cwd === undefined || !roots.some((root) => isWithin(root, cwd))) return undefined
  // If the project is the whole disk, nothing is outside of it.
  if (roots.includes('/')) return undefined
  const places = { cwd, roots, home: realIfThere(world.home) ?? world.home }
  const isGit = name === 'git'
  if (!isGit && !Object.hasOwn(readerRows, name)) return undefined
  const program = programOutside(name, { PATH: world.path ?? '/usr/bin:/bin' }, roots)
  if (program === undefined) return undefined
  if (isGit && !hasOwnRepository(cwd, roots)) return undefined
  const args = isGit ? gitArguments(words, places) : argumentsOf(readerRows[name]!, words, places)
  return args && { program, args, ...(isGit && { git: true }) }
}

/**
 * Splits a command line into words: plain words, and quoted words without anything that a shell would expand. Undefined for every line
 * that a shell would do more than split.
 */
export function splitWords(line: string): string[] | undefined {
  if (line.length > longestLine) return undefined
  const words: string[] = []
  const token = /[ \t]+|((?:[\w./:@%+=,^~-]|'[^'\0-\x1f\x7f]*'|"[^"$`\\!\0-\x1f\x7f]*")+)(?=[ \t]|$)/y
  while (token.lastIndex < line.length) {
    const found = token.exec(line)
    if (!found) return undefined
    const [, word] = found
    if (word === undefined) continue
    // A tilde at the beginning of a word, or after = or :, may stand for a home.
    if (/(?:^|[=:])~/.test(word)) return undefined
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''))
  }
  return words
}

const longestLine = 4_000

type Places = { cwd: string; roots: readonly string[]; home: string }

function argumentsOf(row: Row, words: readonly string[], places: Places): readonly string[] | undefined {
  const { letters = '', words: whole = [], valued = {}, operands, needs } = row
  const flags: string[] = []
  const rest: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--' && operands !== 'none') {
      rest.push(...words.slice(at + 1))
      break
    }
    if (Object.hasOwn(valued, word)) {
      const value = words[++at]
      if (value === undefined || !valued[word]!.test(value)) return undefined
      flags.push(word, value)
    } else if (word.startsWith('-')) {
      const cluster = /^-([A-Za-z0-9]+)$/.exec(word)?.[1]
      const isCluster = cluster !== undefined && [...cluster].every((letter) => letters.includes(letter))
      if (!isCluster && !whole.some((pattern) => pattern.test(word))) return undefined
      flags.push(word)
    } else rest.push(word)
  }
  if (operands === 'none' && rest.length > 0) return undefined
  if (needs && rest.length === 0) return undefined
  if (operands instanceof RegExp) return rest.every((word) => operands.test(word)) ? [...flags, ...rest] : undefined
  if (!rest.every((word) => isShown(word, operands === 'files', places))) return undefined
  return [...flags, ...(rest.length > 0 ? ['--', ...rest] : [])]
}

/** Whether a path leads to a file of the project, or to a folder if folders count, and to none that contains keys. */
function isShown(path: string, filesOnly: boolean, { cwd, roots, home }: Places): boolean {
  try {
    const real = realpathSync(resolve(cwd, path))
    const there = statSync(real)
    if (!there.isFile() && (filesOnly || !there.isDirectory())) return false
    const secret = isSecretName(path) || isSecretName(real) || isSecretPlace(real, home)
    return !secret && roots.some((root) => isWithin(root, real))
  } catch {
    return false
  }
}

/** A commit given by a name, a number or a path of ancestors from one; not a blob or a tree. */
const revision = /^(?!-)[\w][\w./-]*(?:[~^]\d*)*$/

/** Git uses no driver of the project here, and never examines another repository. */
const plainDifferences = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all', '--submodule=short']

function gitArguments(words: readonly string[], places: Places): readonly string[] | undefined {
  const [sub = '', ...given] = words
  if (!Object.hasOwn(gitRows, sub)) return undefined
  const flags: string[] = []
  const commitsNamed: string[] = []
  const paths: string[] = []
  let behind = false
  for (let at = 0; at < given.length; at++) {
    const word = given[at]!
    if (!behind && word === '--') behind = true
    else if (behind || (!word.startsWith('-') && isShown(word, false, places))) {
      if (!isShown(word, false, places)) return undefined
      paths.push(word)
    } else if (word === '-n' && sub === 'log') {
      const value = given[++at]
      if (value === undefined || !/^\d{1,6}$/.test(value)) return undefined
      flags.push('-n', value)
    } else if (word.startsWith('-')) {
      if (!gitRows[sub]!.some((pattern) => pattern.test(word))) return undefined
      flags.push(word)
    } else {
      const named = commitWord(word, sub)
      if (named === undefined) return undefined
      commitsNamed.push(named)
    }
  }
  if (sub === 'status') {
    if (commitsNamed.length > 0) return undefined
    return ['status', '--ignore-submodules=all', ...flags, '--', ...paths.map(literalPath)]
  }
  const named = [...flags, ...commitsNamed]
  if (sub === 'log' && !flags.some((flag) => isPatch.test(flag)))
    return [...quiet, 'log', ...plainDifferences, '--no-show-signature', ...named, '--', ...paths.map(literalPath)]
  const shown = paths.length > 0 ? paths.map(literalPath) : [':(top)']
  const unsigned = sub === 'diff' ? [] : ['--no-show-signature']
  return [...quiet, sub, ...plainDifferences, ...unsigned, ...named, '--', ...shown, ...keyPathspecs()]
}

/** Without this, a diff would write the times of files into the index. */
const quiet = ['-c', 'diff.autoRefreshIndex=false']

/** Flags by which a log shows the lines of files. */
const isPatch = /^(?:-[puwbRU]|--(?:patch|word-diff|ignore-))/

/**
 * Whether the repository of a folder is the project's own, including its objects and refs, which links could replace with those of
 * another repository.
 */
function hasOwnRepository(cwd: string, roots: readonly string[]): boolean {
  try {
    const root = projectRoot(cwd)
    const folders = gitFolders(root)
    if (!folders || !roots.some((one) => isWithin(one, root))) return false
    if (!hasOwnGitFolders(root, folders)) return false
    const { own, common } = folders
    const data = ['HEAD', 'index'].map((name) => join(own, name))
    data.push(...['objects', 'refs', 'packed-refs', 'logs'].map((name) => join(common, name)))
    return data.every((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true)
  } catch {
    return false
  }
}

const literalPath = (path: string) => `:(literal)${path}`

/** A commit, or two for a diff or a range, written so that it can only mean a commit. */
function commitWord(word: string, sub: string): string | undefined {
  const range = sub === 'show' || sub === 'status' ? [word] : word.split(/\.{2,3}/)
  const dots = /\.{2,3}/.exec(word)?.[0] ?? ''
  if (range.length > 2 || !range.every((one) => revision.test(one) && !one.includes('..'))) return undefined
  return range.map((one) => `${one}^{commit}`).join(dots)
}
