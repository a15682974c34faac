import type { DefinitionFile } from './definition-files.ts'
import type { SessionPlace } from './instructions.ts'
import { defined } from '../../base/defined.ts'
import { tag } from '../../core/talk/transcript.ts'
import { fieldLine, fieldNames, findDefinitions, firstOfEachName, unknownFields } from './definition-files.ts'
import { fitting } from '../../safety/untrusted-file.ts'

/**
 * A subagent that a file of the person or of the project defines: its role and its limits. Each limit only narrows the rights of the
 * agent that calls it.
 */
export type Subagent = {
  name: string
  description: string
  /** The tools of the subagent, as the file names them; without it, all tools of the session. */
  tools?: string[]
  /** The tools that the file removes. */
  without?: string[]
  model?: string
  effort?: string
  /** The permission mode, by Claude Code's names. */
  mode?: string
  /** The most steps that the subagent may take. */
  steps?: number
  role: string
  path: string
  /** The path of the file, for a person. */
  place: string
  from: DefinitionFile['from']
  /** Fields of the file that termaite does not use. */
  unknown?: string[]
}

/** `unused`: files of an untrusted project. */
export type Subagents = { subagents: Subagent[]; warnings: string[]; unused: string[] }

/** Reads the subagents of a trusted project and the person's own ones, sorted by name. */
export function findSubagents(place: SessionPlace): Subagents {
  const { files, warnings, unused } = findDefinitions('agents', place)
  const all: Subagent[] = []
  for (const file of files) {
    const found = subagentIn(file)
    if (typeof found === 'string') warnings.push(`${file.place} is not used: ${found}.`)
    else if (found) all.push(found)
  }
  return { subagents: firstOfEachName(all, warnings), warnings, unused: unused.map((one) => one.place) }
}

/** The fields that termaite uses, and fields that only affect how another program shows a subagent. */
const known = [
  ...['name', 'description', 'tools', 'disallowedTools', 'model', 'effort', 'reasoningEffort', 'permissionMode'],
  ...['maxTurns', 'maxSteps', 'steps', 'max_turns', 'permission', 'mode', 'disable', 'disabled', 'color', 'hidden'],
]

/** Undefined for a file that says that it is not a subagent, or that it is disabled. */
function subagentIn(file: DefinitionFile): Subagent | string | undefined {
  const said = (field: string) => fieldLine(file, field)
  if (said('disable') === 'true' || said('disabled') === 'true') return undefined
  // A person selects OpenCode's primary agents; they take no task from another agent.
  if (said('mode') === 'primary') return undefined
  const name = said('name') || file.name.split(':').at(-1)!
  if (!/^[\w-]{1,64}$/.test(name)) return 'its name may hold only letters, digits, "-" and "_"'
  const tools = fieldNames(file, 'tools').filter((one) => one !== '*')
  const steps = ['maxTurns', 'maxSteps', 'steps', 'max_turns'].map(said).find((one) => /^[1-9]\d*$/.test(one))
  const model = said('model')
  const without = [...fieldNames(file, 'disallowedTools'), ...takenAway(file)]
  const unknown = unknownFields(file, known)
  return defined({
    name,
    description: fitting(said('description'), longestDescription),
    tools: tools.length > 0 ? tools : undefined,
    without: without.length > 0 ? without : undefined,
    model: model === '' || model === 'inherit' ? undefined : model,
    effort: said('effort') || said('reasoningEffort') || undefined,
    mode: said('permissionMode') || undefined,
    steps: steps === undefined ? undefined : Number(steps),
    role: file.body,
    path: file.path,
    place: file.place,
    from: file.from,
    unknown: unknown.length > 0 ? unknown : undefined,
  })
}

/** The tools that OpenCode's maps remove: those set to false, and those with a rule that denies something. */
function takenAway({ maps }: DefinitionFile): string[] {
  const off = Object.entries(maps.tools ?? {}).filter(([, values]) => values.includes('false'))
  const denied = Object.entries(maps.permission ?? {}).filter(([, values]) => values.includes('deny'))
  return [...off, ...denied].map(([name]) => name)
}

const longestDescription = 300

/** The most characters that the list of subagents may take in every request. */
const longestList = 6 * 1024

/** The list of subagents for the model, with shorter descriptions if it is long; empty without subagents. */
export function subagentList(subagents: readonly Subagent[]): string {
  if (subagents.length === 0) return ''
  const texts = [longestDescription, 100, 0].map((length) =>
    subagents.map((one) => subagentLine(one, length)).join('\n'),
  )
  const text = texts.find((one) => one.length <= longestList) ?? texts.at(-1)!
  return tag(
    'subagents',
    '',
    `To hand a task to one of these, call the tool subagent with its name as type. The user may name one with an @.\n${text}`,
  )
}

export function subagentLine({ name, description }: Subagent, length = longestDescription): string {
  const short = fitting(description, length)
  const told = short === description || short === '' ? short : `${short.trimEnd()}…`
  return `- ${name}${told === '' ? '' : `: ${told}`}`
}

/** The subagent that a call names, by its type or at the beginning of its task, and the task without that name. */
export function chosenSubagent(
  { task, type }: { task: string; type?: string },
  subagents: readonly Subagent[],
): { subagent?: Subagent; task: string } {
  const named = (name: string | undefined) => subagents.find((one) => one.name === name)
  if (type !== undefined && !usualTypes.has(type)) {
    const subagent = named(type.replace(/^@/, ''))
    if (subagent) return { subagent, task }
    const names = subagents.map(({ name }) => name)
    throw new Error(
      `there is no subagent ${type}. ${names.length === 0 ? 'Leave the type out.' : `Use one of ${names.join(', ')}, or leave the type out.`}`,
    )
  }
  const [whole, name] = /^\s*@([\w-]+)[\s:,]+/.exec(task) ?? []
  const subagent = named(name)
  return subagent ? { subagent, task: task.slice(whole!.length) } : { task }
}

/** Names that other programs use for a subagent without a special role. */
const usualTypes = new Set(['', 'general', 'general-purpose', 'default', 'subagent'])
