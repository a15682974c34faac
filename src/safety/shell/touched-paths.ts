import type { ProjectBounds } from '../path-location.ts'
import type { Finding, Touch, Touched } from './shell-judgement.ts'
import type { Word } from './simple-command.ts'
import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { namesIn } from '../../base/files.ts'
import { locatePath, rootsOf } from '../path-location.ts'
import { isWithin } from '../../base/real-path.ts'
import { isSecretName } from '../secret-files.ts'
import { worse } from './shell-judgement.ts'

export type TouchWorld = ProjectBounds & { cwds: readonly string[] | undefined }

/** `look` shows no more than names, sizes and dates. */
export type Handling = Touch | 'look'

type TouchFinding = { finding: Finding; paths: Touched[] }

const nothing: Finding = { class: 'reads', why: '' }

/** Judges that a command touches the file that a word names, in every folder it may run in. */
export async function touching(word: Word, how: Handling, world: TouchWorld): Promise<TouchFinding> {
  if (!word.values)
    return { finding: { class: 'dynamic', why: `the value of ${word.text} is known only when it runs` }, paths: [] }
  let finding = nothing
  const paths: Touched[] = []
  for (const value of word.values) {
    // An empty name is not a file, and a lone dash is standard input.
    if (value === '' || value === '-') continue
    const folders = isAbsolute(value) ? ['/'] : world.cwds
    if (!folders)
      return { finding: { class: 'dynamic', why: `where ${word.text} lies is known only when it runs` }, paths }
    for (const folder of folders) {
      const one = word.glob
        ? await matching(value, folder, how, world)
        : await touched(within(folder, value), how, world)
      finding = worse(finding, one.finding)
      paths.push(...one.paths)
    }
  }
  return { finding, paths }
}

/** A path below a folder, as it is written: `..` behind a link leads elsewhere than its text shows. */
function within(folder: string, value: string): string {
  if (isAbsolute(value)) return value
  const below = value.replace(/^(?:\.\/+)+(?=.)/, '')
  return folder === '/' ? `/${below}` : `${folder}/${below}`
}

async function touched(path: string, how: Handling, bounds: ProjectBounds): Promise<TouchFinding> {
  const target = devices.test(path) ? path : targetOf(path)
  if (target === undefined)
    return {
      finding: { class: 'outside', why: `termaite does not know where ${path} leads` },
      paths: [{ path, real: path, how: touchOf(how) }],
    }
  const spot = await locatePath(target, bounds)
  const paths: Touched[] = [{ path, real: spot.real, how: touchOf(how) }]
  const finding = (kind: Finding['class'], why: string) => ({ finding: { class: kind, why }, paths })
  if (spot.device && how === 'run') return finding('dynamic', 'it runs the commands in its input')
  // Control sequences in the text could steer the terminal.
  if (spot.device && how === 'write' && path === '/dev/tty')
    return finding('outside', 'it writes to the terminal itself')
  if (spot.device) return { finding: nothing, paths: [] }
  const removes = how === 'remove'
  if (removes && rootsOf(bounds).some((folder) => isWithin(spot.real, folder)))
    return finding('destructive', `it removes ${path}, and the project with it`)
  if (removes && spot.vital) return finding('destructive', `it removes ${path}, which git or termaite needs`)
  if (removes && !spot.inside) return finding('destructive', `it removes ${path}, outside the project`)
  const readable = spot.readable && (how === 'read' || how === 'look')
  if (how === 'look' && readable) return finding('reads', `it looks at ${path}`)
  if (spot.secret || isSecretName(path)) return finding('secrets', `${path} may hold secrets`)
  if (!spot.inside && !readable) return finding('outside', `${path} is outside the project`)
  if (spot.guarded && (removes || how === 'write'))
    return finding('system', `a change of ${path} could make programs run`)
  const kinds = { read: 'reads', look: 'reads', write: 'edits', remove: 'removes', run: 'runs' } as const
  const words = { read: 'looks at', look: 'looks at', write: 'changes', remove: 'removes', run: 'runs' } as const
  return finding(kinds[how], `it ${words[how]} ${path}`)
}

const touchOf = (how: Handling): Touch => (how === 'look' ? 'read' : how)

const devices = /^\/dev\/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty)$/

const mostLinks = 40

/**
 * Where a path leads, component by component as the system itself goes: `link/..` is the folder above the link's target.
 * Undefined where it leads into /proc, whose links differ for every process, or where it can not be followed.
 */
