import type { Source } from './fault.ts'
import type { FileSettings, MapSettings } from './settings-schema.ts'
import type { Fault, Path } from '../core/work/shape.ts'
import { readFileSync } from 'node:fs'
import { faultIn, pathText } from '../core/work/shape.ts'
import { faultWords, SettingsError } from './fault.ts'
import { custom, listForm, mapForm } from './settings-schema.ts'

/** Explains why a file cannot be read, and what to do, by the system's error code. */
const unreadable: Record<string, string> = {
  EACCES: 'you have no permission; make it readable with chmod u+r, or set TERMAITE_HOME to another folder',
  EISDIR: 'it is a folder; move it away, then run `termaite setup`',
  ENOTDIR: 'its folder is a file; set TERMAITE_HOME to a folder',
}

/** Reads and checks one settings file; undefined when there is none. */
export async function readSettingsFile(file: string): Promise<FileSettings | undefined> {
  let text: string
  try {
    // Some editors write a byte order mark, which no parser accepts.
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new SettingsError(file, undefined, '', `cannot be read: ${unreadable[code ?? ''] ?? message}`)
  }
  const value = await checked(file, text, fault)
  return hasMap(value) ? fromMap(value as MapSettings) : (value as FileSettings)
}

/** Parses a file and checks it with `fault`. The error names the line and the key. */
export async function checked(file: string, text: string, fault: FaultOf): Promise<unknown> {
  const source = await (file.endsWith('.yaml') ? yaml(file, text) : json(file, text, fault))
  const wrong = fault(source.value)
  if (wrong) throw new SettingsError(file, nearestLine(source, wrong.path), pathText(wrong.path), faultWords(wrong))
  return source.value
}

type FaultOf = (value: unknown) => Fault | undefined

function hasMap(value: unknown): boolean {
  const agents = (value as { agents?: unknown } | null)?.agents
  return typeof agents === 'object' && agents !== null && !Array.isArray(agents)
}

function fault(value: unknown): Fault | undefined {
  if (hasMap(value)) return faultIn(mapForm, value) ?? agentFault(fromMap(value as MapSettings), ({ name }) => name)
  return faultIn(listForm, value) ?? agentFault(value as FileSettings, (_agent, index) => index)
}

/** The line of a key; for a missing key, the line of the object that lacks it. */
function nearestLine(source: Source, path: Path): number | undefined {
  return source.lineOf(path) ?? (path.length > 0 ? nearestLine(source, path.slice(0, -1)) : undefined)
}

type Agent = NonNullable<FileSettings['agents']>[number]

/** Checks what a schema cannot: names are unique, and each agent has something to run. */
function agentFault(settings: FileSettings, key: (agent: Agent, index: number) => string | number): Fault | undefined {
  const seen = new Set<string>()
  for (const [index, agent] of (settings.agents ?? []).entries()) {
    const path = (field: string): Path => ['agents', key(agent, index), field]
    const wrongName = (found: string, wants: string): Fault => ({ is: 'wrong', path: path('name'), found, wants })
    if (seen.has(agent.name)) return wrongName(`"${agent.name}" twice`, 'a name no other agent has')
    if (['auto', 'user', 'termaite'].includes(agent.name))
      return wrongName(`"${agent.name}"`, 'any name but auto, user and termaite')
    seen.add(agent.name)
    if (agent.kind !== 'native' && agent.command === undefined && (agent.profile ?? custom) === custom)
      return { is: 'missing', path: path('command'), wants: 'a command, or the profile of a known CLI,' }
  }
  return undefined
}

/** Turns the map form into the list form. Agents of the map form run in terminals unless they name a kind. */
function fromMap({ agents, ...rest }: MapSettings): FileSettings {
  const listed = Object.entries(agents ?? {}).map(([name, agent]) => ({ kind: 'screen', ...agent, name }))
  return { ...rest, agents: listed as NonNullable<FileSettings['agents']> }
}

const yaml = async (file: string, text: string) => (await import('./yaml.ts')).parseYaml(file, text)

/** Parses JSON. The parser that knows comments and line numbers is loaded only when plain JSON.parse or the check fails, to start quickly. */
async function json(file: string, text: string, fault: FaultOf): Promise<Source> {
  try {
    const value: unknown = JSON.parse(text)
    if (!fault(value)) return { value, lineOf: () => undefined }
  } catch {
    // The other parser accepts comments, and names the line of an error.
  }
  return (await import('./jsonc.ts')).parseJsonc(file, text)
}
