import type { ProjectBounds } from '../path-location.ts'
import type { Finding, Touch, Touched } from './shell-judgement.ts'
import type { Word } from './simple-command.ts'
import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { namesIn } from '../../base/files/files.ts'
import { locatePath, rootsOf } from '../path-location.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { isSecretName } from '../secret-files.ts'
import { worse } from './shell-judgement.ts'

type TouchWorld = ProjectBounds & { cwds: readonly string[] | undefined }

type TouchFinding = { finding: Finding; paths: Touched[] }

const nothing: Finding = { class: 'reads', why: '' }

/** Judges a command's use of the file that a word names, in every folder in which it may run. */
export async function touching(word: Word, how: Touch, world: TouchWorld): Promise<TouchFinding> {
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
        : await findTouch(within(folder, value), how, world)
      finding = worse(finding, one.finding)
      paths.push(...one.paths)
    }
  }
  return { finding, paths }
}

/** A path below a folder, unresolved: `..` after a link leads elsewhere than its text suggests. */
function within(folder: string, value: string): string {
  if (isAbsolute(value)) return value
  const below = value.replace(/^(?:\.\/+)+(?=.)/, '')
  return folder === '/' ? `/${below}` : `${folder}/${below}`
}

async function findTouch(path: string, how: Touch, bounds: ProjectBounds): Promise<TouchFinding> {
  const target = devices.test(path) ? path : targetOf(path)
  if (target === undefined)
    return {
      finding: { class: 'outside', why: `termaite does not know where ${path} leads` },
      paths: [{ path, real: path, how }],
    }
  const spot = await locatePath(target, bounds)
  const paths: Touched[] = [{ path, real: spot.real, how }]
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
  const readable = spot.readable && how === 'read'
  if (spot.secret || isSecretName(path)) return finding('secrets', `${path} may hold secrets`)
  if (!spot.inside && !readable) return finding('outside', `${path} is outside the project`)
  if (spot.guarded && (removes || how === 'write'))
    return finding('settings', `a change of ${path} could make programs run`)
  const kinds = { read: 'reads', write: 'edits', remove: 'removes', run: 'runs' } as const
  const words = { read: 'looks at', write: 'changes', remove: 'removes', run: 'runs' } as const
  return finding(kinds[how], `it ${words[how]} ${path}`)
}

const devices = /^\/dev\/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty)$/

const mostLinks = 40

