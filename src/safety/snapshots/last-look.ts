import type { Stats } from 'node:fs'
import type { Git } from './file-adder.ts'
import type { RawPath, Repository } from './snapshot-repository.ts'
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { checked, ensureFile, fileMark, onDisk, splitPaths, stampedAt } from './snapshot-repository.ts'

/** A project with more files and folders than this is left to git, which is faster then. */
const mostSeen = 1_000
/** The size of git's index for that many files. */
const mostIndexed = 150 * mostSeen
/**
 * A file system may record times in steps of two seconds: a file that changed more recently can change again without a visible
 * difference.
 */
const settledMs = 2_500

/**
 * How a small project looked when git found no change in it: every folder and file that is not ignored, and the files outside of it that
 * decide what is ignored. As long as all of them look the same, git need not be started.
 */
type LastLook = { index: string; outside: [path: string, mark: string][]; seen: [path: RawPath, mark: string][] }

const lookFile = (dir: string) => join(dir, 'look')

/** Whether a project looks as it did when git last found it unchanged, with the index that has this mark. */
export function looksTheSame({ dir, root }: Repository, index: string): boolean {
  const look = readLook(dir)
  try {
    return (
      look?.index === index &&
      look.seen.length > 0 &&
      look.outside.every(([path, mark]) => fileMark(path) === mark) &&
      look.seen.every(([path, mark]) => seenAt(onDisk(root, path)).mark === mark)
    )
  } catch {
    // A folder is no longer readable, or the record is damaged: then git finds out what changed.
    return false
  }
}

/** Whether looking at the project can save time. A project that is too large, or whose excludes are not plain, is left to git. */
export function canLook({ dir }: Repository, index: string): boolean {
  const size = statSync(join(dir, 'index'), { throwIfNoEntry: false })?.size ?? 0
  const look = readLook(dir)
  return size < mostIndexed && !(look?.index === index && look.seen.length === 0)
}

/**
 * Records how the project looks, if git finds no change afterwards. A change between the two is found by git, and a later one by the next
 * comparison.
 */
export async function keepLook(repository: Repository, git: Git, { index, now }: { index: string; now: number }) {
  const { dir, root } = repository
  // A project whose files git has just copied, or whose folder has just changed, is not settled, so git is not run.
  const copied = stampedAt(join(dir, 'index')) ?? now
  if (copied > now - settledMs || !isSettled(statSync(root), now)) return
  const outside = await filesOutside(repository, git)
  const ignored = checked(await git(['ls-files', '-z', '-o', '-i', '--directory', '--exclude-standard']))
  const seen = outside && entriesIn(root, new Set(splitPaths(ignored.out)), now)
  // Files that changed just now may be settled at the next turn.
  if (seen === 'unsettled') return
  const changed = checked(await git(['ls-files', '-z', '-o', '-m', '--exclude-standard']))
  if (changed.out.length > 0 || fileMark(join(dir, 'index')) !== index) return
  const look: LastLook = outside && seen ? { index, outside, seen } : { index, outside: [], seen: [] }
  ensureFile(lookFile(dir), JSON.stringify(look))
}

function readLook(dir: string): LastLook | undefined {
  try {
    return JSON.parse(readFileSync(lookFile(dir), 'utf8')) as LastLook
  } catch {
    return undefined
  }
}

/** The files outside the project that decide what git ignores; undefined if that is not certain. */
async function filesOutside({ dir, env }: Repository, git: Git): Promise<LastLook['outside'] | undefined> {
  const { out } = checked(await git(['config', '--list', '--show-origin', '-z']))
  const rows = out.toString('utf8').split('\0').slice(0, -1)
  const [origins, settings] = [0, 1].map((part) => rows.filter((_, at) => at % 2 === part)) as [string[], string[]]
  // The files of an include may depend on the folder, and a file for excludes can be written in many ways.
  if (settings.some((setting) => /^(?:include(?:if)?\.|core\.excludesfile\n)/i.test(setting))) return undefined
  const home = env.HOME ?? homedir()
  const places = env.XDG_CONFIG_HOME || join(home, '.config')
  const paths = [
    ...origins.flatMap((origin) => (origin.startsWith('file:') ? [origin.slice('file:'.length)] : [])),
    ...[join(home, '.gitconfig'), join(places, 'git/config'), join(places, 'git/ignore')],
    ...[join(dir, 'info', 'exclude'), join(dir, 'config')],
  ]
  if (paths.some((path) => !path.startsWith('/'))) return undefined
  return [...new Set(paths)].map((path) => [path, fileMark(path)])
}

/** Every folder and file of a project that is not ignored; undefined if there are too many, or if one cannot be read. */
function entriesIn(
  root: string,
  ignored: ReadonlySet<RawPath>,
  now: number,
): LastLook['seen'] | 'unsettled' | undefined {
  const seen: LastLook['seen'] = []
  const folders: RawPath[] = ['']
  let areSettled = true
  const see = (path: RawPath): Stats | undefined => {
    const { stats, mark } = seenAt(onDisk(root, path))
    if (!stats || !isSettled(stats, now)) areSettled = false
    seen.push([path, mark])
    return stats
  }
  try {
    see('')
    for (const folder of folders)
      for (const name of namesIn(onDisk(root, folder))) {
        const path = `${folder}${name}`
        if (name === '.git' || ignored.has(path) || ignored.has(`${path}/`)) continue
        if (see(path)?.isDirectory()) folders.push(`${path}/`)
        if (seen.length > mostSeen) return undefined
      }
  } catch {
    return undefined
  }
  return areSettled ? seen : 'unsettled'
}

/** Whether a file or folder changed so long ago that its next change will have a different time. */
const isSettled = ({ mtimeMs, ctimeMs }: Stats, now: number) => Math.max(mtimeMs, ctimeMs) <= now - settledMs

function seenAt(place: Buffer): { stats: Stats | undefined; mark: string } {
  const stats = lstatSync(place, { throwIfNoEntry: false })
  return { stats, mark: markOf(stats, place) }
}

/** A mark that changes whenever a file does, or the names in a folder do. */
function markOf(stats: Stats | undefined, place: Buffer): string {
  if (!stats) return ''
  const { mode, ino, size, mtimeMs, ctimeMs } = stats
  const mark = `${mode} ${ino} ${mtimeMs} ${ctimeMs}`
  // In some file systems, for example those that a container shares with its host, the time of a folder does not reveal a new file.
  return stats.isDirectory() ? `${mark} ${namesIn(place).join('/')}` : `${mark} ${size}`
}

const namesIn = (place: Buffer): RawPath[] => readdirSync(place, 'latin1').sort()
