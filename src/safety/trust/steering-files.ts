import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { constants } from 'node:fs'
import { lstat, open, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { sha256 } from '../../base/hash.ts'
import { sizeWords } from '../../base/text/size-words.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { definitionFolders } from '../../core/profile/definition-folders.ts'
import { namedScripts } from './named-scripts.ts'
import { gitFolders } from '../../base/files/git.ts'
import { cliSettings } from '../settings-names.ts'

/** Files and whole folders of a project that can run code or steer an agent, and their content. */
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
  ...cliSettings,
  ...folders(definitionFolders.commands, 'slash commands'),
  ...folders(definitionFolders.agents, 'subagents'),
  ...folders(definitionFolders.skills, 'skills'),
}

/** Files that Claude Code and others read in the folder in which they are started. */
const claudeFiles = ['.mcp.json', '.claude/settings.json', '.claude/settings.local.json', '.claude/commands']

function folders(paths: readonly string[], holds: string): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, holds]))
}

/** The most content that a person can be asked to trust, because all of it is read whenever the trust is checked. */
type SteeringLimits = { files: number; folders: number; bytes: number }

const steeringLimits: SteeringLimits = { files: 5_000, folders: 20_000, bytes: 256_000_000 }

/**
 * A file that can run code or steer an agent, with the hash of its content. `rest` is the hash without the answers that a CLI stores in
 * it, and empty if the file contains nothing else; other files have no such hash.
 */
export type SteeringFile = { path: string; hash: string; rest?: string }

/** Steering files; `excess` says why some were not read, so that the folder cannot be trusted. */
export type SteeringFiles = { files: SteeringFile[]; excess?: string }

/**
 * All steering files of a folder of the project, sorted by their path in it; in a folder below the project, only its skills and the files
 * that CLIs read there count.
 */
export async function steeringFiles(
  root: string,
  below = '',
  own?: string,
  limits = steeringLimits,
): Promise<SteeringFiles> {
  const search = new SteeringSearch(root, own && (await realpath(own).catch(() => own)), limits)
  const nested = [...definitionFolders.skills, ...definitionFolders.agents, ...Object.keys(cliSettings), ...claudeFiles]
  const places = below === '' ? Object.keys(steering) : nested.map((path) => `${below}/${path}`)
  for (const path of places) await search.gather(path)
  const settings = search.found.map(({ path }) => path)
  for (const { path, part } of await namedScripts(root, settings, below))
    if (part === undefined) await search.gather(path, true)
    else search.addPart(path, part)
  return defined({ files: search.found.sort((a, b) => (a.path < b.path ? -1 : 1)), excess: search.excess })
}

const outward = 'out '

/** Whether a file is a link that leads out of the project or nowhere: only its target is recorded, not a content. */
export const leadsOut = ({ hash }: SteeringFile) => hash.startsWith(outward)

/** One hash for all files, so that a person trusts exactly the content that they saw. */
export function markOf(files: readonly SteeringFile[]): string {
  return sha256().update(JSON.stringify(files)).digest('hex')
}

class SteeringSearch {
  found: SteeringFile[] = []
  excess: string | undefined
  #root: string
  #entered = new Set<string>()
  #own: string | undefined
  #limits: SteeringLimits
  #bytes = 0

  constructor(root: string, own: string | undefined, limits: SteeringLimits) {
    this.#root = root
    this.#own = own
    this.#limits = limits
  }

  has = (path: string) => this.found.some((one) => one.path === path)

