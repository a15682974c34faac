import type { HandedField, PromptPart } from '../../../core/data/prompt-template.ts'
import type { TaskResult } from './task-try.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { workIn } from './task-changes.ts'

/** A done task whose result a prompt can contain; `diff` and `branch` are those of its last try. */
type HandedTask = {
  id: string
  name: string
  agent?: string | undefined
  result?: TaskResult | undefined
  diff?: HandedDiff | undefined
  branch?: string | undefined
}

/** The beginning of a diff, at least as long as a prompt needs, and the length of the whole diff. */
type HandedDiff = { beginning: string; bytes: number }

/** The most characters of each field, and of all fields together, in one prompt. */
const mostOf: Readonly<Record<HandedField, number>> = { result: 20_000, diff: 60_000, branch: 250, agent: 100 }
const mostInAll = 150_000

/** How many bytes of a diff are certain to contain as many characters as a prompt may have. */
export const handedBytes = mostOf.diff * 4

/**
 * Fills a prompt with the results of its needs. Results and diffs are marked as another agent's text, so that no agent takes them for the
 * person's words; secrets in them are masked, and a cut text says where the whole is.
 */
export function filledPrompt(parts: readonly PromptPart<HandedTask>[], mask: (text: string) => string): string {
  const handed = parts.flatMap((part) => (typeof part === 'string' ? [] : part.needs)).length
  const share = Math.floor(mostInAll / Math.max(1, handed))
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const { field, needs } = part
      const most = Math.min(mostOf[field], share)
      if (field === 'branch') return needs.map(branchName).join(', ')
      if (field === 'agent') return needs.map(({ agent = '' }) => inline(agent, most)).join(', ')
      return needs.map((need) => taggedResult(need, field, most, mask)).join('\n')
    })
    .join('')
}

function taggedResult(
  { id, name, agent, result, diff }: HandedTask,
  field: 'result' | 'diff',
  most: number,
  mask: (text: string) => string,
): string {
  const whole = mask((field === 'result' ? result?.message : diff?.beginning) ?? '')
  const length = field === 'diff' && diff ? Math.max(whole.length, diff.bytes) : whole.length
  const where =
    field === 'diff'
      ? `termaite task diff ${id}`
      : `get_task_context with taskId ${id}, or termaite task show ${id} --json`
  const by = agent === undefined ? '' : ` agent="${attribute(agent)}"`
  const text = cutText(whole, most, length, where).replaceAll(`</${field}`, `<\\/${field}`)
  return `<${field} task="${attribute(name)}"${by}>\n${text}\n</${field}>`
}

function cutText(text: string, most: number, length: number, where: string): string {
  if (text.length <= most) return text
  // A cut inside a surrogate pair would leave half a character.
  const end = /[\ud800-\udbff]/.test(text[most - 1]!) ? most - 1 : most
  const counts = `${groupDigits(end)} of ${groupDigits(length)}`
  return `${text.slice(0, end)}\n[Cut: these are the first ${counts} characters. The whole text is at the hub: ${where}.]`
}

/** An agent chose the name of its branch, and a name that git would refuse could be read as an instruction. */
function branchName({ result, branch = workIn(result).branch ?? '' }: HandedTask): string {
  return /^[\w][\w./+@-]*$/.test(branch) && branch.length <= mostOf.branch ? branch : ''
}

const inline = (text: string, most: number) => text.replaceAll(/[^\p{L}\p{N} ._@/-]/gu, '').slice(0, most)

const attribute = (text: string) =>
  text
    .replaceAll(/[\n\r]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
