import type { Source } from './fault.ts'
import type { FileSettings, MapSettings } from './settings-schema.ts'
import type { Fault, Path, Shape } from '../core/data/shape.ts'
import { readFileSync } from 'node:fs'
import { isPlainObject } from '../base/plain-object.ts'
import { keyClashes } from '../core/screen/chat-keys.ts'
import { parseHooks } from '../safety/hooks/hook-config.ts'
import { parseRule } from '../safety/rules/permission-rule.ts'
import { faultWords, faultsIn, pathText } from '../core/data/shape.ts'
import { SettingsError } from './fault.ts'
import { custom, reservedNames } from './agent-schema.ts'
import { listForm, mapForm } from './settings-schema.ts'

/** Explains why a file cannot be read, and what to do, by the system's error code. */
const unreadable: Record<string, string> = {
  EACCES: 'you have no permission; make it readable with chmod u+r, or set TERMAITE_HOME to another folder',
  EISDIR: 'it is a folder; move it away, then run `termaite setup`',
  ENOTDIR: 'its folder is a file; set TERMAITE_HOME to a folder',
}

/** Reads and checks one settings file; undefined when the file does not exist. */
export async function readSettingsFile(file: string): Promise<FileSettings | undefined> {
  let text: string
  try {
    // Some editors write a byte order mark, which no parser accepts.
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new SettingsError([{ file, key: '', words: `cannot be read: ${unreadable[code ?? ''] ?? message}` }])
  }
  const value = await checkFile(file, text, userProblems)
  return hasMap(value) ? fromMap(value as MapSettings) : (value as FileSettings)
}

/** Parses a file and checks it with `problems`. The error names the line and the key of every problem. */
export async function checkFile(file: string, text: string, problems: ProblemsOf): Promise<unknown> {
  const source = await (file.endsWith('.yaml') ? yaml(file, text) : json(file, text, problems))
  const found = problems(source.value).map(({ path, words }) => {
    return { file, line: nearestLine(source, path), key: pathText(path), words }
  })
  if (found.length > 0) throw new SettingsError(found.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)))
  return source.value
}

/** An error in one setting, worded for the person who edits the file. */
type Problem = { path: Path; words: string }
type ProblemsOf = (value: unknown) => Problem[]

/** Finds all errors in a settings file: against its schema, in its permission rules, and in its hooks. */
export function problemsIn(form: Shape<unknown>, value: unknown): Problem[] {
  const faults = faultsIn(form, value)
  const { permissions, hooks, keys } = (faults.length === 0 || isPlainObject(value) ? value : {}) as Record<
    string,
    unknown
  >
  return [
    ...faults.map((fault) => ({ path: fault.path, words: faultWords(fault) })),
    ...ruleProblems(permissions),
    ...(faults.length === 0 ? keyProblems(keys) : []),
    ...(isPlainObject(hooks) ? parseHooks(hooks).faults.map(hookProblem) : []),
  ]
}

/** Finds rules that cannot be parsed: they would restrict nothing. */
function ruleProblems(permissions: unknown): Problem[] {
  if (!isPlainObject(permissions)) return []
  return ['allow', 'ask', 'deny'].flatMap((kind) => {
    const rules = permissions[kind]
    if (!Array.isArray(rules)) return []
    return rules.flatMap((text, index) => {
      const rule = typeof text === 'string' ? parseRule(text) : {}
      return 'fault' in rule ? [{ path: ['permissions', kind, index], words: String(rule.fault) }] : []
    })
  })
}

/** Keys that the person chose and that have another meaning already. */
function keyProblems(keys: unknown): Problem[] {
  if (!isPlainObject(keys)) return []
  const chosen = Object.fromEntries(Object.entries(keys).map(([action, held]) => [action, [held].flat() as string[]]))
  const clashes = keyClashes(chosen).map(({ action, key, taken }): Problem => ({
    path: ['keys', action],
    words: `found "${key}", which ${taken}; choose another key, or give that action another one.`,
  }))
  if (chosen.send?.length !== 0) return clashes
  return [...clashes, { path: ['keys', 'send'], words: 'found no key: without one, no prompt could be sent.' }]
}

