import type { Env } from '../../base/env.ts'
import type { GitPlace } from './git-places.ts'
import type { FoundRepository, SearchResult } from './project-search.ts'
import { writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { isThere, lookAt } from '../../base/files/files.ts'
import { commonFolder, gitFolders, isBareFolder } from '../../base/files/git.ts'
import { settingsIn, settingsText } from '../../base/git/git-settings.ts'
import { runGit } from '../../base/git/run-git.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'
import { entriesIn, linksIn, modulesIn } from './git-places.ts'
import { openedEntries, planOf, pointedFolder, remove, withoutPrograms } from './git-places.ts'
import { isPlainSetting } from './git-programs.ts'
import { clockErrorMs, isProject } from './project-search.ts'

/** The repositories below a project's root, as they were before a command. */
type NestedRepositories = {
  /** The git folders that exist. */
  known(): GitPlace[]
  /** The folders that contain the files of a repository, each with its git folder. */
  trees(): { tree: string; folder: string }[]
  /** The files `.git`, which point to git folders. */
  pointers(): string[]
  /** Removes programs from repositories that a command created, using a search after the command; returns a sentence for each. */
  settle(now: SearchResult): Promise<string[]>
}

/** The most repositories that are mounted. Further ones are only checked for changes afterwards. */
const mostMounted = 40

/** Projects for which the person has already seen the note that they are too large to be searched. */
const toldLarge = new Set<string>()

/** The repositories that a search found before a command, which began at `since`. */
export function nestedRepositories(
  root: string,
  { repositories: before, whole }: SearchResult,
  { env, since }: { env: Env; since: number },
): NestedRepositories {
  if (!isProject(root, env.HOME ?? ''))
    return { known: () => [], trees: () => [], pointers: () => [], settle: async () => [] }
  // The project's own git folder is protected separately.
  const inner = before.filter(({ path }) => path !== join(root, '.git'))
  // A link cannot be mounted on itself, and the project's own folder is already mounted.
  const mounted = inner.filter(({ kind, path }) => kind !== 'link' && path !== root).slice(0, mostMounted)
  const known = new Set(before.map(({ id }) => id))
  const own = ownFolders(root)
  const places = placesOf(root, mounted, own)
  // The wall itself prepares the folders that it protects, and keeps them unchanged.
  const fixed = [...own, ...places.map(({ path }) => path)]
  const marks = new Map(inner.filter((one) => !mounted.includes(one)).map((one) => [one.id, markOf(one, fixed)]))
  const held = [...own, ...before.flatMap(foldersOf)]
  return {
    known: () => places,
    trees: () =>
      mounted.flatMap((one) => {
        const folder = one.kind === 'bare' ? undefined : foldersOf(one)[0]
        return folder === undefined ? [] : [{ tree: dirname(one.path), folder }]
      }),
    pointers: () => mounted.filter(({ kind }) => kind === 'pointer').map(({ path }) => path),
    async settle(now) {
      const isMade = (one: FoundRepository) => {
        if (known.has(one.id)) return marks.has(one.id) && marks.get(one.id) !== markOf(one, fixed)
        // In a project that was too large to be searched, a repository that is found late may be older than the command.
        return whole.old || changedAfter(one, since)
      }
      const told: string[] = []
      for (const found of now.repositories.filter(isMade))
        told.push(...(await tameRepository(root, found, known.has(found.id) ? undefined : held, env)))
      return [...told, ...unsearchedWords(root, now, whole.old)]
    },
  }
}

/** The git folders of the project's own repository, which the wall protects separately. */
function ownFolders(root: string): string[] {
  const folders = gitFolders(root)
  return folders ? [folders.own, folders.common].flatMap((path) => realIfThere(path) ?? []) : []
}

/** The folder in which git finds HEAD and the index of a repository, and the one with its settings. */
function foldersOf({ path, kind }: FoundRepository): string[] {
  const own = kind === 'pointer' ? pointedFolder(path) : realIfThere(path)
  try {
    return own === undefined ? [] : [own, realIfThere(commonFolder(own)) ?? own]
  } catch {
    return own === undefined ? [] : [own]
  }
}

/** The git folders that repositories of the project use, wherever they are in the project. */
function placesOf(root: string, repositories: readonly FoundRepository[], own: readonly string[]): GitPlace[] {
  const places = new Map<string, GitPlace>()
  for (const { path, kind } of repositories)
    if (kind === 'folder' || kind === 'bare') places.set(path, kind === 'bare' ? { path, bare: true } : { path })
  for (const path of repositories.flatMap(foldersOf)) {
    const isOwn = path === root || own.some((folder) => isWithin(folder, path))
    if (!places.has(path) && !isOwn && isWithin(root, path) && isThere(join(path, 'config')))
      places.set(path, { path, bare: true })
  }
  return [...places.values()]
}

/** Files in the folders of a repository whose change affects which programs git runs. */
function decisive(found: FoundRepository): string[] {
  const names = ['HEAD', 'config', 'hooks', ...pointers]
  return [...new Set(foldersOf(found))].flatMap((folder) => [
    ...names.map((name) => join(folder, name)),
    ...entriesIn(join(folder, 'hooks')).map(({ name }) => join(folder, 'hooks', name)),
  ])
}

/** A mark that changes with the settings, hooks and pointers of a repository, except in folders that are `fixed`. */
function markOf(found: FoundRepository, fixed: readonly string[]): string {
  const isFixed = (file: string) => file.endsWith('/HEAD') || fixed.some((folder) => isWithin(folder, file))
  const files = decisive(found).filter((file) => !isFixed(file))
  const own = found.kind === 'pointer' || found.kind === 'link' ? [found.path] : []
  return JSON.stringify([...own, ...files].map((file) => [file, lookAt(file)?.ctimeMs]))
}

/** Whether a repository, or a file that decides about its programs, was created, moved or changed after a moment. */
function changedAfter(found: FoundRepository, since: number): boolean {
  const times = [found.path, ...foldersOf(found), ...decisive(found)].map((file) => lookAt(file)?.ctimeMs ?? 0)
  return times.some((time) => time >= since - clockErrorMs)
}

/** Sentences about folders that could not be searched. */
function unsearchedWords(root: string, { whole }: SearchResult, wasWhole: boolean): string[] {
  const told: string[] = []
  const advice = `A repository in one of them could make git run programs: before anybody runs git in a new folder below ${root}, look for repositories with find . -iname .git -o -name HEAD`
  if (!whole.changed)
    told.push(`The command made or changed too many folders to search all of them for git repositories. ${advice}`)
  if (!(whole.old && wasWhole) && !toldLarge.has(root)) {
    toldLarge.add(root)
    told.push(`The project has too many folders to search all of them for git repositories after a command. ${advice}`)
  }
  return told
}

/** Makes a repository harmless; if that fails, the sentence says so, and the other repositories are still handled. */
async function tameRepository(
  root: string,
  found: FoundRepository,
  held: readonly string[] | undefined,
  env: Env,
): Promise<string[]> {
  try {
    return await tame(root, found, held, env)
  } catch (error) {
    const name = relative(root, found.path)
    return [
      `The command made ${name}, which could not be made harmless (${messageOf(error)}): remove it before anybody runs git there.`,
    ]
  }
}

/**
 * Leaves a repository with plain settings alone; removes settings, hooks and pointers that could run a program. `held` are the git
 * folders from before the command; undefined for a repository that existed before and was only changed.
 */
async function tame(
  root: string,
  { path, kind }: FoundRepository,
  held: readonly string[] | undefined,
  env: Env,
): Promise<string[]> {
  const name = relative(root, path)
  if (kind === 'link') return remove(root, path) ? [`The command made ${name} a link; it was removed.`] : []
  if (kind === 'folder') return tameFolder(root, path, env)
  if (kind === 'bare') {
    const isPlain = isBareFolder(path) && !isThere(join(path, 'commondir')) && path !== root
    if (isPlain || !held) return tameFolder(root, path, env, gitWrites)
    // Without its HEAD the folder is not a repository, and files of the project in it stay as they are.
    const head = join(path, 'HEAD')
    return remove(root, head)
      ? [
          `The command made ${relative(root, head)}, with which git could take the folder for a repository; it was removed.`,
        ]
      : []
  }
  const folder = pointedFolder(path)
  const isInside = folder !== undefined && isWithin(root, folder)
  // The folder of another repository is the person's own: it keeps its hooks and settings, but must not be used from elsewhere.
  const isOther = isInside && (!isBareFolder(folder) || held?.some((one) => isWithin(one, folder)) === true)
  if (isInside && !isOther) return tameFolder(root, folder, env)
  const where = isOther ? 'a folder that is not its own' : 'a folder outside the project'
  return remove(root, path) ? [`The command made ${name}, which leads git to ${where}; it was removed.`] : []
}

/** Folders of a bare repository in which git writes to files in place. Other folders may belong to the project. */
const gitWrites = /^(?:refs|logs|info|rebase-merge|rebase-apply|sequencer)(?:\/|$)|^[^/]*$/

const pointers = [
  'commondir',
  'gitdir',
  'config.worktree',
  'objects/info/alternates',
  'worktrees',
  'remotes',
  'branches',
]

async function tameFolder(root: string, folder: string, env: Env, links = /^/): Promise<string[]> {
  const name = relative(root, folder)
  const told: string[] = []
  // A folder that can be entered but not listed would hide its hooks and links.
  openedEntries(folder)
  for (const one of pointers)
    if (!isEmpty(join(folder, one)) && remove(root, join(folder, one)))
      told.push(`The command made ${name}/${one}; it was removed.`)
  for (const path of linksIn(folder, ['hooks', 'modules'], true).keys())
    if (links.test(relative(folder, path)) && remove(root, path))
      told.push(`The command made ${relative(root, path)} a link; it was removed.`)
  for (const { name: hook } of openedEntries(join(folder, 'hooks')) ?? [])
    if (!hook.endsWith('.sample') && remove(root, join(folder, 'hooks', hook)))
      told.push(`The command made the hook ${name}/hooks/${hook}; it was removed.`)
  told.push(...withoutPrograms(folder, planOf('/nonexistent')))
  told.push(...(await tameSettings(root, folder, env)))
  for (const module of modulesIn(join(folder, 'modules'))) told.push(...(await tameFolder(root, module, env)))
  return told
}

async function tameSettings(root: string, folder: string, env: Env): Promise<string[]> {
  const file = join(folder, 'config')
  const name = relative(root, file)
  const there = lookAt(file)
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

async function settingsOf(file: string, env: Env) {
  const signal = AbortSignal.timeout(5_000)
  const ran = await runGit(['config', '-z', '--list', '--no-includes', '--file', file], { cwd: '/', env, signal })
  return ran.code === 0 ? settingsIn(ran) : undefined
}

function isEmpty(path: string): boolean {
  const there = lookAt(path)
  if (!there) return true
  return there.isDirectory() ? openedEntries(path)?.length === 0 : there.isFile() && there.size === 0
}
