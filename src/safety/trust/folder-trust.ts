import type { Clock } from '../../base/time/clock.ts'
import type { Blobs, Ref, Store } from '../../core/talk/store.ts'
import type { Question, Shown } from '../../core/talk/question.ts'
import type { SteeringFile, SteeringFiles } from './steering-files.ts'
import { readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { defined } from '../../base/defined.ts'
import { readText } from '../../core/talk/store.ts'
import { realClock } from '../../base/time/clock.ts'
import { leadsOut, markOf, projectOf, steeringFiles } from './steering-files.ts'
import { mayBeTracked } from '../../base/files/git.ts'
import { isWithin, realOrSame } from '../../base/files/real-path.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/**
 * How far a folder is trusted. `files` would be used once trusted, or are those that `changed`; `changes` says how; `mark` is the hash of
 * all present files. A folder without steering files is trusted, but a person has not `agreed` to it: no program in it is started then.
 */
export type FolderTrust = {
  agreed: boolean
  state: 'trusted' | 'unknown' | 'changed'
  files: string[]
  changes: readonly FileChange[]
  mark: string
  /** Links among the files that lead out of the project, whose content is not part of the trust. */
  out: string[]
  /** Why the folder cannot be trusted at all: some of its files could not be read. */
  excess?: string
}

/** How a file differs from the trusted version; `before` is a copy of that version, if there is one. */
export type FileChange = { path: string; how: 'new' | 'changed' | 'removed'; before?: Ref }

/** A file in its trusted version. `copy` later shows what changed; long and binary files have no copy. */
type TrustedFile = SteeringFile & { copy?: Ref }

/**
 * `answers`: the person did not trust the folder, but only answered questions of a CLI there, which stores the answers in these files.
 */
type TrustRecords = Record<string, { at: number; files: TrustedFile[]; answers?: true }>

const longestCopy = 64 * 1024
const mostCopies = 200

/** The folders that a person trusts, each with the content of its files that can run code or steer agents. */
export class TrustBook {
  #doc
  #copies: Blobs
  #clock: Clock
  #own: string | undefined

  /** `own` is termaite's home, which may be in the folder: its files are the person's own. */
  constructor(store: Store, { clock = realClock, own }: { clock?: Clock; own?: string } = {}) {
    this.#doc = store.doc<TrustRecords>('trust', {}, asKept)
    this.#copies = store.blobs('trust')
    this.#clock = clock
    this.#own = own
  }

  /** The trust in a project and in the folders down to `cwd`. A folder without steering files is trusted. */
  async of(root: string, cwd = root): Promise<FolderTrust> {
    const [folders, kept] = await Promise.all([foldersOf(root, cwd, this.#own), this.#doc.read()])
    const project = this.#own === undefined ? undefined : await projectOf(root, this.#own)
    const before = ({ folder, files }: Folder): readonly TrustedFile[] | undefined => {
      const there = project === undefined ? undefined : kept[join(project, relative(folders[0]!.folder, folder))]?.files
      // A worktree's files come from its project: files with the same content were trusted there.
      return kept[folder]?.files ?? there?.filter(({ path }) => files.some((file) => file.path === path))
    }
    const places = [...folders.map(({ folder }) => folder), ...(project === undefined ? [] : [project])]
    const agreed = places.some((folder) => isAgreed(kept[folder]))
    return joinFolders(
      folders.map((folder) => standing(folder, before(folder), folders[0]!.folder, kept[folder.folder]?.answers)),
      agreed,
    )
  }

  /** Whether the person has agreed to a folder, whatever changed in its files since. */
  async knows(folder: string): Promise<boolean> {
    return isAgreed((await this.#doc.read())[realOrSame(folder)])
  }

  /** Trusts the files that a person has seen, identified by their mark. If a file changed since, nothing is trusted. */
  async trust(root: string, mark: string, cwd = root): Promise<FolderTrust> {
    const folders = await foldersOf(root, cwd, this.#own)
    const at = this.#clock.now()
    const isWhole = folders.every(({ excess }) => excess === undefined)
    if (isWhole && markOf(folders.flatMap(({ files }) => files)) === mark) {
      const real = folders[0]!.folder
      const seen: TrustRecords = {}
      // If nothing steers agents, the folder itself is recorded, so that a person can still agree to its programs.
      const isEmpty = folders.every(({ files }) => files.length === 0)
      for (const { folder, files } of folders)
        if (files.length > 0 || (isEmpty && folder === real))
          seen[folder] = { at, files: await this.#withCopies(real, files) }
      await this.#doc.update((all) => ({ ...all, ...seen }))
    }
    return this.of(root, cwd)
  }

  /**
   * Trusts the person's answers that a CLI has written into its own files, which `isNew` selects: they did not exist when the CLI
   * started. A folder with any other steering file stays as it is, and so does a file that git tracks, which came with the project.
   */
  async keepAnswers(root: string, cwd: string, isNew: (path: string) => boolean): Promise<void> {
    const folders = await foldersOf(root, cwd, this.#own)
    const kept = await this.#doc.read()
    const given = folders.filter(
      ({ folder, files, excess }) =>
        excess === undefined &&
        files.length > 0 &&
        kept[folder] === undefined &&
        files.every(({ path, rest }) => rest === '' && isNew(path) && !mayBeTracked(folders[0]!.folder, path)),
    )
    if (given.length === 0) return
    const at = this.#clock.now()
    const seen = Object.fromEntries(given.map(({ folder, files }) => [folder, { at, files, answers: true as const }]))
    await this.#doc.update((all) => ({ ...seen, ...all }))
  }

  /** The folders that were trusted, with the files of each. */
  async all(): Promise<{ folder: string; at: number; files: string[] }[]> {
    const kept = Object.entries(await this.#doc.read()).filter(([, one]) => isAgreed(one))
    return kept.map(([folder, { at, files }]) => ({ folder, at, files: files.map(({ path }) => path) }))
  }

  /** Shows the changes in the trusted files, but only for as many as a person would read. */
  async diffs(root: string, { changes }: Pick<FolderTrust, 'changes'>): Promise<Shown[]> {
    const shown: Shown[] = []
    for (const { path, how, before } of changes.slice(0, mostCopies)) {
      const after = how === 'removed' ? '' : await shortFileText(root, path)
      if (after === undefined || (before === undefined && how !== 'new')) continue
      const was = before && (await readText(this.#copies, before).catch(() => undefined))
      if (how === 'new' || was !== undefined) shown.push(defined({ type: 'diff', path, before: was, after }))
    }
    return shown
  }

  /** Removes the trust in a folder and in everything below it; returns the folders that were trusted. */
  async forget(root: string): Promise<string[]> {
    const real = await realpath(root).catch(() => root)
    let gone: string[] = []
    const left = await this.#doc.update((all) => {
      gone = Object.keys(all).filter((folder) => isWithin(real, folder))
      return Object.fromEntries(Object.entries(all).filter(([folder]) => !gone.includes(folder)))
    })
    if (gone.length > 0 && Object.keys(left).length === 0) await this.#copies.clear()
    return gone
  }

  async #withCopies(root: string, files: readonly SteeringFile[]): Promise<TrustedFile[]> {
    return Promise.all(
      files.map(async (file, at) => {
        const text = at < mostCopies ? await shortFileText(root, file.path) : undefined
        return defined({ ...file, copy: text === undefined ? undefined : await this.#copies.put(text, 'text/plain') })
      }),
    )
  }
}

/** The text of a short file of the project; undefined for any other, and for one to which a link leads out of the project. */
async function shortFileText(root: string, path: string): Promise<string | undefined> {
  try {
    const real = await realpath(join(root, path))
    const there = await stat(real)
    if (!isWithin(await realpath(root), real) || !there.isFile() || there.size > longestCopy) return undefined
    const text = await readFile(real, 'utf8')
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

const isAgreed = (kept: TrustRecords[string] | undefined) => kept !== undefined && !kept.answers

type Folder = SteeringFiles & { folder: string }

/** The project and every folder down to an agent's working folder; each is trusted separately, by its own files. */
async function foldersOf(root: string, cwd: string, own?: string): Promise<Folder[]> {
  const [real, at] = await Promise.all([root, cwd].map((path) => realpath(path)))
  const way = isWithin(real!, at!) ? relative(real!, at!).split(sep).filter(Boolean) : []
  const below = ['', ...way.map((_, i) => way.slice(0, i + 1).join('/'))]
  return Promise.all(
    below.map(async (path) => ({ folder: join(real!, path), ...(await steeringFiles(real!, path, own)) })),
  )
}

/** The question for the person; `shown` describes the files, and `diffs` their changes. */
export function trustQuestion(
  root: string,
  { state, files }: Omit<FolderTrust, 'agreed' | 'out'>,
  shown: readonly string[] = files,
  diffs: readonly Shown[] = [],
): Question {
  if (files.length === 0) return programQuestion(root)
  const what = state === 'changed' ? 'have changed since you trusted them' : 'can run programs and steer agents'
  return {
    about: 'trust',
    text: `Files in ${root} ${what}. They are used only if you trust them.`,
    from: [],
    shows: [{ type: 'text', text: shown.join('\n') }, ...diffs],
    options: consentOptions({
      always: {
        id: 'trust',
        label: 'Yes, trust them as they are now',
        grants: `${files.length} ${files.length === 1 ? 'file' : 'files'} until one of them changes`,
      },
      no: { id: 'no', label: 'No, do not use them' },
    }),
  }
}

/** The question about a folder without steering files; the answer affects projects below it, and programs in it. */
function programQuestion(root: string): Question {
  return {
    about: 'trust',
    text: `No settings in ${root} steer agents. If you trust the folder, its instruction files count for the projects below it too, and programs that lie in it, such as a language server in node_modules/.bin, may start in the sandbox.`,
    from: [],
    options: consentOptions({
      always: { id: 'trust', label: 'Yes, trust this folder', grants: 'instruction files and programs in the folder' },
      no: { id: 'no', label: 'No, start no program that lies in it' },
    }),
  }
}

type Standing = Omit<FolderTrust, 'mark' | 'agreed' | 'out'> & { all: readonly SteeringFile[] }

function standing(
  { files: all, excess }: SteeringFiles,
  before: readonly TrustedFile[] | undefined,
  root: string,
  answers?: true,
): Standing {
  const paths = all.map(({ path }) => path)
  if (excess !== undefined) return { state: 'unknown', files: paths, changes: [], all, excess }
  if (all.length === 0) return { state: 'trusted', files: [], changes: [], all }
  if (!before) return { state: 'unknown', files: paths, changes: [], all }
  const changes = difference(before, all, root)
  if (changes.length === 0) return { state: 'trusted', files: paths, changes, all }
  if (answers || before.length === 0) return { state: 'unknown', files: paths, changes: [], all }
  return { state: 'changed', files: changes.map(({ path }) => path), changes, all }
}

/** If one folder is not trusted, none is used, and the person is asked whether to trust the files of that folder. */
function joinFolders(folders: readonly Standing[], agreed: boolean): FolderTrust {
  const all = folders.flatMap((folder) => folder.all)
  const open = folders.filter(({ state }) => state !== 'trusted')
  const state = open.find((one) => one.state === 'changed')?.state ?? open[0]?.state ?? 'trusted'
  const shown = open.length > 0 ? open : folders
  const excess = open.find((one) => one.excess !== undefined)?.excess
  return defined({
    agreed: agreed && state === 'trusted',
    state,
    files: shown.flatMap(({ files }) => files),
    changes: shown.flatMap(({ changes }) => changes),
    mark: markOf(all),
    out: all.filter(leadsOut).map(({ path }) => path),
    excess,
  })
}

/** Says why a folder cannot be trusted, and what to do about it. */
export const excessWords = (root: string, excess: string) =>
  `${root} cannot be trusted, because not all of its files that can run programs and steer agents can be checked: ${excess}. Move what is not needed out of folders such as .claude, .agents and .skills.`

/**
 * The files that were added, changed or removed, sorted by path. Rules that a CLI adds to its own file after a person's answer do not
 * count as a change, unless git tracks the file: then they may have come with the project.
 */
function difference(before: readonly TrustedFile[], now: readonly SteeringFile[], root: string): FileChange[] {
  const known = new Map(before.map((file) => [file.path, file]))
  const isSame = ({ path, hash, rest }: SteeringFile) => {
    const was = known.get(path)
    if (was?.hash === hash) return true
    return rest !== undefined && rest === (was ? (was.rest ?? was.hash) : '') && !mayBeTracked(root, path)
  }
  const there = new Set(now.map(({ path }) => path))
  const changed = now
    .filter((file) => !isSame(file))
    .map(({ path }) => ({ path, how: known.has(path) ? 'changed' : 'new', before: known.get(path)?.copy }))
  const removed = before
    .filter(({ path, rest }) => !there.has(path) && rest !== '')
    .map(({ path, copy }) => ({ path, how: 'removed', before: copy }))
  return [...changed, ...removed]
    .map((change) => defined(change) as FileChange)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function asKept(found: unknown): TrustRecords | undefined {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined
  return Object.values(found).every((one) => Array.isArray((one as { files?: unknown } | null)?.files))
    ? (found as TrustRecords)
    : undefined
}