/** The message about a hook begins with its path: `hooks.Stop[0].matcher: …`. */
function hookProblem(fault: string): Problem {
  const [, key = '', words = fault] = /^(hooks\S*): ([^]*)$/.exec(fault) ?? []
  const parts = [...key.matchAll(/\[(\d+)\]|[^.[\]]+/g)]
  return { path: parts.map(([name, index]) => (index === undefined ? name : Number(index))), words }
}

function hasMap(value: unknown): boolean {
  const agents = (value as { agents?: unknown } | null)?.agents
  return isPlainObject(agents)
}

function userProblems(value: unknown): Problem[] {
  const isMap = hasMap(value)
  const problems = problemsIn(isMap ? mapForm : listForm, value)
  if (!isPlainObject(value) || (!isMap && !Array.isArray((value as FileSettings).agents ?? []))) return problems
  const settings = isMap ? fromMap(value) : (value as FileSettings)
  const faults = agentFaults(settings, isMap ? ({ name }) => name : (_agent, index) => index)
  // If the schema already complains about a part, no second complaint about it follows.
  const told = new Set(problems.map(({ path }) => pathText(path)))
  const more = faults.map((fault) => ({ path: fault.path, words: faultWords(fault) }))
  return [
    ...problems,
    ...more.filter(({ path }) => !told.has(pathText(path)) && !told.has(pathText(path.slice(0, -1)))),
  ]
}

/** The line of a key; for a missing key, the line of the object that lacks it. */
function nearestLine(source: Source, path: Path): number | undefined {
  return source.lineOf(path) ?? (path.length > 0 ? nearestLine(source, path.slice(0, -1)) : undefined)
}

type Agent = NonNullable<FileSettings['agents']>[number]

/** Checks rules that a schema cannot express: names are unique, and each agent has something to run. */
function agentFaults(settings: FileSettings, key: (agent: Agent, index: number) => string | number): Fault[] {
  const seen = new Set<string>()
  return (settings.agents ?? []).flatMap((agent, index): Fault[] => {
    if (!isPlainObject(agent)) return []
    const path = (field: string): Path => ['agents', key(agent, index), field]
    const wrongName = (found: string, wants: string): Fault => ({ is: 'wrong', path: path('name'), found, wants })
    const twice = seen.has(agent.name)
    seen.add(agent.name)
    return [
      ...(twice ? [wrongName(`"${agent.name}" twice`, 'a name no other agent has')] : []),
      ...(reservedNames.includes(agent.name)
        ? [wrongName(`"${agent.name}"`, 'any name but auto, user and termaite')]
        : []),
      ...(agent.kind !== 'native' && agent.command === undefined && (agent.profile ?? custom) === custom
        ? [{ is: 'missing' as const, path: path('command'), wants: 'a command, or the profile of a known CLI,' }]
        : []),
    ]
  })
}

/** Turns the map form into the list form. Agents of the map form run in terminals unless they name a kind. */
function fromMap({ agents, ...rest }: MapSettings): FileSettings {
  const listed = Object.entries(agents ?? {}).map(([name, agent]) => ({ kind: 'screen', ...agent, name }))
  return { ...rest, agents: listed as NonNullable<FileSettings['agents']> }
}

const yaml = async (file: string, text: string) => (await import('./yaml.ts')).parseYaml(file, text)

/** Parses JSON. The parser that knows comments and line numbers is loaded only when plain JSON.parse or the check fails, to start quickly. */
async function json(file: string, text: string, problems: ProblemsOf): Promise<Source> {
  try {
    const value: unknown = JSON.parse(text)
    if (problems(value).length === 0) return { value, lineOf: () => undefined }
  } catch {
    // The other parser accepts comments, and names the line of an error.
  }
  return (await import('./jsonc.ts')).parseJsonc(file, text)
}
