import type { ToolCall } from '../core/work/tool.ts'
import type { JudgedCall } from '../safety/rules/judged-call.ts'
import type { wallEnvironment } from '../safety/wall/wall-environment.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { randomName } from '../base/id.ts'
import { isWithin, realIfThere, realOrSame } from '../base/files/real-path.ts'
import { consentOptions } from '../core/talk/consent.ts'
import { onOneLine } from '../base/text/ansi.ts'
import { isSecretName, isSecretPlace, secretFilesIn, secretFolders } from '../safety/secret-files.ts'
import { temporary } from '../safety/wall/hidden-places.ts'
import { pnpmStore } from '../safety/wall/wall-environment.ts'
import { slugOf } from '../home/project.ts'
import { noteOnce } from './native-parts.ts'

/**
 * The project's own folder for the caches of package managers: files that a command leaves there are not used in other projects.
 * Undefined if it cannot be made.
 */
export async function projectCaches(parts: NativeParts): Promise<string | undefined> {
  // A run that stores nothing leaves no cache either.
  return parts.audited ? projectFolder(parts, 'caches') : undefined
}

const placeIn = ({ home, root }: NativeParts, name: string) => join(home, 'projects', slugOf(root), name)

function projectFolder(parts: NativeParts, name: string): Promise<string | undefined> {
  const folder = placeIn(parts, name)
  const made = mkdir(folder, { recursive: true, mode: 0o700 })
  return made.then(
    () => folder,
    () => undefined,
  )
}

/** The settings file of pnpm before version 11. A variable for the store would make npm print a warning. */
const pnpmSettings = process.platform === 'darwin' ? 'Library/Preferences/pnpm/rc' : '.config/pnpm/rc'

/**
 * The folder that is the home of a project's commands, with the settings that no variable can replace. The home is filled before it is
 * moved into place, because commands could add links to it afterwards. Undefined if it cannot be made.
 */
async function projectHome(parts: NativeParts): Promise<string | undefined> {
  const folder = placeIn(parts, 'home')
  if (existsSync(folder)) return folder
  const made = `${folder}.${randomName()}`
  try {
    await mkdir(dirname(join(made, pnpmSettings)), { recursive: true, mode: 0o700 })
    await writeFile(join(made, pnpmSettings), `store-dir=${join(placeIn(parts, 'caches'), pnpmStore)}\n`)
    await rename(made, folder)
  } catch {
    await rm(made, { recursive: true, force: true })
  }
  // Another process may have made the home first.
  return existsSync(folder) ? folder : undefined
}

/** The home that commands of a project see instead of the person's. */
type HomeView = {
  /** The folders of the home that may be written if the project may be. */
  own: string[]
  /** The other readable places: the person's git settings without logins and programs, and the places that the settings show. */
  shown: string[]
  names: Pick<NonNullable<Parameters<typeof wallEnvironment>[1]>, 'home' | 'gitSettings'>
}

/**
 * Makes the home of a project's commands: a folder of our own at its own path, which only they see. It is not at the path of the person's
 * home, because the shown places would then be mounted through a folder that commands can fill with links; and macOS cannot show a folder
 * at another path. In a run that stores nothing, the temporary folder is the home.
 */
export async function homeView(settings: NativeSeat['settings'], parts: NativeParts): Promise<HomeView> {
  const { home, root, env, audited } = parts
  const { plainGitSettings } = await import('../safety/wall/wall-git-settings.ts')
  const gitSettings = await plainGitSettings({ root, env, own: home }).catch(() => undefined)
  const { shown: agreed = [] } = await parts.project.read()
  const show = [
    ...(settings.sandbox.show ?? []).flatMap((path) => namedPlace(path, parts)),
    // A place that became a link after the person agreed leads elsewhere, and no longer counts.
    ...agreed.filter((path) => showable(path, parts) === path),
  ]
  const folder = audited ? await projectHome(parts) : undefined
  const shown = gitSettings === undefined ? show : [...show, dirname(gitSettings)]
  const names = {
    home: folder ?? (process.platform === 'linux' ? temporary : tmpdir()),
    ...(gitSettings !== undefined && { gitSettings }),
  }
  return { own: folder === undefined ? [] : [folder], shown, names }
}

