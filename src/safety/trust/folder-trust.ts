import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../core/talk/store.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Steering } from './steering-files.ts'
import { realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { realClock } from '../../base/clock.ts'
import { markOf, projectOf, steeringFiles } from './steering-files.ts'
import { isWithin } from '../../base/real-path.ts'

/** `files`: what would be used once it is trusted; with `changed`, only what is not as it was. `mark`: all of it as it is now. */
export type Trust = { state: 'trusted' | 'unknown' | 'changed'; files: string[]; mark: string }

type Kept = Record<string, { at: number; files: Steering[] }>

/** Which folders a person trusts, pinned by the content of what can run code or steer. */
export class TrustBook {
  #doc
  #clock: Clock
  #own: string | undefined

  /** `own`: our home, which may lie in the folder: what is there is the person's own. */
  constructor(store: Store, { clock = realClock, own }: { clock?: Clock; own?: string } = {}) {
    this.#doc = store.doc<Kept>('trust', {}, asKept)
    this.#clock = clock
    this.#own = own
  }

  /** A folder with nothing in it that needs trust has it; what lies on the way to `cwd` counts as well. */
  async of(root: string, cwd = root): Promise<Trust> {
    const [folders, kept] = await Promise.all([foldersOf(root, cwd, this.#own), this.#doc.read()])
    const project = this.#own === undefined ? undefined : await projectOf(root, this.#own)
    const before = ({ folder, files }: Folder) => {
      const there = project === undefined ? undefined : kept[join(project, relative(folders[0]!.folder, folder))]?.files
      // A worktree has of its project what Git has of it: what is the same was trusted there.
      return kept[folder]?.files ?? there?.filter(({ path }) => files.some((file) => file.path === path))
    }
    return joined(folders.map((folder) => standing(folder.files, before(folder))))
  }

  /** Trusts what a person saw, by its mark; what changed since they saw it is not trusted with it. */
  async trust(root: string, mark: string, cwd = root): Promise<Trust> {
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

type Folder = { folder: string; files: Steering[] }

/** The project, and every folder between it and where an agent works: each is trusted by what it holds itself. */
async function foldersOf(root: string, cwd: string, own?: string): Promise<Folder[]> {
  const [real, at] = await Promise.all([root, cwd].map((path) => realpath(path)))
  const way = isWithin(real!, at!) ? relative(real!, at!).split(sep).filter(Boolean) : []
  const below = ['', ...way.map((_, i) => way.slice(0, i + 1).join('/'))]
  return Promise.all(
    below.map(async (path) => ({ folder: join(real!, path), files: await steeringFiles(real!, path, own) })),
  )
}

/** The card that asks for it; `shown` tells of the files what there is to tell. */
export function trustQuestion(root: string, { state, files }: Trust, shown: readonly string[] = files): Question {
  const what = state === 'changed' ? 'has changed since you trusted it' : 'can run programs and steer agents'
  return {
    about: 'trust',
    text: `What comes with ${root} ${what}. It is used only if you trust it.`,
    from: [],
    shows: [{ type: 'text', text: shown.join('\n') }],
    options: [
      {
        id: 'trust',
        label: 'Trust it as it is now',
        grants: `${files.length} ${files.length === 1 ? 'file' : 'files'} until one of them changes`,
      },
      { id: 'no', label: 'Leave it unused' },
    ],
  }
}

type Standing = Omit<Trust, 'mark'> & { all: readonly Steering[] }

function standing(all: readonly Steering[], before: readonly Steering[] | undefined): Standing {
  const paths = all.map(({ path }) => path)
  if (all.length === 0) return { state: 'trusted', files: [], all }
  if (!before) return { state: 'unknown', files: paths, all }
  const changed = difference(before, all)
  return changed.length === 0 ? { state: 'trusted', files: paths, all } : { state: 'changed', files: changed, all }
}

/** Whatever is not trusted in one folder keeps all of them unused, and is what is asked about. */
function joined(folders: readonly Standing[]): Trust {
  const mark = markOf(folders.flatMap(({ all }) => all))
  const open = folders.filter(({ state }) => state !== 'trusted')
  const state = open.find((one) => one.state === 'changed')?.state ?? open[0]?.state ?? 'trusted'
  return { state, files: (open.length > 0 ? open : folders).flatMap(({ files }) => files), mark }
}

/** What was added, changed or taken away. */
function difference(before: readonly Steering[], now: readonly Steering[]): string[] {
  const known = new Map(before.map(({ path, hash }) => [path, hash]))
  const changed = now.filter(({ path, hash }) => known.get(path) !== hash).map(({ path }) => path)
  const there = new Set(now.map(({ path }) => path))
  return [...changed, ...before.filter(({ path }) => !there.has(path)).map(({ path }) => path)].sort()
}

function asKept(found: unknown): Kept | undefined {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined
  return Object.values(found).every((one) => Array.isArray((one as { files?: unknown } | null)?.files))
    ? (found as Kept)
    : undefined
}
