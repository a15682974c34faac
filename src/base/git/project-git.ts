import type { Env } from '../env.ts'
import type { Ran, RunOptions } from '../process/collect.ts'
import type { GitSetting } from './git-settings.ts'
import type { RemoteProtocol } from './run-git.ts'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gitFolders, projectRoot, readsOtherObjects } from '../files/git.ts'
import { fileSettings, personSettings, settingsText } from './git-settings.ts'
import { withoutProject } from '../process/program-path.ts'
import { gitCommand, makeStop, runGit } from './run-git.ts'
import { ProgramMissing } from '../files/system-error.ts'

/** Runs git on the repository of a folder and returns its output; rejects with git's reason. */
export type Git = {
  (at: string | Repository, ...args: string[]): Promise<string>
  /** Runs git and returns its output, its errors and its exit code. */
  ran(at: string | Repository, args: readonly string[], options?: GitRunOptions): Promise<Ran>
  /** The names of the filters that the person's own configuration defines. */
  filters(at: string): Promise<string[]>
}

export type GitRunOptions = Omit<RunOptions, 'cwd' | 'env'> & {
  /** Allows the filters of the person's own configuration, such as git-lfs. Filters of the repository never run. */
  filters?: boolean
  /** Allows git to start itself, which some commands need. */
  starts?: boolean
  /** Allows git to reach another machine over this protocol; the address is in the arguments. */
  reaches?: RemoteProtocol
}

/**
 * Opens git for a person's repositories without any program of theirs. Git is given a folder of ours in place of the
 * repository's common folder: with the repository's objects and refs, and with a configuration that holds only the
 * settings listed here. So hooks, filters, drivers, aliases, includes and remotes do not exist for git, whatever they
 * are called.
 */
export function projectGit(env: Env): Git {
  const ran: Git['ran'] = async (at, args, { filters = false, starts = false, reaches, ...options } = {}) => {
    const cwd = typeof at === 'string' ? at : at.root
    const repository = typeof at === 'string' ? repositoryAt(at) : at
    if (!repository) return { code: 128, out: Buffer.alloc(0), err: `fatal: ${cwd} is not in a git repository\n` }
    let view: ReturnType<typeof viewOf>
    try {
      view = viewOf(repository, env, !reading.has(args[0]!))
    } catch (error) {
      return { out: Buffer.alloc(0), err: '', error: error as NodeJS.ErrnoException }
    }
    try {
      const places = { cwd, env, dir: repository.own, common: view.path, tree: repository.root }
      await view.configure(filters)
      return await runGit(args, {
        ...options,
        ...places,
        ...(starts || filters || reaches ? {} : { stop: view.stop }),
        ...(reaches ? { reaches } : {}),
      })
    } finally {
      view.remove()
    }
  }
  const filters = async (at: string) => {
    const places = { cwd: '/', env: withoutProject(env, at) }
    const settings = await personSettings(places)
    return settings.filter(({ key }) => isFilter(key)).map(({ key }) => key.split('.').slice(1, -1).join('.'))
  }
  const git = async (at: string | Repository, ...args: string[]) =>
    (await checkedGit({ ran }, at, args)).toString().trim()
  return Object.assign(git, { ran, filters })
}

/**
 * The words and the environment with which a command sees the repository of a folder in the same way as `projectGit`; `remove` is called
 * after the command's end. Undefined if there is no repository.
 */
export async function showingGit(
  cwd: string,
  args: readonly string[],
  env: Env,
): Promise<(ReturnType<typeof gitCommand> & { remove(): void }) | undefined> {
  const repository = repositoryAt(cwd)
  if (!repository) return undefined
  const view = viewOf(repository, env, false)
  await view.configure(false)
  const places = { cwd, env, dir: repository.own, common: view.path, tree: repository.root, stop: view.stop }
  return { ...gitCommand(args, places), remove: view.remove }
}

/** Runs git and returns its output byte for byte; rejects with git's reason. */
export async function checkedGit(
  { ran }: Pick<Git, 'ran'>,
  at: string | Repository,
  args: readonly string[],
  options?: GitRunOptions,
): Promise<Buffer> {
  const { code, out, err, error } = await ran(at, args, options)
  if (code === 0) return out
  if (error instanceof ProgramMissing) throw error
  throw new Error(error ? error.message : reasonIn(err) || `git ${args[0]} failed`)
}

/** The line that says why git failed: git may explain a fatal error in further lines, otherwise the last line is the reason. */
function reasonIn(err: string): string {
  const lines = err.trim().split('\n')
  return lines.find((line) => line.startsWith('fatal: ')) ?? lines.at(-1)!
}

/** A repository whose work tree is `root`. */
export type Repository = { root: string; own: string; common: string }