  /** Adds a file, or all files of a folder unless `alone` is set. */
  async gather(path: string, alone = false): Promise<void> {
    if (this.excess !== undefined) return
    const full = join(this.#root, path)
    const there = await lstat(full).catch(() => undefined)
    if (!there || (alone && (there.isDirectory() || this.has(path)))) return
    const real = await realpath(full).catch(() => undefined)
    // Termaite's own home may be in the project. But a link that leads there came with the project, and commands write to parts of that
    // home.
    const isOwn = this.#own !== undefined && isWithin(this.#own, full) && !isWithin(worktreesIn(this.#own), full)
    if (real === full && isOwn) return
    // Termaite opens no file outside the project, so only the target of the link counts.
    if (real === undefined || !isWithin(this.#root, real))
      return this.#add(path, `${outward}${await readlink(full).catch(() => '')}`)
    if (there.isSymbolicLink()) return this.#take(path, real, await stat(real))
    await this.#take(path, real, there)
  }

  async #take(path: string, real: string, there: Stats): Promise<void> {
    if (there.isFile()) return this.#addFile(path, real)
    // A link may lead to a folder that contains the link.
    if (!there.isDirectory() || this.#entered.has(real)) return
    this.#entered.add(real)
    if (this.#entered.size > this.#limits.folders) this.excess = `they lie in more than ${this.#limits.folders} folders`
    const bytes = await readdir(real, { encoding: 'buffer' }).catch(() => [])
    const names = bytes.map((name) => name.toString())
    // A file with such a name could not be opened here, but a CLI that stores names as bytes could use it.
    if (names.some((name, at) => !Buffer.from(name).equals(bytes[at]!)))
      this.excess = `a name in ${path} is not valid UTF-8`
    for (const name of names.sort()) await this.gather(`${path}/${name}`)
  }

  /** Adds a part of a file, such as one script of a package. */
  addPart(path: string, text: string): void {
    if (!this.has(path)) this.#add(path, sha256().update(text).digest('hex'))
  }

  async #addFile(path: string, real: string): Promise<void> {
    const read = await hashFile(real, this.#limits.bytes - this.#bytes)
    if (!read) {
      this.excess = `with ${path} they are larger than ${sizeWords(this.#limits.bytes)}`
      return
    }
    this.#bytes += read.bytes
    const parts = answered.test(path) ? await answersIn(real) : undefined
    if (parts?.rest !== '' || parts.answers) this.#add(path, read.hash, parts?.rest)
  }

  #add(path: string, hash: string, rest?: string): void {
    if (this.found.length < this.#limits.files) this.found.push(defined({ path, hash, rest }))
    else this.excess = `there are more than ${this.#limits.files} of them`
  }
}

/**
 * The hash of a file's whole content, whatever its size and its times are: both can be the same for another content. Undefined for a file
 * of more than `most` bytes. For a file that cannot be read, or is no longer a plain file, the hash stands for that fact.
 */
async function hashFile(real: string, most: number): Promise<{ hash: string; bytes: number } | undefined> {
  const hash = sha256()
  let bytes = 0
  let file: FileHandle | undefined
  try {
    // The file is opened without waiting, because it may have become a pipe without a writer.
    file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const there = await file.stat()
    if (!there.isFile()) return { hash: sha256().update('unread').digest('hex'), bytes }
    if (there.size > most) return undefined
    const block = Buffer.allocUnsafe(Math.min(blockSize, there.size + 1))
    for (;;) {
      const { bytesRead } = await file.read(block, 0, block.length, bytes)
      if (bytesRead === 0) return { hash: hash.digest('hex'), bytes }
      bytes += bytesRead
      // Another program may write to the file meanwhile.
      if (bytes > most) return undefined
      hash.update(block.subarray(0, bytesRead))
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { hash: sha256().update(`unread ${code}`).digest('hex'), bytes }
  } finally {
    await file?.close()
  }
}

/** Files to which a CLI adds a person's "do not ask again" answers. */
const answered = /(?:^|\/)(?:\.claude\/settings\.local|\.qwen\/settings(?:\.local)?)\.json$/

/**
 * Whether a settings file contains rules of the kind that a person's answers add to it, and the hash of everything else in it, which is
 * empty if there is nothing else. Undefined for a file that cannot be parsed in this way.
 */
async function answersIn(real: string): Promise<{ answers: boolean; rest: string } | undefined> {
  try {
    const { permissions = {}, ...others } = JSON.parse(await readFile(real, 'utf8')) as { permissions?: object }
    const { allow = [], ...rules } = permissions as { allow?: unknown }
    const left = Object.keys(rules).length > 0 ? { ...others, permissions: rules } : others
    const rest = Object.keys(left).length === 0 ? '' : sha256().update(JSON.stringify(left)).digest('hex')
    return { answers: !(Array.isArray(allow) && allow.length === 0), rest }
  } catch {
    return undefined
  }
}

const blockSize = 1024 * 1024

/** The worktrees in termaite's home: their files came with a project and are not the person's own. */
const worktreesIn = (own: string) => join(own, 'worktrees')

/** The project from which one of our worktrees was made; undefined for any other folder. */
export async function projectOf(root: string, own: string): Promise<string | undefined> {
  const [at, home] = await Promise.all([root, own].map((path) => realpath(path).catch(() => path)))
  if (!isWithin(worktreesIn(home!), at!)) return undefined
  const git = gitFolders(at!)
  return git && git.common !== git.own ? realpath(dirname(git.common)).catch(() => undefined) : undefined
}
