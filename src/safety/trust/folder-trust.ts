import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../core/talk/store.ts'
import type { Question } from '../../core/talk/question.ts'
import type { SteeringFile } from './steering-files.ts'
import { realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { realClock } from '../../base/clock.ts'
import { markOf, projectOf, steeringFiles } from './steering-files.ts'
import { isWithin } from '../../base/real-path.ts'

/** How far a folder is trusted. `files` would be used once trusted, or are those that `changed`; `mark` is the hash of all files now. */
export type FolderTrust = { state: 'trusted' | 'unknown' | 'changed'; files: string[]; mark: string }

type TrustRecords = Record<string, { at: number; files: SteeringFile[] }>

/** The folders that a person trusts, pinned by the content of their files that can run code or steer agents. */
export class TrustBook {
  #doc
  #clock: Clock
  #own: string | undefined

  /** `own` is termaite's home, which may lie in the folder: its files are the person's own. */
  constructor(store: Store, { clock = realClock, own }: { clock?: Clock; own?: string } = {}) {
    this.#doc = store.doc<TrustRecords>('trust', {}, asKept)
    this.#clock = clock
    this.#own = own
  }

  /** The trust in a project and in the folders down to `cwd`. A folder without steering files is trusted. */
  async of(root: string, cwd = root): Promise<FolderTrust> {
    const [folders, kept] = await Promise.all([foldersOf(root, cwd, this.#own), this.#doc.read()])
    const project = this.#own === undefined ? undefined : await projectOf(root, this.#own)
    const before = ({ folder, files }: Folder) => {
      const there = project === undefined ? undefined : kept[join(project, relative(folders[0]!.folder, folder))]?.files
      // A worktree's files come from its project: those with the same content were trusted there.
      return kept[folder]?.files ?? there?.filter(({ path }) => files.some((file) => file.path === path))
    }
    return joinFolders(folders.map((folder) => standing(folder.files, before(folder))))
  }

  /** Trusts the files that a person has seen, by their mark. If a file changed since, nothing is trusted. */
  async trust(root: string, mark: string, cwd = root): Promise<FolderTrust> {
    const folders = await foldersOf(root, cwd, this.#own)
    const at = this.#clock.now()
    const seen = folders.filter(({ files }) => files.length > 0).map(({ folder, files }) => [folder, { at, files }])
    if (markOf(folders.flatMap(({ files }) => files)) === mark)
      await this.#doc.update((all) => ({ ...all, ...Object.fromEntries(seen) }))
    return this.of(root, cwd)
  }

  async forget(root: string): Promise<void> {
    const real = await realpath(root).catch(() => root)
    await this.#doc.update((all) =>
      Object.fromEntries(Object.entries(all).filter(([folder]) => !isWithin(real, folder))),
    )
  }
}

type Folder = { folder: string; files: SteeringFile[] }

/** The project and every folder down to where an agent works; each is trusted by its own files. */
async function foldersOf(root: string, cwd: string, own?: string): Promise<Folder[]> {
  const [real, at] = await Promise.all([root, cwd].map((path) => realpath(path)))
  const way = isWithin(real!, at!) ? relative(real!, at!).split(sep).filter(Boolean) : []
  const below = ['', ...way.map((_, i) => way.slice(0, i + 1).join('/'))]
  return Promise.all(
    below.map(async (path) => ({ folder: join(real!, path), files: await steeringFiles(real!, path, own) })),
  )
}

/** The question for the person; `shown` describes the files. */
export function trustQuestion(root: string, { state, files }: FolderTrust, shown: readonly string[] = files): Question {
  const what = state === 'changed' ? 'have changed since you trusted them' : 'can run programs and steer agents'
  return {
    about: 'trust',
    text: `Files in ${root} ${what}. They are used only if you trust them.`,
    from: [],
    shows: [{ type: 'text', text: shown.join('\n') }],
    options: [
      {
        id: 'trust',
        label: 'Trust them as they are now',
        grants: `${files.length} ${files.length === 1 ? 'file' : 'files'} until one of them changes`,
      },
      { id: 'no', label: 'Do not use them' },
    ],
  }
}

type Standing = Omit<FolderTrust, 'mark'> & { all: readonly SteeringFile[] }

function standing(all: readonly SteeringFile[], before: readonly SteeringFile[] | undefined): Standing {
  const paths = all.map(({ path }) => path)
  if (all.length === 0) return { state: 'trusted', files: [], all }
  if (!before) return { state: 'unknown', files: paths, all }
  const changed = difference(before, all)
  return changed.length === 0 ? { state: 'trusted', files: paths, all } : { state: 'changed', files: changed, all }
}

/** If one folder is not trusted, none of them is used, and the person is asked about that one's files. */
function joinFolders(folders: readonly Standing[]): FolderTrust {
  const mark = markOf(folders.flatMap(({ all }) => all))
  const open = folders.filter(({ state }) => state !== 'trusted')
  const state = open.find((one) => one.state === 'changed')?.state ?? open[0]?.state ?? 'trusted'
  return { state, files: (open.length > 0 ? open : folders).flatMap(({ files }) => files), mark }
}

/** The paths that were added, changed or removed. */
function difference(before: readonly SteeringFile[], now: readonly SteeringFile[]): string[] {
  const known = new Map(before.map(({ path, hash }) => [path, hash]))
  const changed = now.filter(({ path, hash }) => known.get(path) !== hash).map(({ path }) => path)
  const there = new Set(now.map(({ path }) => path))
  return [...changed, ...before.filter(({ path }) => !there.has(path)).map(({ path }) => path)].sort()
}

function asKept(found: unknown): TrustRecords | undefined {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined
  return Object.values(found).every((one) => Array.isArray((one as { files?: unknown } | null)?.files))
    ? (found as TrustRecords)
    : undefined
}
