import type { Env } from '../../base/env.ts'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '../../base/files/files.ts'
import { gitFolders } from '../../base/files/git.ts'
import { randomName } from '../../base/id.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { runGit } from '../../base/git/run-git.ts'
import { isPlainSetting } from './git-programs.ts'

type Asked = {
  root: string
  env: Env
  /** Termaite's own home. */
  own: string
}

const remembered = new Map<string, { mark: string; file: string | undefined }>()

/**
 * Copies the person's own git settings, without those that name a program, a login or further files, and returns the file, whose name is
 * the hash of its content. The folder around it is to be shown behind a wall. Undefined if git cannot be run.
 */
export async function plainGitSettings({ root, env, own }: Asked): Promise<string | undefined> {
  const home = env.HOME ?? '/'
  const xdg = `${env.XDG_CONFIG_HOME || join(home, '.config')}/git`
  const mark = [join(home, '.gitconfig'), join(xdg, 'config'), join(xdg, 'ignore'), join(root, '.git')]
    .map(markOf)
    .join(' ')
  const key = JSON.stringify([root, home, xdg, own])
  const last = remembered.get(key)
  if (last?.mark === mark && (last.file === undefined || existsSync(last.file))) return last.file
  // This git never comes from the project.
  const settings = await personSettings(root, withoutProject(env, root))
  const file = settings && settingsText(settings, { home, xdg, own })
  remembered.set(key, { mark, file })
  return file
}

type Setting = { key: string; value: string }

/** A settings file can be a pipe without a writer, so the wait is limited. */
const patienceMs = 5_000

/** The settings of the person, including those of included files, some of which only apply to this repository. */
async function personSettings(root: string, env: Env): Promise<Setting[] | undefined> {
  const dir = gitFolders(root)?.own
  const signal = AbortSignal.timeout(patienceMs)
  const options = { cwd: '/', env, person: true, signal, ...(dir !== undefined && { dir }) }
  const { code, out } = await runGit(['config', '-z', '--list', '--show-scope'], options)
  if (code !== 0) return undefined
  const fields = out.toString().split('\0').slice(0, -1)
  return fields.flatMap((scope, i) => {
    if (i % 2 === 1 || scope !== 'global') return []
    const [key = '', ...value] = fields[i + 1]!.split('\n')
    // A name without a value means yes.
    return [{ key, value: value.length === 0 ? 'true' : value.join('\n') }]
  })
}

/** Sections that express the person's own preferences; a plain setting of another section belongs to one repository. */
const personal =
  /^(?:user|author|committer|core|init|pull|push|merge|fetch|rebase|index|feature|i18n|rerere|advice|color|column|log|diff)\.[\w.]+$|^branch\.\w+$/

/** Settings that make git request a signature, which needs the person's key: such a commit fails here, and the person is asked. */
const signing = /^(?:commit|tag)\.gpgsign$|^gpg\.format$/

const taste =
  /^(?:commit\.(?:verbose|status|cleanup)|status\.\w+|tag\.sort|versionsort\.suffix|safe\.directory|diff\.(?:interhunkcontext|statgraphwidth|submodule)|merge\.(?:renames|renamelimit|stat|log))$/

const isKept = (key: string) => signing.test(key) || taste.test(key) || (personal.test(key) && isPlainSetting(key))

type Places = { home: string; xdg: string; own: string }

function settingsText(settings: readonly Setting[], { home, xdg, own }: Places): string {
  const named = settings.findLast(({ key }) => key === 'core.excludesfile')?.value.replace(/^~\//, `${home}/`)
  const ignored = contentOf(named ?? join(xdg, 'ignore'))
  const lines = settings.filter(({ key }) => isKept(key)).map(lineOf)
  const folder = join(
    own,
    'wall',
    `git-${createHash('sha256')
      .update(`${lines.join('')}\0${ignored}`)
      .digest('hex')
      .slice(0, 16)}`,
  )
  const file = join(folder, 'config')
  if (existsSync(file)) return file
  makeFolder(folder)
  const ignore = join(folder, 'ignore')
  replaceFile(ignore, ignored, `${ignore}.${randomName()}`)
  const text = [...lines, lineOf({ key: 'core.excludesfile', value: ignore })].join('')
  replaceFile(file, text, `${file}.${randomName()}`)
  return file
}

/** A setting as lines of a file. Git reads the name between the first and the last dot literally. */
function lineOf({ key, value }: Setting): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
  const section = first === last ? key.slice(0, first) : `${key.slice(0, first)} ${quoted(key.slice(first + 1, last))}`
  return `[${section}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`
}

const largest = 1 << 20

/** The content of a plain file that is not too large. */
function contentOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false })
  return there?.isFile() && there.size <= largest ? readFileSync(path, 'utf8') : ''
}

function markOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false, bigint: true })
  return there ? `${there.ino}:${there.ctimeNs}` : ''
}