/**
 * The target of a path, resolved component by component like the system does: `link/..` is the folder above the link's target. Undefined
 * if it leads into /proc, whose links differ for every process, or if it cannot be resolved.
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

/** Judges everything that a pattern matches now. */
async function matching(value: string, folder: string, how: Touch, bounds: ProjectBounds): Promise<TouchFinding> {
  const names = matchesOf(value, folder)
  if (names === undefined)
    return { finding: { class: 'dynamic', why: `termaite does not know which files ${value} matches` }, paths: [] }
  const parts = value.split('/')
  const first = parts.findIndex((part) => /[*?[]/.test(part))
  const base = within(folder, parts.slice(0, first).join('/') || (isAbsolute(value) ? '/' : '.'))
  let { finding } = await findTouch(base, how === 'remove' ? 'read' : how, bounds)
  const paths: Touched[] = []
  for (const name of names.length === 0 ? [value] : names) {
    const one = await findTouch(within(folder, name), how, bounds)
    finding = worse(finding, one.finding)
    paths.push(...one.paths)
  }
  const all = first === parts.length - 1 && /^\.?\*+$/.test(parts[first]!)
  if (how === 'remove' && all && rootsOf(bounds).some((folder) => isWithin(targetOf(base) ?? '/', folder)))
    finding = { class: 'destructive', why: `it removes everything in ${base}` }
  return { finding, paths }
}

const mostMatches = 1000

/**
 * The paths that a pattern matches in a folder, in the form that a shell would write; undefined if there are too many, or if shells and
 * languages differ about them.
 */
export function matchesOf(value: string, folder: string): string[] | undefined {
  let found = [isAbsolute(value) ? '/' : '']
  const parts = value.split('/')
  for (const [i, part] of parts.entries()) {
    if (part === '' && i === 0) continue
    const slash = i === parts.length - 1 ? '' : '/'
    if (!/[*?[]/.test(part)) {
      found = found.map((before) => `${before}${part}${slash}`)
      continue
    }
    const pattern = patternOf(part)
    if (!pattern) return undefined
    const next: string[] = []
    for (const before of found)
      for (const name of namesIn(within(folder, before === '' ? '.' : before))) {
        if (name.startsWith('.') && !part.startsWith('.')) continue
        const met = isMet(pattern, name)
        if (met === undefined || next.length > mostMatches) return undefined
        if (met) next.push(`${before}${name}${slash}`)
      }
    found = next
  }
  if (found.length > mostMatches) return undefined
  return found.filter((name) => kindAt(within(folder, name)) !== undefined)
}

/** The kind of thing at a path; links are not followed. */
function kindAt(path: string): 'file' | 'folder' | 'link' | 'other' | undefined {
  try {
    const there = lstatSync(path, { throwIfNoEntry: false })
    if (!there) return undefined
    return there.isFile() ? 'file' : there.isDirectory() ? 'folder' : there.isSymbolicLink() ? 'link' : 'other'
  } catch {
    return undefined
  }
}

/** One sign of a pattern: a star, or the letters that it matches in every language, and those that it matches in some. */
type Sign = '*' | { surely(letter: string): boolean; maybe(letter: string): boolean; exact?: true }

/** A bracket of plain letters and of ranges within one kind of letter. Shells differ about everything else in brackets. */
const bracket = /^\[(!?)((?:[0-9]-[0-9]|[a-z]-[a-z]|[A-Z]-[A-Z]|[\w,+@%])+)\]/

/** The signs of a pattern for one name; undefined if the pattern is not understood. */
function patternOf(part: string): Sign[] | undefined {
  const signs: Sign[] = []
  for (let at = 0; at < part.length; at++) {
    const sign = part[at]!
    if (sign === '*') signs.push('*')
    else if (sign === '?') signs.push({ surely: () => true, maybe: () => true })
    else if (sign !== '[') signs.push(exactly(sign))
    else {
      const found = bracket.exec(part.slice(at))
      const letters = found && lettersOf(found[2]!)
      if (!found || !letters) return undefined
      const { surely, maybe } = letters
      signs.push(found[1] === '' ? letters : { surely: (one) => !maybe(one), maybe: (one) => !surely(one) })
      at += found[0].length - 1
    }
  }
  // In older shells `.*` matches the folder itself and the one above it.
  const own = part.startsWith('.') && ['.', '..'].some((name) => isMet(signs, name) !== false)
  return own ? undefined : signs
}

const exactly = (sign: string): Sign => ({
  surely: (one) => one === sign,
  maybe: (one) => one === sign,
  exact: true,
})

/** The letters between brackets. In some languages `[a-z]` also matches capitals. */
function lettersOf(text: string): Exclude<Sign, '*'> | undefined {
  const plain = text.replace(/(.)-(.)/g, '')
  const ranges = [...text.matchAll(/(.)-(.)/g)].map(([, first, last]) => [first!, last!] as const)
  if (ranges.some(([first, last]) => first > last)) return undefined
  const surely = (one: string) => plain.includes(one) || ranges.some(([first, last]) => first <= one && one <= last)
  const words = ranges.some(([first]) => /[A-Za-z]/.test(first))
  return { surely, maybe: (one) => surely(one) || (words && /[A-Za-z]/.test(one)) }
}

/** Whether a name matches a pattern; undefined if that depends on the language, or if the name cannot be written. */
function isMet(signs: readonly Sign[], name: string): boolean | undefined {
  if (!/[^\0-\x7f]/.test(name)) {
    if (meets(signs, name, 'surely')) return true
    return meets(signs, name, 'maybe') ? undefined : false
  }
  // A letter of another language may match as one letter, several or none.
  const loose = signs.map((sign) => (sign === '*' || sign.exact ? sign : '*'))
  if (!meets(loose, name, 'surely')) return false
  const plain = signs.every((sign) => sign === '*' || sign.exact)
  return plain && !isGarbled(name) ? true : undefined
}

function meets(signs: readonly Sign[], name: string, how: 'surely' | 'maybe'): boolean {
  let ends = new Set([0])
  for (const sign of signs) {
    const next = new Set<number>()
    if (sign === '*') for (let at = Math.min(...ends); at <= name.length; at++) next.add(at)
    else for (const at of ends) if (at < name.length && sign[how](name[at]!)) next.add(at + 1)
    if (next.size === 0) return false
    ends = next
  }
  return ends.has(name.length)
}

/** Whether a name contains bytes that are not text, so that the file cannot be opened by the decoded name. */
const isGarbled = (name: string) => name.includes('\uFFFD')