export function targetOf(path: string): string | undefined {
  let left = path.split('/')
  let at = '/'
  let links = 0
  let missing = false
  try {
    while (left.length > 0) {
      const [name = '', ...rest] = left
      left = rest
      if (name === '' || name === '.') continue
      if (name === '..') {
        if (missing) return undefined
        at = dirname(at)
        continue
      }
      const next = at === '/' ? `/${name}` : `${at}/${name}`
      if (next === '/proc') return undefined
      const there = missing ? undefined : lstatSync(next, { throwIfNoEntry: false })
      if (!there) missing = true
      if (!there?.isSymbolicLink()) {
        if (there && !there.isDirectory() && left.some((one) => one !== '')) return undefined
        at = next
        continue
      }
      if (++links > mostLinks) return undefined
      const target = readlinkSync(next)
      if (isAbsolute(target)) at = '/'
      left = [...target.split('/'), ...left]
    }
    return at
  } catch {
    return undefined
  }
}

/** Judges everything that a pattern meets now. */
async function matching(value: string, folder: string, how: Handling, bounds: ProjectBounds): Promise<TouchFinding> {
  const names = matchesOf(value, folder)
  if (names === undefined) return { finding: { class: 'dynamic', why: `${value} matches too many files` }, paths: [] }
  const parts = value.split('/')
  const first = parts.findIndex((part) => /[*?[]/.test(part))
  const base = within(folder, parts.slice(0, first).join('/') || (isAbsolute(value) ? '/' : '.'))
  let { finding } = await touched(base, how === 'remove' ? 'look' : how, bounds)
  const paths: Touched[] = []
  for (const name of names.length === 0 ? [value] : names) {
    const one = await touched(within(folder, name), how, bounds)
    finding = worse(finding, one.finding)
    paths.push(...one.paths)
  }
  const all = first === parts.length - 1 && /^\.?\*+$/.test(parts[first]!)
  if (how === 'remove' && all && rootsOf(bounds).some((folder) => isWithin(targetOf(base) ?? '/', folder)))
    finding = { class: 'destructive', why: `it removes everything in ${base}` }
  return { finding, paths }
}

const mostMatches = 1000

/** The paths that a pattern meets in a folder, as a shell would write them; undefined if they are too many. */
export function matchesOf(value: string, folder: string): string[] | undefined {
  let found = [isAbsolute(value) ? '/' : '']
  for (const [i, part] of value.split('/').entries()) {
    if (part === '' && i === 0) continue
    const last = i === value.split('/').length - 1
    found = found.flatMap((before) => {
      if (!/[*?[]/.test(part)) return [`${before}${part}${last ? '' : '/'}`]
      const pattern = patternOf(part)
      return namesIn(within(folder, before === '' ? '.' : before))
        .filter((name) => pattern.test(name) && (!name.startsWith('.') || part.startsWith('.')))
        .map((name) => `${before}${name}${last ? '' : '/'}`)
    })
    if (found.length > mostMatches) return undefined
  }
  return found.filter((name) => kindAt(within(folder, name)) !== undefined)
}

/** The kind of thing at a path; links are not followed. */
export function kindAt(path: string): 'file' | 'folder' | 'link' | 'other' | undefined {
  try {
    const there = lstatSync(path, { throwIfNoEntry: false })
    if (!there) return undefined
    return there.isFile() ? 'file' : there.isDirectory() ? 'folder' : there.isSymbolicLink() ? 'link' : 'other'
  } catch {
    return undefined
  }
}

/** A pattern for one name. A bracket is taken to meet any letter: what letters it means depends on the language. */
function patternOf(part: string): RegExp {
  const body = part.replace(/\*+|\?|\[[^\]]+\]|[^]/g, (piece) => {
    if (piece.startsWith('*')) return '[^]*'
    if (piece === '?' || (piece.startsWith('[') && piece.length > 1)) return '[^]'
    return piece.replace(/[\\^$.+(){}|[\]/-]/, '\\$&')
  })
  return new RegExp(`^${body}$`)
}

const mostEntries = 20_000

/** Judges that a command reads every file below a folder. Packages and git's own objects are not looked through. */
export async function readingTree(word: Word, world: TouchWorld): Promise<TouchFinding> {
  const { finding, paths } = await touching(word, 'read', world)
  if (finding.class !== 'reads') return { finding, paths }
  let count = 0
  const folders = paths.map(({ real }) => real)
  for (const folder of folders) {
    for (const entry of entriesIn(folder)) {
      if (++count > mostEntries)
        return {
          finding: { class: 'unknown', why: `${word.text} holds too many files to know that none holds secrets` },
          paths,
        }
      const path = join(folder, entry.name)
      if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git') folders.push(path)
      else if (entry.isFile() && isSecretName(path))
        return { finding: { class: 'secrets', why: `it reads ${path} too, which may hold secrets` }, paths }
    }
  }
  return { finding, paths }
}

function entriesIn(folder: string) {
  try {
    return kindAt(folder) === 'folder' ? readdirSync(folder, { withFileTypes: true }) : []
  } catch {
    return []
  }
}
