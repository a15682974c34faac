import type { Dirent } from 'node:fs'
import type { GitEnv } from '../../base/run-git.ts'
import type { GitPlace } from './git-places.ts'
import { lstatSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { settingsIn, settingsText } from '../../base/git-settings.ts'
import { runGit } from '../../base/run-git.ts'
import { isWithin } from '../../base/real-path.ts'
import { entriesIn, modulesIn, pointedFolder, remove } from './git-places.ts'
import { isPlainSetting } from './git-programs.ts'

/** The repositories below a project's root, as they were before a command. */
export type NestedRepositories = {
  /** The git folders that exist. */
  known(): GitPlace[]
  /** The files `.git`, which point to git folders. */
  pointers(): string[]
  /** Takes programs away from repositories that a command made; returns a sentence for each. */
  settle(): Promise<string[]>
}

type Found = { path: string; kind: 'folder' | 'bare' | 'pointer' | 'link'; id: string }

/** At most this many repositories are mounted. Further ones are only checked for changes afterwards. */
const mostMounted = 40

/** Looks through the project. Links are not followed, and a git folder is not looked into. */
export function nestedRepositories(root: string, env: GitEnv): NestedRepositories {
  const before = isProject(root, env) ? findRepositories(root) : []
  const unmounted = before.filter(({ path }) => dirname(path) !== root).slice(mostMounted)
  const marks = new Map(unmounted.map((one) => [one.id, markOf(one)]))
  const known = new Set(before.map(({ id }) => id))
  const below = (kind: Found['kind']) =>
    before
      .filter((one) => one.kind === kind && dirname(one.path) !== root && !marks.has(one.id))
      .map(({ path }) => path)
  return {
    // The project's own git folder is held by itself.
    known: () => [...below('folder').map((path) => ({ path })), ...below('bare').map((path) => ({ path, bare: true }))],
    pointers: () => below('pointer'),
    async settle() {
      const now = isProject(root, env) ? findRepositories(root) : []
      const made = now.filter((one) => !known.has(one.id) || (marks.has(one.id) && marks.get(one.id) !== markOf(one)))
      const told: string[] = []
      for (const found of made) told.push(...(await tame(root, found, env)))
      return told
    },
  }
}

/** A home or a temporary folder holds repositories that other programs make at the same time. */
const isProject = (root: string, { HOME = '' }: GitEnv) => !isWithin(root, HOME) && root !== '/tmp' && root !== '/'

/** A mark that changes with the settings, hooks and pointers of a repository. */
function markOf({ path }: Found): string {
  const hooks = entriesIn(join(path, 'hooks')).map(({ name }) => `hooks/${name}`)
  const files = ['config', 'hooks', ...pointers, ...hooks].map((name) => join(path, name))
  return files.map((file) => lstatSync(file, { throwIfNoEntry: false })?.ctimeMs ?? '').join(' ')
}

/** Folders of packages and builds are large, and nobody works with git in them. */
const skipped = new Set(['node_modules', '.venv', '__pycache__'])

/** More folders than this are not looked through. The search begins at the root and goes down evenly. */
const mostFolders = 20_000

function findRepositories(root: string): Found[] {
  const found: Found[] = []
  const queue = [root]
  for (let at = 0; at < queue.length && at < mostFolders; at++) {
    const folder = queue[at]!
    const entries = entriesIn(folder)
    if (folder !== root && isGitFolder(entries)) {
      found.push(identify(folder, 'bare'))
      continue
    }
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.name.toLowerCase() === '.git') {
        const kind = entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'pointer'
        found.push(identify(path, kind))
      } else if (entry.isDirectory() && !skipped.has(entry.name)) queue.push(path)
    }
  }
  return found
}

/** Names in a folder that git takes for a repository although it has no folder `.git`. */
function isGitFolder(entries: readonly Dirent[]): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => entries.some((entry) => entry.name === name))
}

function identify(path: string, kind: Found['kind']): Found {
  const there = lstatSync(path, { throwIfNoEntry: false })
  return { path, kind, id: `${there?.dev}:${there?.ino}` }
}

/** Leaves a new repository with plain settings alone; takes settings, hooks and pointers away that could run a program. */
async function tame(root: string, { path, kind }: Found, env: GitEnv): Promise<string[]> {
  const name = relative(root, path)
  if (kind === 'link') return remove(root, path) ? [`The command made ${name} a link; it was removed.`] : []
  if (kind === 'folder' || kind === 'bare') return tameFolder(root, path, env)
  const folder = pointedFolder(path)
  if (folder !== undefined && isWithin(root, folder)) return tameFolder(root, folder, env)
  return remove(root, path)
    ? [`The command made ${name}, which leads git to a folder outside the project; it was removed.`]
    : []
}

const pointers = ['commondir', 'gitdir', 'config.worktree', 'objects/info/alternates', 'worktrees', 'remotes']

async function tameFolder(root: string, folder: string, env: GitEnv): Promise<string[]> {
  const name = relative(root, folder)
  const told: string[] = []
  for (const one of pointers)
    if (!isEmpty(join(folder, one)) && remove(root, join(folder, one)))
      told.push(`The command made ${name}/${one}; it was removed.`)
  for (const { name: hook } of entriesIn(join(folder, 'hooks')))
    if (!hook.endsWith('.sample') && remove(root, join(folder, 'hooks', hook)))
      told.push(`The command made the hook ${name}/hooks/${hook}; it was removed.`)
  for (const { name: one } of entriesIn(folder).filter((entry) => entry.isSymbolicLink()))
    if (remove(root, join(folder, one))) told.push(`The command made ${name}/${one} a link; it was removed.`)
  told.push(...(await tameSettings(root, folder, env)))
  for (const module of modulesIn(join(folder, 'modules'))) told.push(...(await tameFolder(root, module, env)))
  return told
}

async function tameSettings(root: string, folder: string, env: GitEnv): Promise<string[]> {
  const file = join(folder, 'config')
  const name = relative(root, file)
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (!there) return []
  const settings = there.isFile() ? await settingsOf(file, env) : undefined
  if (!settings) return remove(root, file) ? [`The command made ${name}, which git cannot read; it was removed.`] : []
  const isPlain = ({ key, value = '' }: { key: string; value?: string }) =>
    isPlainSetting(key) || (key === 'core.worktree' && isWithin(root, resolve(folder, value)))
  const plain = settings.filter(isPlain)
  const keys = [...new Set(settings.filter((one) => !isPlain(one)).map(({ key }) => key))]
  if (keys.length === 0) return []
  remove(root, file)
  writeFileSync(file, settingsText(plain), { flag: 'wx' })
  return [`The command set ${keys.join(', ')} in ${name}, with which git could run programs; it was removed.`]
}

async function settingsOf(file: string, env: GitEnv) {
  const signal = AbortSignal.timeout(5_000)
  const ran = await runGit(['config', '-z', '--list', '--no-includes', '--file', file], { cwd: '/', env, signal })
  return ran.code === 0 ? settingsIn(ran) : undefined
}

function isEmpty(path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (!there) return true
  return there.isDirectory() ? entriesIn(path).length === 0 : there.isFile() && there.size === 0
}