/** Places of the running system, which every command has anyway. */
const ofSystem = ['/proc', '/dev', '/sys']

/**
 * The real path of a place that a person may let commands read: nothing of termaite or of the running system, no key, and no folder that
 * contains keys, the home or the project.
 */
export function showable(path: string, { root, home, env }: NativeParts): string | undefined {
  const place = realIfThere(path)
  const person = env.HOME ?? home
  if (place === undefined || isSecretName(place) || isSecretPlace(place, realOrSame(person))) return undefined
  if ([realOrSame(home), ...ofSystem].some((outer) => isWithin(outer, place))) return undefined
  const around = [root, home, person, temporary, '/run', ...secretFolders(person)].map(realOrSame)
  return around.some((inner) => isWithin(place, inner)) ? undefined : place
}

/** The place that the settings show, if it exists; a path through a folder that commands can write could lead anywhere. */
function namedPlace(path: string, parts: NativeParts): string[] {
  const { root, home, env, folders } = parts
  const named = path.replace(/^~(?=\/|$)/, env.HOME ?? home)
  if (realIfThere(named) === undefined || [root, ...folders.now].some((folder) => isWithin(folder, resolve(named))))
    return []
  const place = showable(named, parts)
  if (place !== undefined) return [named]
  const words = `The sandbox does not show ${path}, which sandbox.show in your settings names: keys, files of termaite and of the running system, and folders around your home or the project stay hidden. Name the folder that you need.`
  noteOnce(parts, words)
  return []
}

/**
 * The key files of the project and the added folders, found once per turn: a search before each command would take longer than the
 * command.
 */
const keyFiles = new WeakMap<AbortSignal, Map<string, Promise<string[]>>>()

async function keyFilesOf(turn: AbortSignal, folders: readonly string[]): Promise<string[]> {
  const known = keyFiles.get(turn) ?? new Map<string, Promise<string[]>>()
  keyFiles.set(turn, known)
  for (const folder of folders) if (!known.has(folder)) known.set(folder, secretFilesIn(folder))
  return (await Promise.all(folders.map((folder) => known.get(folder)!))).flat()
}

/**
 * The key files to hide from a command. At `edit` and `ask` the person decides once for the project, when one of its own programs is
 * first started, because many programs need the keys.
 */
export async function hiddenKeys(
  keys: 'hidden' | 'shown' | 'decided',
  call: ToolCall,
  parts: NativeParts,
  judged: JudgedCall | undefined,
): Promise<string[]> {
  if (keys === 'shown') return []
  const files = await keyFilesOf(call.signal, [parts.root, ...parts.folders.now])
  if (keys === 'hidden' || files.length === 0) return files
  const { keys: decided } = await parts.project.read()
  if (decided !== undefined) return decided === 'shown' ? [] : files
  const isOwn = judged?.parts.some(({ class: kind }) => kind === 'runs')
  return isOwn && (await askForKeys(files, call, parts)) ? [] : files
}

async function askForKeys(files: readonly string[], call: ToolCall, { project, root }: NativeParts): Promise<boolean> {
  const named = files.slice(0, 3).map((file) => onOneLine(relative(root, file)))
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : ''
  const picks = await call.ask(
    {
      about: 'permission',
      text: `May commands in this project see its files with keys (${named.join(', ')}${more})? Its own programs may need them.`,
      from: [],
      options: consentOptions({
        always: { id: 'shown', label: 'Yes, always in this project' },
        no: { id: 'hidden', label: 'No, keep them hidden' },
      }),
      enter: 'hidden',
    },
    call.signal,
  )
  if (!picks) return false
  const keys = picks.includes('shown') ? ('shown' as const) : ('hidden' as const)
  await project.update((doc) => ({ ...doc, keys }))
  return keys === 'shown'
}
