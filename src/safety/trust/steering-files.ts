import type { Stats } from 'node:fs'
import { lstat, readFile, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { sha256 } from '../../base/hash.ts'
import { isWithin } from '../../base/real-path.ts'
import { gitFolders } from '../../base/git.ts'

/** Where skills come from in every folder between the project and where an agent works. */
const skills = ['.skills', '.agents/skills', '.claude/skills']

/** What comes with a project and can run code or steer an agent: files, and folders with all that is in them. */
const steering = [
  '.mcp.json',
  'termaite.mcp.yaml',
  'terminus.mcp.yaml',
  '.termaite/settings.json',
  '.termaite/commands',
  '.termaite/agents',
  '.termaite/skills',
  '.termaite/hooks',
  '.skills',
  '.agents',
  '.agent/workflows',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/skills',
  '.claude/commands',
  '.claude/agents',
  '.claude/hooks',
]

/** Beyond these a file is known by its size and time alone: it is no text that steers. */
const mostFiles = 5_000
const mostBytes = 16 * 1024 * 1024

/** One file and what it holds, by its hash. */
export type Steering = { path: string; hash: string }

/** Every file of a folder of the project that can run code or steer, by its path in the project, sorted by name. */
export async function steeringFiles(root: string, below = '', own?: string): Promise<Steering[]> {
  const search = new Search(root, own && (await realpath(own).catch(() => own)))
  const places = below === '' ? steering : skills.map((path) => `${below}/${path}`)
  for (const path of places) await search.gather(path)
  if (below === '') for (const path of await namedScripts(root, search.has)) await search.gather(path, true)
  return search.found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** All of them as one: what a person saw is what they trust. */
export function markOf(files: readonly Steering[]): string {
  return sha256().update(JSON.stringify(files)).digest('hex')
}

class Search {
  found: Steering[] = []
  #root: string
  #entered = new Set<string>()

  #own: string | undefined

  constructor(root: string, own: string | undefined) {
    this.#root = root
    this.#own = own
  }

  has = (path: string) => this.found.some((one) => one.path === path)

  /** `alone`: a folder of that name is not meant. */
  async gather(path: string, alone = false): Promise<void> {
    const full = join(this.#root, path)
    const there = await lstat(full).catch(() => undefined)
    if (!there || (alone && (there.isDirectory() || this.has(path)))) return
    const real = await realpath(full).catch(() => undefined)
    // What is out of the project is not opened, here or by whoever would use it: only where the link leads counts.
    if (real === undefined || !isWithin(this.#root, real))
      return this.#add(path, `out ${await readlink(full).catch(() => '')}`)
    if (this.#own !== undefined && isWithin(this.#own, real) && !isWithin(worktreesIn(this.#own), real)) return
    if (there.isSymbolicLink()) return this.#take(path, real, await stat(real))
    await this.#take(path, real, there)
  }

  async #take(path: string, real: string, there: Stats): Promise<void> {
    if (there.isFile()) return this.#add(path, await fileHash(real, there, this.found.length < mostFiles))
    // A link may lead to a folder that it lies in.
    if (!there.isDirectory() || this.#entered.has(real)) return
    this.#entered.add(real)
    const names = await readdir(real).catch(() => [])
    for (const name of names.sort()) await this.gather(`${path}/${name}`)
  }

  #add(path: string, hash: string): void {
    this.found.push({ path, hash })
  }
}

async function fileHash(real: string, { size, mtimeMs }: Stats, whole: boolean): Promise<string> {
  if (!whole || size > mostBytes) return `large:${size}:${mtimeMs}`
  const body = await readFile(real).catch((error: NodeJS.ErrnoException) => `unread ${error.code}`)
  return sha256().update(body).digest('hex')
}

/** Where a project says what is run by itself. */
const settings = ['.termaite/settings.json', '.claude/settings.json', '.claude/settings.local.json']

const longest = 1024 * 1024

/** The project's own files that the commands of its hooks and its crew name: what they hold is what would run. */
export async function namedScripts(root: string, isOurs: (path: string) => boolean): Promise<string[]> {
  const texts = await Promise.all(settings.filter(isOurs).map((file) => textAt(join(root, file))))
  const words = texts.flatMap(commandsIn).flatMap((command) => command.split(/[\s"'`;|&()<>=]+/))
  const paths = new Set(
    words
      .map((word) => word.replace(folder, ''))
      .filter(isPath)
      .map(normalize),
  )
  return [...paths].filter((path) => !path.startsWith('..'))
}

/** The project, as those who write hooks call it. */
const folder = /^(?:\$\{?(?:CLAUDE|TERMAITE)_PROJECT_DIR\}?\/|\.\/)/

const isPath = (word: string) => /[./]/.test(word) && !isAbsolute(word) && !word.includes('://')

/** Found without a parser, so that comments are no hindrance. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/"(?:command|setup)"\s*:\s*("(?:\\.|[^"\\])*")/g)].flatMap(([, written]) => {
    try {
      return [String(JSON.parse(written!))]
    } catch {
      return []
    }
  })
}

async function textAt(path: string): Promise<string> {
  const there = await lstat(path).catch(() => undefined)
  return there?.isFile() && there.size <= longest ? readFile(path, 'utf8').catch(() => '') : ''
}

/** Below our home, where agents work apart: what is there came with a project, and is not the person's own. */
export const worktreesIn = (own: string) => join(own, 'worktrees')

/** The project that a worktree of ours was made from; undefined for every other folder. */
export async function projectOf(root: string, own: string): Promise<string | undefined> {
  const [at, home] = await Promise.all([root, own].map((path) => realpath(path).catch(() => path)))
  if (!isWithin(worktreesIn(home!), at!)) return undefined
  const git = gitFolders(at!)
  return git && git.common !== git.own ? realpath(dirname(git.common)).catch(() => undefined) : undefined
}
