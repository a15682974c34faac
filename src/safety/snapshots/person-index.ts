import type { Limits } from './retention.ts'
import type { RawPath, Repository } from './snapshot-repository.ts'
import { readdir, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gitFolders, readsOtherObjects } from '../../base/files/git.ts'
import { projectGit } from '../../base/git/project-git.ts'
import { checked, endLoan, loanOf, onDisk, splitPaths } from './snapshot-repository.ts'
import { inQuarantine, writePack } from './object-quarantine.ts'

const entriesOf = promisify(readdir)

/** The most files that are copied from the person's index. */
const mostFiles = 1_000_000

/** Whether copying a project takes so long that it should begin before a turn needs it. */
export async function isLarge(root: string, { large }: Limits): Promise<boolean> {
  const folders = gitFolders(root)
  if (folders) return (statSync(join(folders.own, 'index'), { throwIfNoEntry: false })?.size ?? 0) >= large.index
  let seen = 0
  const open = [root]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = await entriesOf(folder, { withFileTypes: true }).catch(() => [])
    seen += entries.length
    if (seen > large.files) return true
    for (const entry of entries) if (entry.isDirectory()) open.push(join(folder, entry.name))
  }
  return false
}

/** A file in an index: `stat` are the bytes that git compares with the file on the disk. */
type IndexEntry = { path: RawPath; id: string; size: number; stat: Buffer }

/**
 * Begins the index of a first take with a copy of the person's own index, so that git only reads the files that differ from it. The
 * contents of the other files are borrowed from the person's repository; `repayLoan` copies them later. Returns the folder from which
 * they are borrowed; undefined if there is nothing to borrow. The person's index is only read.
 */
export async function borrowPersonIndex(
  repository: Repository,
  to: string,
  limits: Limits,
): Promise<string | undefined> {
  const folders = gitFolders(repository.root)
  if (!folders) return undefined
  const file = join(folders.own, 'index')
  const objects = resolve(folders.common, 'objects')
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || found.size < limits.large.index || !isLendable(folders.common, objects)) return undefined
  const entries = indexEntries(readFileSync(file))
  if (!entries || entries.length > mostFiles) return undefined
  const [sizes, converted] = await Promise.all([
    contentSizes(repository, objects, entries),
    convertedPaths(repository, folders.common, entries),
  ])
  if (!sizes || !converted) return undefined
  // If a file's content has a different size in the repository, it was converted on its way there, or it is missing.
  const same = entries.filter(({ path, id, size }) => sizes.get(id) === size && !converted.has(path))
  writeFileSync(to, indexOf(same), { mode: 0o600 })
  // Git compares a file's content only if the file is not older than the index: the copy must not seem newer.
  const seconds = Math.floor(found.mtimeMs / 1000)
  utimesSync(to, seconds, seconds)
  return objects
}

/** Whether all objects of a repository are in its own folder and have names like ours. */
function isLendable(common: string, objects: string): boolean {
  return !readsOtherObjects(objects) && !/objectformat/i.test(readFileSync(join(common, 'config'), 'utf8'))
}

/** The size of each content in the person's repository. */
async function contentSizes(
  repository: Repository,
  objects: string,
  entries: readonly IndexEntry[],
): Promise<Map<string, number> | undefined> {
  const input = [...new Set(entries.map(({ id }) => id))].join('\n')
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)', '--buffer']
  const ran = await repository.git(args, { input, objects })
  if (ran.code !== 0) return undefined
  const lines = ran.out.toString('latin1').split('\n')
  return new Map(
    lines.flatMap((line) => {
      const [id = '', kind, size] = line.split(' ')
      return kind === 'blob' ? [[id, Number(size)] as const] : []
    }),
  )
}

const converting = ['filter', 'ident', 'working-tree-encoding']
const mentions = /filter|ident|working-tree-encoding/

