import type { Env } from '../base/env.ts'
import type { Place } from '../home/place.ts'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { isMissing } from '../base/files/files.ts'
import { messageOf } from '../base/error-message.ts'
import { isWithin, realOrSame } from '../base/files/real-path.ts'
import { shortPath } from '../base/files/short-path.ts'
import { UsageError } from '../core/io.ts'
import { sharedNames } from './loop/instructions.ts'
import { isSecretPlace, secretFolders } from '../safety/secret-files.ts'

/** The folders next to the project that agents may read and change as well, because the person added them. All are real paths. */
export class AddedFolders {
  #said: readonly string[]
  #set: readonly string[]

  /** `said`: the folders for this run; `set`: the folders from the settings and from the project's document. */
  constructor(said: readonly string[] = [], set: readonly string[] = []) {
    this.#said = said
    this.#set = set
  }

  /** The added folders without replaced ones: if a folder has become a link, it leads elsewhere and no longer counts. */
  get now(): readonly string[] {
    return [...new Set([...this.#said, ...this.#set])].filter(isSameFolder)
  }

  add(folder: string): void {
    this.#said = [...this.#said, folder]
  }

  /** Removes a folder that was added for this run. */
  remove(folder: string): void {
    this.#said = this.#said.filter((one) => one !== folder)
    this.#set = this.#set.filter((one) => one !== folder)
  }

  /** Replaces the folders from the settings, after the settings were read again. */
  setAnew(set: readonly string[]): void {
    this.#set = set
  }
}

function isSameFolder(folder: string): boolean {
  try {
    return lstatSync(folder).isDirectory() && realpathSync(folder) === folder
  } catch {
    return false
  }
}

/** The context of an added folder: the project, termaite's home and the person's environment. */
type FolderPlace = Pick<Place, 'root' | 'home'> & { env: Env }

/** Checks a folder that a person names, and returns its real path. Throws a UsageError that says why the folder cannot be added. */
export function addableFolder(named: string, base: string, { root, home, env }: FolderPlace): string {
  const person = env.HOME && isAbsolute(env.HOME) ? env.HOME : homedir()
  const written = named.replace(/^~(?=\/|$)/, person)
  const path = isAbsolute(written) ? written : resolve(base, written)
  const no = (why: string) => new UsageError(`${named} cannot be added: ${why}.`)
  if (named.trim() === '') throw new UsageError('name the folder to add, for example ../shared.')
  let folder: string
  try {
    folder = realpathSync(path)
    if (!statSync(folder).isDirectory()) throw no('it is not a folder. Name the folder that it is in')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw no(isMissing(error) ? `there is no folder ${path}` : messageOf(error))
  }
  const realHome = realOrSame(person)
  if (folder === '/') throw no('it is the whole disk. Name the folder that you need')
  if (folder === realHome) throw no('it is your home folder, with your keys and settings in it. Name a folder in it')
  if (isWithin(folder, realHome)) throw no('your home folder is inside it. Name the folder that you need')
  if (isWithin(realOrSame(home), folder)) throw no('termaite keeps its own files there')
  if (isSecretPlace(folder, realHome) || secretFolders(realHome).some((secret) => isWithin(realOrSame(secret), folder)))
    throw no('keys and logins are kept there')
  if (shared.includes(folder) || systemFolders.some((system) => isWithin(system, folder)))
    throw no('the system and other programs keep their files there. Name a folder of your own')
  if (folder === root) throw no('it is the project itself')
  if (isWithin(root, folder)) throw no('it is inside the project already')
  if (isWithin(folder, root)) throw no(`the project is inside it. To work in all of it: termaite --cwd ${folder}`)
  return folder
}

/** Folders in which no file is the person's own work. */
const systemFolders = ['/etc', '/boot', '/dev', '/proc', '/sys', '/private/etc', '/System']

/** Folders that cannot be added themselves, but may contain a folder of the person's. */
const shared = '/bin /sbin /lib /lib64 /usr /usr/local /var /run /opt /home /Users /tmp /var/tmp /private/tmp'.split(
  ' ',
)

/** Checks the folders from the settings; a bad one is left out, with a warning. */
export function setFolders(set: readonly string[], place: FolderPlace): { folders: string[]; warnings: string[] } {
  const folders: string[] = []
  const warnings: string[] = []
  for (const named of set)
    try {
      folders.push(addableFolder(named, place.root, place))
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      warnings.push(messageOf(error))
    }
  return { folders, warnings }
}

/** The sentence that tells an agent about the added folders; undefined without added folders. */
export function foldersWords(folders: readonly string[]): string | undefined {
  if (folders.length === 0) return undefined
  const each = folders.map((folder) => {
    const guide = sharedNames.find((name) => isFile(join(folder, name)))
    return `- ${folder}${guide === undefined ? '' : ` (read its ${guide} before you work there)`}`
  })
  return ['Besides the project you may read and change files in these folders, by their absolute paths:', ...each].join(
    '\n',
  )
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** The folders as one line for the person. */
export const foldersLine = (folders: readonly string[], cwd: string): string =>
  folders.map((folder) => shortPath(folder, cwd)).join(', ')
