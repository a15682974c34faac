import type { Guide } from '../../core/talk/entry.ts'
import { basename, dirname } from 'node:path'
import { frontmatter } from '../../base/frontmatter.ts'
import { attribute, tag } from '../../core/talk/transcript.ts'
import { fitting, readUntrustedFile } from './untrusted-file.ts'

/** A skill as the model knows it before it is loaded; `trigger` is a hint, and a slash command where it is one word. */
export type Skill = {
  name: string
  description: string
  trigger?: string
  path: string
  from: 'project' | 'user'
  /** Only a person loads it. */
  unlisted?: true
  /** What the model is given when it is loaded: read then, so that a change counts. Throws words that say why not. */
  body(): string
}

/** More than any real skill has, and still one line of a log. */
const longestBody = 48 * 1024

/** The skill in a SKILL.md, or why there is none; what the standard would not allow is said and taken all the same. */
export function skillIn(
  path: string,
  from: Skill['from'],
  within: string | undefined,
  warn: (words: string) => void,
): Skill | string {
  const folder = basename(dirname(path))
  const read = readUntrustedFile(path, longestBody, within)
  if (read === undefined) return 'it leads nowhere'
  if (typeof read === 'string') return read
  const found = frontmatter(read.text)
  if (!found) return 'its frontmatter has no end'
  const said = (name: string) => textOf(found.fields[name])
  const description = said('description')
  if (description === '') return 'it has no description'
  const name = [said('name'), folder].find((one) => usable.test(one))
  if (name === undefined) return 'its name has other characters than letters, digits, "-", "_" and "."'
  const asked = said('name')
  if (asked !== folder || !standard.test(asked))
    warn(`${path}: the name ${JSON.stringify(asked)} should be its folder's, in small letters, digits and single "-"`)
  if (description.length > longestDescription) warn(`${path}: the description is longer than ${longestDescription}`)
  const trigger = fitting(said('trigger'), 100)
  return {
    name,
    description: fitting(description, longestDescription),
    ...(trigger === '' ? {} : { trigger }),
    path,
    from,
    ...(said('disable-model-invocation') === 'true' ? { unlisted: true } : {}),
    body: () => bodyOf(name, path, within),
  }
}

export const longestDescription = 1024
const usable = /^[\w.-]{1,64}$/
const standard = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** In one line, whatever it was. */
function textOf(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(', ').replaceAll(/\s+/g, ' ').trim()
}

function bodyOf(name: string, path: string, within: string | undefined): string {
  const read = readUntrustedFile(path, longestBody, within)
  if (typeof read !== 'object') throw new Error(`The skill ${name} cannot be read: ${read ?? 'it is gone'}.`)
  const rest = read.bytes > longestBody ? `\n[cut here: the rest is in ${path}]` : ''
  const text = frontmatter(read.text)?.body ?? read.text
  return tag('skill', ` name="${name}" folder="${attribute(dirname(path))}"`, `${text}${rest}`)
}

/** A loaded skill as the model is given it: no trim cuts it and no summary replaces it. */
export function skillGuide({ name, body }: Pick<Skill, 'name' | 'body'>): Guide {
  return { type: 'guide', name: `skill:${name}`, text: body() }
}

/** The slash command that loads it, without its slash. */
export function commandOf({ trigger }: Skill): string | undefined {
  return /^\/?([\w-]+)$/.exec(trigger ?? '')?.[1]
}

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

/** A prompt that asks for a skill in words that whoever takes it over understands too. */
export function skillPrompt(name: string, request: string): string {
  return `Use the skill ${name}: ${request.trim()}`
}

/** The skill that a prompt asks for, by such words or by its trigger: it need not wait for the model to load it. */
export function requestedSkill(prompt: string, skills: readonly Skill[]): Skill | undefined {
  const name = /^Use the skill ([\w.-]+):(?:\s|$)/.exec(prompt)?.[1]
  if (name !== undefined) return skills.find((skill) => skill.name === name)
  const command = /^\/([\w-]+)(?:\s|$)/.exec(prompt)?.[1]
  return command === undefined ? undefined : skills.find((skill) => commandOf(skill) === command)
}
