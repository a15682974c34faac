import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../base/files.ts'
import { frontmatter } from '../../base/frontmatter.ts'
import { messageOf } from '../../base/error-message.ts'
import { tag } from '../../core/talk/transcript.ts'
import { fitting, readUntrustedFile } from './untrusted-file.ts'

/** A subagent of the person's own: its part in words, and the tools and the model it is held to, where it says so. */
export type UserSubagent = {
  name: string
  description: string
  tools?: string[]
  model?: string
  role: string
  path: string
}

export type UserSubagents = { subagents: UserSubagent[]; warnings: string[] }

const ending = '.md'
const longest = 48 * 1024

/** From `agents/*.md` in our home, by their names. */
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
      found.warnings.push(`${subagent.path} is not used: there is another ${subagent.name} already.`)
    else found.subagents.push(subagent)
  }
  return found
}

function subagentIn(path: string, file: string): UserSubagent | string {
  const read = readUntrustedFile(path, longest)
  if (typeof read !== 'object') return read ?? 'it leads nowhere'
  const found = frontmatter(read.text)
  if (!found) return 'its frontmatter has no end'
  const { fields, body } = found
  const name = line(fields.name) || file
  if (!/^[\w-]{1,64}$/.test(name)) return 'a name has letters, digits, "-" and "_" only'
  if (body === '') return 'it does not say what its part is'
  const model = line(fields.model)
  // Claude Code writes them in one line, others as a list.
  const tools =
    fields.tools === undefined
      ? []
      : [fields.tools]
          .flat()
          .flatMap((one) => one.split(/[\s,]+/))
          .filter(Boolean)
  return {
    name,
    description: fitting(line(fields.description), 300),
    ...(tools.length > 0 ? { tools } : {}),
    ...(model === '' || model === 'inherit' ? {} : { model }),
    role: body,
    path,
  }
}

function line(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(', ').replaceAll(/\s+/g, ' ').trim()
}

/** What the model knows of them; nothing where there are none. */
export function subagentList(subagents: readonly UserSubagent[]): string {
  if (subagents.length === 0) return ''
  const lines = subagents.map(subagentLine)
  return tag(
    'subagents',
    '',
    ['A task for subagent that begins with one of these goes to that one:', ...lines].join('\n'),
  )
}

export function subagentLine({ name, description }: UserSubagent): string {
  return `- @${name}${description && `: ${description}`}`
}

/** Whom a task is for, and the task itself. */
export function chosenSubagent(
  task: string,
  subagents: readonly UserSubagent[],
): { subagent?: UserSubagent; task: string } {
  const [whole, name] = /^\s*@([\w-]+)[\s:,]+/.exec(task) ?? []
  const subagent = subagents.find((one) => one.name === name)
  return subagent ? { subagent, task: task.slice(whole!.length) } : { task }
}
