import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { isMissing } from '../../base/files.ts'
import { frontmatter } from '../../base/frontmatter.ts'
import { messageOf } from '../../base/error-message.ts'
import { tag } from '../../core/talk/transcript.ts'
import { fitting, readUntrustedFile } from './untrusted-file.ts'

/** A subagent that the person defined: its role, and the tools and the model it is limited to, where it says so. */
export type UserSubagent = {
  name: string
  description: string
  tools?: string[]
  model?: string
  role: string
  path: string
}

type UserSubagents = { subagents: UserSubagent[]; warnings: string[] }

const ending = '.md'
const longest = 48 * 1024

/** Reads the subagents in `agents/*.md` of our home, sorted by name. */
export function userSubagents(home: string): UserSubagents {
  const folder = join(home, 'agents')
  const found: UserSubagents = { subagents: [], warnings: [] }
  let files: string[] = []
  try {
    files = readdirSync(folder).filter((file) => file.endsWith(ending))
  } catch (error) {
    if (!isMissing(error)) found.warnings.push(`${folder} cannot be read: ${messageOf(error)}.`)
  }
  for (const file of files.sort()) {
    const subagent = subagentIn(join(folder, file), file.slice(0, -ending.length))
    if (typeof subagent === 'string') found.warnings.push(`${join(folder, file)} is not used: ${subagent}.`)
    else if (found.subagents.some(({ name }) => name === subagent.name))
      found.warnings.push(`${subagent.path} is not used: another file already defines the subagent ${subagent.name}.`)
    else found.subagents.push(subagent)
  }
  return found
}

function subagentIn(path: string, file: string): UserSubagent | string {
  const read = readUntrustedFile(path, longest)
  if (typeof read !== 'object') return read ?? 'it is a link to a file that does not exist'
  const found = frontmatter(read.text)
  if (!found) return 'its frontmatter is not closed'
  const { fields, body } = found
  const name = line(fields.name) || file
  if (!/^[\w-]{1,64}$/.test(name)) return 'its name may hold only letters, digits, "-" and "_"'
  if (body === '') return 'it has no text below the frontmatter that says what its role is'
  const model = line(fields.model)
  // Claude Code writes the tools in one line, others as a list.
  const tools =
    fields.tools === undefined
      ? []
      : [fields.tools]
          .flat()
          .flatMap((one) => one.split(/[\s,]+/))
          .filter(Boolean)
  return defined({
    name,
    description: fitting(line(fields.description), 300),
    tools: tools.length > 0 ? tools : undefined,
    model: model === '' || model === 'inherit' ? undefined : model,
    role: body,
    path,
  })
}

function line(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(', ').replaceAll(/\s+/g, ' ').trim()
}

/** The list of subagents for the model; empty when there are none. */
export function subagentList(subagents: readonly UserSubagent[]): string {
  if (subagents.length === 0) return ''
  const lines = subagents.map(subagentLine)
  return tag(
    'subagents',
    '',
    [
      'To hand a task to one of these subagents, call the tool subagent with a task that begins with its name:',
      ...lines,
    ].join('\n'),
  )
}

export function subagentLine({ name, description }: UserSubagent): string {
  return `- @${name}${description && `: ${description}`}`
}

/** The subagent that a task names, and the task without that name. */
export function chosenSubagent(
  task: string,
  subagents: readonly UserSubagent[],
): { subagent?: UserSubagent; task: string } {
  const [whole, name] = /^\s*@([\w-]+)[\s:,]+/.exec(task) ?? []
  const subagent = subagents.find((one) => one.name === name)
  return subagent ? { subagent, task: task.slice(whole!.length) } : { task }
}
