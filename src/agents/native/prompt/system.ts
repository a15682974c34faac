import { tag } from '../../../core/talk/transcript.ts'
import { textBeside } from '../../../base/text-beside.ts'

export type Mode = 'agent' | 'plan' | 'subagent'

export type SystemParts = {
  mode: Mode
  /** The day the session started, as YYYY-MM-DD: it is handed in, so that a long session keeps its bytes. */
  date: string
  cwd: string
  /** What is known of the machine. */
  system?: string
  /** `text` of the instruction files that were read. */
  instructions?: string
  skills?: string
  subagents?: string
  /** What every turn closes with. */
  meta?: string
  /** What a subagent of the user's own is told of its part. */
  role?: string
}

/**
 * What the model is told before anything else. The same parts give the same bytes; what changes soonest stands last,
 * so that even another session of the project, or another day's, shares its beginning.
 */
export function systemText(parts: SystemParts): string {
  const { mode, date, cwd, system, instructions, skills, subagents, meta, role } = parts
  return [
    ...texts[mode].map(prompt),
    role ? tag('part', '', role) : '',
    meta,
    subagents,
    skills,
    instructions,
    system ? tag('system', '', system) : '',
    `Project directory: ${cwd}\nToday's date: ${date}`,
  ]
    .map((text) => text?.trim() ?? '')
    .filter((text) => text !== '')
    .join('\n\n')
}

const texts: Record<Mode, string[]> = {
  agent: ['agent', 'conversation'],
  plan: ['planner', 'conversation'],
  subagent: ['agent', 'subagent'],
}

const prompt = (name: string) => textBeside(`agents/native/prompt/${name}.md`)
