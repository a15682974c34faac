import type { Env } from '../../base/env.ts'
import type {
  Belongings,
  BelongingsFile,
  FoundHook,
  FoundRule,
  ReadKind,
  Unusable,
} from '../../core/profile/belongings.ts'
import type { Profile } from '../../core/profile/profile.ts'
import type { Place } from '../../home/place.ts'
import type { LeftSecret } from './server-entry.ts'
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { terminalText } from '../../base/text/ansi.ts'
import { messageOf } from '../../base/error-message.ts'
import { namesIn } from '../../base/files/files.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'
import { bytes } from '../../base/text/table.ts'
import { readUntrustedFile } from '../../safety/untrusted-file.ts'
import { mask } from '../../safety/redaction.ts'
import { parseRule } from '../../safety/rules/permission-rule.ts'
import { hookRunsProjectFile, runsProjectFile, serverEntry } from './server-entry.ts'

/** Where a thing comes from: the CLI, its file, and whether the person or the project owns it. */
type ThingSource = { cli: string; title: string; file: string; owner: 'person' | 'project' }

/** One thing that a person has set up for another CLI and that termaite can use. */
export type Thing = { source: ThingSource } & (
  | { kind: 'server'; name: string; entry: Record<string, unknown>; secrets: LeftSecret[] }
  | ({ kind: 'rule' } & FoundRule)
  | ({ kind: 'hook' } & FoundHook)
  /** A folder or a file that is read in place; `link` is the name of the reference to it. */
  | { kind: ReadKind; path: string; link: string; count: number }
) & {
    /** Whether termaite itself reads the thing in place once the folder is trusted. */
    inPlace?: true
  }

export type FoundBelongings = {
  things: Thing[]
  unusable: (Unusable & { source: ThingSource })[]
  /** Files that could not be read, with the reason. */
  faults: string[]
}

export type ThingsPlace = Place & { env: Env }

/** A profile that can find the things that a person has set up for its CLI. */
export type OwnerProfile = Profile & { belongings(): Promise<Belongings> }

export const hasBelongings = (profile: Profile): profile is OwnerProfile => profile.belongings !== undefined

/** The longest settings file that is read: Claude Code keeps much of its state in one. */
const longest = 32 * 1024 * 1024
const mostFiles = 50

/** Finds the things that the person has set up for some CLIs, in their home and in the project. Runs nothing and changes nothing. */
export async function findThings(profiles: readonly OwnerProfile[], place: ThingsPlace): Promise<FoundBelongings> {
  const found: FoundBelongings = { things: [], unusable: [], faults: [] }
  const person = place.env.HOME ?? ''
  const at = { home: person, root: place.root, env: place.env }
  const seen = new Set<string>()
  for (const profile of profiles) {
    const belongings = await profile.belongings()
    const { name: cli, title } = profile
    for (const { kind, path, name = cli } of belongings.places(at)) {
      const real = realIfThere(path)
      const count = real === undefined || seen.has(`${kind} ${real}`) ? 0 : countIn(kind, real)
      if (real === undefined || count === 0) continue
      seen.add(`${kind} ${real}`)
      const source: ThingSource = { cli, title, file: path, owner: 'person' }
      if (kind === 'instructions' && /\s/.test(path))
        found.unusable.push({ what: 'instructions', why: 'its path has a space', source })
      else found.things.push({ kind, path, link: name, count, source })
    }
    for (const file of belongings.settings(at)) {
      // If the project is the home folder, both are the same file, which belongs to the person.
      if (file.owner === 'project' && (place.root === realIfThere(person) || seen.has(file.path))) continue
      if (file.owner === 'person') seen.add(file.path)
      for (const path of filesOf(file))
        await readFile({ ...file, path }, { cli, title, file: path, owner: file.owner }, place, found)
    }
  }
  // One file may be read for several purposes.
  return { ...found, faults: [...new Set(found.faults)] }
}

function filesOf({ path, ending }: BelongingsFile): string[] {
  if (ending === undefined) return [path]
  try {
    const names = readdirSync(path).filter((name) => name.endsWith(ending))
    return names
      .sort()
      .slice(0, mostFiles)
      .map((name) => join(path, name))
  } catch {
    return []
  }
}

