import type { Skill } from './skill.ts'
import { tag } from '../../../core/talk/transcript.ts'
import { fitting } from '../context/body.ts'
import { longestDescription } from './skill.ts'

/** How much of every request the list of skills may take. */
const longestList = 8 * 1024

const usage =
  'Instructions for special tasks. When a task clearly matches one that is not loaded yet, load it with load_skill first; a loaded skill comes before general instructions.'

/** What the model knows of the skills: names, descriptions, triggers; many of them are told more shortly each. */
export function skillList(skills: readonly Skill[]): string {
  const listed = skills.filter(({ unlisted }) => !unlisted)
  if (listed.length === 0) return ''
  const texts = [longestDescription, 250, 80, 0].map((length) =>
    listed.map((skill) => skillLine(skill, length)).join('\n'),
  )
  const text = texts.find((one) => one.length <= longestList) ?? texts.at(-1)!
  return tag('skills', '', `${usage}\n${text}`)
}

export function skillLine({ name, description, trigger }: Skill, length = longestDescription): string {
  const short = fitting(description, length)
  const told = short === description || short === '' ? short : `${short.trimEnd()}…`
  return `- ${name}${told === '' ? '' : `: ${told}`}${trigger ? ` (trigger: ${trigger})` : ''}`
}