/** The repository of a worktree, for commands that need no files. It can be used even if the worktree no longer exists. */
export function repositoryOf(worktree: string): Repository {
  const common = realpathSync(gitFolders(worktree)!.common)
  return { root: common, own: common, common }
}

function repositoryAt(cwd: string): Repository | undefined {
  if (!existsSync(cwd)) return undefined
  const root = projectRoot(cwd)
  const folders = gitFolders(root)
  return folders && { root, own: realpathSync(folders.own), common: realpathSync(folders.common) }
}

/** The parts of the common folder that git reads and writes: only data that names no program. */
const shared = ['HEAD', 'refs', 'packed-refs', 'reftable', 'shallow', 'logs', 'worktrees', 'lfs']

/** Folders that git creates when it needs them, which it could not do through a link. */
const created = ['logs', 'worktrees']

/** Commands that change nothing in the git folder. */
const reading = new Set([
  'check-attr',
  'config',
  'diff',
  'for-each-ref',
  'hash-object',
  'ls-files',
  'merge-base',
  'rev-list',
  'rev-parse',
  'status',
])

function viewOf({ root, own, common }: Repository, given: Env, writes: boolean) {
  // Git also runs in folders outside the project here. For those, `runGit` could not know which folders on the PATH belong to the
  // project.
  const env = withoutProject(given, root)
  const path = realpathSync(mkdtempSync(join(env.TMPDIR || tmpdir(), 'termaite-git-')))
  const filled = writes ? created.map((name) => join(common, name)) : []
  for (const folder of filled) ignoringFaults(() => mkdirSync(folder))
  for (const name of shared) symlinkSync(join(common, name), join(path, name))
  linkObjects(common, path)
  mkdirSync(join(path, 'info'))
  symlinkSync(join(common, 'info', 'exclude'), join(path, 'info', 'exclude'))
  writeFileSync(join(path, 'config'), '')
  return {
    path,
    stop: makeStop(join(path, 'stop')),
    async configure(filters: boolean) {
      const places = { cwd: '/', env, dir: own, common: path, tree: root }
      const files = ['config', 'config.worktree'].map((name, i) => join(i === 0 ? common : own, name)).filter(isFile)
      const [person, ...repository] = await Promise.all([
        personSettings(places),
        ...files.map((file) => fileSettings(file, env)),
      ])
      const settings = [
        ...person.filter(({ key }) => isPlain(key) || (filters && isFilter(key))),
        ...repository.flat().filter(({ key }) => isPlain(key) || isFormat(key)),
      ]
      writeFileSync(join(path, 'config'), settingsText(settings.flatMap((setting) => readable(setting, root))))
    },
    remove() {
      rmSync(path, { recursive: true, force: true })
      for (const folder of filled) ignoringFaults(() => rmdirSync(folder))
    },
  }
}

/** Objects in other places (`objects/info/alternates`) are not read: a stranger's repository could name any folder. */
function linkObjects(common: string, view: string): void {
  const objects = join(common, 'objects')
  if (!readsOtherObjects(objects)) return symlinkSync(objects, join(view, 'objects'))
  mkdirSync(join(view, 'objects'))
  const names = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))
  for (const name of ['pack', ...names]) symlinkSync(join(objects, name), join(view, 'objects', name))
}

/** Settings about bytes, names and identity. None of them makes git run a program or reach another folder. */
const plain = new Set([
  ...['name', 'email'].flatMap((name) => ['user', 'author', 'committer'].map((who) => `${who}.${name}`)),
  'user.useconfigonly',
  'i18n.commitencoding',
  'core.filemode',
  'core.symlinks',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.longpaths',
  'core.autocrlf',
  'core.eol',
  'core.safecrlf',
  'core.checkstat',
  'core.trustctime',
  'core.excludesfile',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'core.sharedrepository',
  'core.logallrefupdates',
])

const isPlain = (key: string) => plain.has(key)

/**
 * Settings about the format of the repository. Left out: `partialclone`, because git would fetch, and `worktreeconfig`, whose file is
 * read here.
 */
const isFormat = (key: string) =>
  key === 'core.repositoryformatversion' || /^extensions\.(?!partialclone$|worktreeconfig$)[^.]+$/.test(key)

const isFilter = (key: string) => /^filter\..*\.(?:clean|smudge|process|required)$/s.test(key)

/** Resolves the path of an excludes file, and leaves it out if it is not a file: git would wait forever at a named pipe. */
function readable(setting: GitSetting, root: string): GitSetting[] {
  if (setting.key !== 'core.excludesfile' || setting.value?.startsWith('~/')) return [setting]
  const value = resolve(root, setting.value ?? '')
  return isFile(value) ? [{ ...setting, value }] : []
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Ignores errors: another process may have created or filled the folder in the meantime. */
function ignoringFaults(act: () => void): void {
  try {
    act()
  } catch {
    return
  }
}