async function readFile(file: BelongingsFile, source: ThingSource, { root }: ThingsPlace, found: FoundBelongings) {
  const body = readUntrustedFile(file.path, longest, isWithin(root, file.path) ? root : undefined)
  if (body === undefined) return
  const fault = (why: string) => {
    found.faults.push(terminalText(mask(`${file.path} is not used: ${why}.`)))
  }
  if (typeof body === 'string') return fault(body)
  if (body.bytes > longest) return fault(`it is longer than ${bytes(longest)}`)
  let value: unknown
  try {
    value = await valueOf(file.format, body.text)
  } catch (error) {
    return fault(messageOf(error))
  }
  const { servers = [], hooks = [], rules = [], unusable = [] } = file.read(value)
  const leave = (what: string, why: string) => found.unusable.push({ what, why, source })
  for (const { what, why } of unusable) leave(what, why)
  const place = (part: 'servers' | 'hooks') => (file.inPlace?.includes(part) ? { inPlace: true as const } : {})
  for (const server of servers) {
    const made = source.owner === 'person' && runsProjectFile(server) ? projectFileWords : serverEntry(server)
    if (typeof made === 'string') leave(`MCP server ${server.name}`, made)
    else found.things.push({ kind: 'server', name: server.name, ...made, source, ...place('servers') })
  }
  for (const rule of rules) {
    if ('fault' in parseRule(rule.rule)) leave(`rule ${rule.list} ${rule.rule}`, 'termaite cannot read it as a rule')
    else if (source.owner === 'project' && rule.list === 'allow')
      leave(`rule allow ${rule.rule}`, 'in termaite a project can only forbid')
    else if (!found.things.some((one) => isSameRule(one, rule, source)))
      found.things.push({ kind: 'rule', ...rule, source })
  }
  for (const hook of hooks)
    if (mask(hook.command) !== hook.command) leave(`hook at ${hook.event}`, 'its command seems to hold a secret')
    else if (source.owner === 'person' && hookRunsProjectFile(hook.command))
      leave(`hook at ${hook.event}: ${hook.command}`, projectFileWords)
    else found.things.push({ kind: 'hook', ...hook, source, ...place('hooks') })
}

const projectFileWords = 'it would run a file of whichever project is open, trusted or not; give the whole path there'

const isSameRule = (thing: Thing, { list, rule }: FoundRule, source: ThingSource) =>
  thing.kind === 'rule' && thing.list === list && thing.rule === rule && thing.source.owner === source.owner

async function valueOf(format: BelongingsFile['format'], text: string): Promise<unknown> {
  if (format === 'text') return text
  if (format === 'toml') return (await import('../../base/text/toml-parser.ts')).parseToml(text)
  const { parseTree, getNodeValue, printParseErrorCode } = await import('jsonc-parser')
  const errors: { error: number; offset: number; length: number }[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (!first && tree) return getNodeValue(tree) as unknown
  const line = text.slice(0, first?.offset ?? 0).split('\n').length
  const what = printParseErrorCode(first?.error ?? 0).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
  throw new Error(text.trim() === '' ? 'it is empty' : `it is not JSON (line ${line}: ${what.toLowerCase()})`)
}

const deepest = 4
const mostEntries = 2000

/** How many commands, skills or subagents are in a folder; a file of instructions counts as one. */
function countIn(kind: ReadKind, path: string): number {
  if (kind === 'instructions') return statSync(path).isFile() && statSync(path).size > 0 ? 1 : 0
  const counts = kind === 'skills' ? /^skill\.md$/i : kind === 'commands' ? /\.(?:md|toml)$/ : /\.md$/
  let [count, left] = [0, mostEntries]
  const walk = (folder: string, depth: number) => {
    if (depth > deepest) return
    for (const name of namesIn(folder)) {
      if (left-- <= 0) return
      if (counts.test(name)) count++
      else if (lstatSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory())
        walk(join(folder, name), depth + 1)
    }
  }
  walk(path, 0)
  return count
}

/** A thing in a few words, without its source. */
export function thingWords(thing: Thing): string {
  switch (thing.kind) {
    case 'server':
      return `MCP server ${thing.name}`
    case 'rule':
      return `rule ${thing.list} ${thing.rule}`
    case 'hook':
      return `hook at ${thing.event}: ${thing.command}`
    case 'instructions':
      return `instructions ${basename(thing.path)}`
    default:
      return `${kindWords[thing.kind]} (${thing.count})`
  }
}

const kindWords = { commands: 'commands', skills: 'skills', agents: 'subagents' }
