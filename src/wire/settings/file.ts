import type { Source } from './fault.ts'
import type { FileSettings, MapSettings } from './schema.ts'
import type { Path } from './shape.ts'
import { readFileSync } from 'node:fs'
import { keyText, SettingsError } from './fault.ts'
import { listForm, mapForm } from './schema.ts'

/** One settings file, checked; undefined when there is none. */
export async function readSettingsFile(file: string): Promise<FileSettings | undefined> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new SettingsError(file, undefined, '', `cannot be read: ${message}`)
  }
  return check(file, await (file.endsWith('.yaml') ? (await import('./yaml.ts')).parseYaml : parseJson)(file, text))
}

export function check(file: string, source: Source): FileSettings {
  const agents = (source.value as { agents?: unknown } | null)?.agents
  const isMap = typeof agents === 'object' && agents !== null && !Array.isArray(agents)
  const fault = (isMap ? mapForm : listForm).check(source.value, [])
  if (fault) throw new SettingsError(file, nearestLine(source, fault.path), keyText(fault.path), fault.words)
  const settings = isMap ? fromMap(source.value as MapSettings) : (source.value as FileSettings)
  checkAgents(file, source, settings)
  return settings
}

/** A key that is missing stands nowhere: then the line of what it is missing in. */
function nearestLine(source: Source, path: Path): number | undefined {
  return source.lineOf(path) ?? (path.length > 0 ? nearestLine(source, path.slice(0, -1)) : undefined)
}

/** What a schema cannot say: names are unique, and each agent can be run. */
function checkAgents(file: string, source: Source, settings: FileSettings): void {
  const seen = new Set<string>()
  for (const [index, agent] of (settings.agents ?? []).entries()) {
    const fail = (key: string, words: string) =>
      new SettingsError(file, nearestLine(source, ['agents', index, key]), `agents[${index}].${key}`, words)
    if (seen.has(agent.name)) throw fail('name', `found "${agent.name}" twice, allowed: a name no other agent has`)
    if (['auto', 'user', 'termaite'].includes(agent.name))
      throw fail('name', `found "${agent.name}", allowed: any name but auto, user and termaite`)
    seen.add(agent.name)
    if (agent.kind !== 'native' && agent.command === undefined && agent.profile === undefined)
      throw fail('command', 'missing; a command, or the profile of a known CLI, is needed')
  }
}

/** The form of seed 004: a map whose agents live in terminals unless they say otherwise. */
function fromMap({ agents, ...rest }: MapSettings): FileSettings {
  const listed = Object.entries(agents ?? {}).map(([name, agent]) => ({ kind: 'screen', ...agent, name }))
  return { ...rest, agents: listed as NonNullable<FileSettings['agents']> }
}

async function parseJson(file: string, text: string): Promise<Source> {
  const { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } = await import('jsonc-parser')
  const errors: { error: number; offset: number; length: number }[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const line = (offset: number) => text.slice(0, offset).split('\n').length
  const [first] = errors
  if (first || !tree) {
    const words = first
      ? printParseErrorCode(first.error)
          .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
          .toLowerCase()
      : 'it is empty'
    throw new SettingsError(file, first ? line(first.offset) : 1, '', `is not JSON: ${words}`)
  }
  return {
    value: getNodeValue(tree),
    lineOf(path) {
      const node = findNodeAtLocation(tree, [...path])
      return node && line((node.parent?.type === 'property' ? node.parent : node).offset)
    },
  }
}
