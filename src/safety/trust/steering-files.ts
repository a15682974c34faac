import type { Stats } from 'node:fs'
import { lstat, readFile, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../base/hash.ts'
import { isWithin } from '../../base/real-path.ts'
import { definitionFolders } from '../../core/work/definition-folders.ts'
import { namedScripts } from './named-scripts.ts'
import { gitFolders } from '../../base/git.ts'

/** Files and whole folders of a project that can run code or steer an agent, and what is in them. */
export const steering: Readonly<Record<string, string>> = {
  '.mcp.json': 'MCP servers',
  'termaite.mcp.yaml': 'MCP servers',
  'terminus.mcp.yaml': 'MCP servers',
  '.termaite/settings.json': 'settings of the project, which can only tighten the limits on agents',
  '.termaite/skills': 'skills',
  '.termaite/hooks': 'programs that hooks run',
  '.agents': 'files that several agents share',
  '.agent/workflows': 'instructions of supervised agents',
  '.claude/settings.json': 'hooks, as Claude Code reads them',
  '.claude/settings.local.json': 'hooks, as Claude Code reads them',
  '.claude/hooks': 'programs that hooks run',
  ...folders(definitionFolders.commands, 'slash commands'),
  ...folders(definitionFolders.agents, 'subagents'),
  ...folders(definitionFolders.skills, 'skills'),
}

function folders(paths: readonly string[], holds: string): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, holds]))
}

/** Beyond these limits a file is identified by its size and time only. */
const mostFiles = 5_000
const mostBytes = 16 * 1024 * 1024

/** A file that can run code or steer an agent, with the hash of its content. */
export type SteeringFile = { path: string; hash: string }

/** All steering files of a folder of the project, sorted by their path in it; in a folder below the project only its skills count. */
export async function steeringFiles(root: string, below = '', own?: string): Promise<SteeringFile[]> {
  const search = new SteeringSearch(root, own && (await realpath(own).catch(() => own)))
  const places = below === '' ? Object.keys(steering) : definitionFolders.skills.map((path) => `${below}/${path}`)
  for (const path of places) await search.gather(path)
  if (below === '')
    for (const { path, part } of await namedScripts(root, search.has))
      if (part === undefined) await search.gather(path, true)
      else search.addPart(path, part)
  return search.found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** One hash over all files, so that a person trusts exactly what they saw. */
export function markOf(files: readonly SteeringFile[]): string {
  return sha256().update(JSON.stringify(files)).digest('hex')
}

class SteeringSearch {
  found: SteeringFile[] = []
  #root: string
  #entered = new Set<string>()

  #own: string | undefined

  constructor(root: string, own: string | undefined) {
    this.#root = root
    this.#own = own
  }

  has = (path: string) => this.found.some((one) => one.path === path)

  /** Adds a file, or all files of a folder unless `alone` is set. */
  async gather(path: string, alone = false): Promise<void> {
    const full = join(this.#root, path)
    const there = await lstat(full).catch(() => undefined)
    if (!there || (alone && (there.isDirectory() || this.has(path)))) return
    const real = await realpath(full).catch(() => undefined)
    // Nobody opens a file outside the project, so only the target of the link counts.
    if (real === undefined || !isWithin(this.#root, real))
      return this.#add(path, `out ${await readlink(full).catch(() => '')}`)
    if (this.#own !== undefined && isWithin(this.#own, real) && !isWithin(worktreesIn(this.#own), real)) return
    if (there.isSymbolicLink()) return this.#take(path, real, await stat(real))
    await this.#take(path, real, there)
  }

  async #take(path: string, real: string, there: Stats): Promise<void> {
    if (there.isFile()) return this.#add(path, await fileHash(real, there, this.found.length < mostFiles))
    // A link may lead to a folder that contains it.
    if (!there.isDirectory() || this.#entered.has(real)) return
    this.#entered.add(real)
    const names = await readdir(real).catch(() => [])
    for (const name of names.sort()) await this.gather(`${path}/${name}`)
  }

  /** Adds a part of a file, such as one script of a package. */
  addPart(path: string, text: string): void {
    if (!this.has(path)) this.#add(path, sha256().update(text).digest('hex'))
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

/** The worktrees in termaite's home: their files came with a project and are not the person's own. */
export const worktreesIn = (own: string) => join(own, 'worktrees')

/** The project that one of our worktrees was made from; undefined for any other folder. */
export async function projectOf(root: string, own: string): Promise<string | undefined> {
  const [at, home] = await Promise.all([root, own].map((path) => realpath(path).catch(() => path)))
  if (!isWithin(worktreesIn(home!), at!)) return undefined
  const git = gitFolders(at!)
  return git && git.common !== git.own ? realpath(dirname(git.common)).catch(() => undefined) : undefined
}