/** The paths whose content git converts between the disk and the repository, by the person's attributes. */
async function convertedPaths(
  repository: Repository,
  common: string,
  entries: readonly IndexEntry[],
): Promise<Set<RawPath> | undefined> {
  const { env, root } = repository
  const asked = ['config', '--global', '--type=path', '--get', 'core.attributesFile']
  const file = (await repository.git(asked)).out.toString().trim()
  const config = env.XDG_CONFIG_HOME || join(env.HOME ?? '', '.config')
  const usual = file === '' ? join(config, 'git/attributes') : resolve(root, file)
  const own = entries.filter(({ path }) => /(?:^|\/)\.gitattributes$/.test(path)).map(({ path }) => onDisk(root, path))
  const files = [...own, join(root, '.gitattributes'), join(common, 'info', 'attributes'), usual, '/etc/gitattributes']
  // Hardly any project converts files, and asking git about every path takes long.
  if (!files.some((one) => mentions.test(textOf(one)))) return new Set()
  // The view of the repository through which git is asked does not include a file that only the person's settings name.
  if (file !== '' && mentions.test(textOf(usual))) return undefined
  const input = Buffer.from(entries.map(({ path }) => `${path}\0`).join(''), 'latin1')
  const ran = await projectGit(env).ran(root, ['check-attr', '-z', '--stdin', ...converting], { input })
  if (ran.code !== 0) return undefined
  const fields = splitPaths(ran.out)
  const paths = new Set<RawPath>()
  for (let i = 0; i + 2 < fields.length; i += 3)
    if (fields[i + 2] !== 'unspecified' && fields[i + 2] !== 'unset') paths.add(fields[i]!)
  return paths
}

function textOf(path: string | Buffer): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const headerLength = 12
const statLength = 40
const idLength = 20

/** The files in a git index of versions 2 to 4; undefined for an index that is split in two. */
function indexEntries(bytes: Buffer): IndexEntry[] | undefined {
  const version = bytes.readUInt32BE(4)
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return undefined
  const count = bytes.readUInt32BE(8)
  const entries: IndexEntry[] = []
  let at = headerLength
  let last = ''
  for (let i = 0; i < count; i++) {
    const start = at
    const stat = bytes.subarray(start, start + statLength)
    const id = bytes.toString('hex', start + statLength, start + statLength + idLength)
    at = start + statLength + idLength
    const flags = bytes.readUInt16BE(at)
    at += 2
    const more = version >= 3 && flags & extendedFlag ? bytes.readUInt16BE(at) : 0
    if (version >= 3 && flags & extendedFlag) at += 2
    let kept = ''
    if (version === 4) {
      const strip = prefixCut(bytes, at)
      kept = last.slice(0, last.length - strip.value)
      at = strip.next
    }
    const end = bytes.indexOf(0, at)
    const path = kept + bytes.toString('latin1', at, end)
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7)
    last = path
    const plain = (flags & (assumedFlag | stageFlags)) === 0 && more === 0
    if (plain && fileModes.has(stat.readUInt32BE(24))) entries.push({ path, id, size: stat.readUInt32BE(36), stat })
  }
  return bytes.subarray(at).indexOf('link') === 0 ? undefined : entries
}

const assumedFlag = 0x8000
const extendedFlag = 0x4000
const stageFlags = 0x3000
const fileModes = new Set([0o100644, 0o100755, 0o120000])

/** Reads how many bytes of the previous path are dropped: seven bits per byte, plus one for each continued byte. */
function prefixCut(bytes: Buffer, from: number): { value: number; next: number } {
  let next = from
  let value = bytes[next]! & 0x7f
  while (bytes[next]! & 0x80) value = ((value + 1) << 7) | (bytes[++next]! & 0x7f)
  return { value, next: next + 1 }
}

/** A git index in version 2 without extensions. */
function indexOf(entries: readonly IndexEntry[]): Buffer {
  const header = Buffer.alloc(headerLength)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const parts = [header]
  for (const { path, id, stat } of entries) {
    const length = statLength + idLength + 2 + path.length
    const entry = Buffer.alloc((length + 8) & ~7)
    stat.copy(entry)
    entry.write(id, statLength, 'hex')
    entry.writeUInt16BE(Math.min(path.length, 0xfff), statLength + idLength)
    entry.write(path, statLength + idLength + 2, 'latin1')
    parts.push(entry)
  }
  const body = Buffer.concat(parts)
  return Buffer.concat([body, process.getBuiltinModule('node:crypto').createHash('sha1').update(body).digest()])
}

/** Copies the borrowed contents into the store; afterwards an undo does not need the person's repository. */
export async function repayLoan(repository: Repository, signal: AbortSignal): Promise<void> {
  const loan = loanOf(repository.dir)
  if (!loan) return
  const { out } = checked(await repository.git(['ls-tree', '-r', '-z', loan.tree], { signal }))
  const ids = splitPaths(out).flatMap((line) => /^(?:100|120)\d+ blob ([0-9a-f]{40})\t/.exec(line)?.[1] ?? [])
  await inQuarantine(repository, ({ objects }) => writePack(repository, objects, ids, signal))
  endLoan(repository.dir)
}
