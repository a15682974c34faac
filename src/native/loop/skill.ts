import type { Guide } from '../../core/talk/entry.ts'
import { basename, dirname } from 'node:path'
import { defined } from '../../base/defined.ts'
import { frontmatter } from '../../base/text/frontmatter.ts'
import { attribute, tag } from '../../core/talk/transcript.ts'
import { fitting, readUntrustedFile } from '../../safety/untrusted-file.ts'

/** A skill in the form that the model gets before it is loaded. */
export type Skill = {
  name: string
  description: string
  trigger?: string
  path: string
  from: 'project' | 'user'
  /** Whether only a person can load the skill. */
  unlisted?: true
  /** Whether the skill is only for the model, and not a slash command. */
  modelOnly?: true
  /**
   * Reads the text for the model when the skill is loaded, so that later changes count. Throws an error that says why it cannot be read.
   */
  body(): string
}

/** The longest body: longer than that of any real skill, and still one line in a log. */
const longestBody = 48 * 1024

/** Parses the skill in a SKILL.md, or says why it is not one; warns about deviations from the standard. */
export function skillIn(
  path: string,
  from: Skill['from'],
  within: string | undefined,
  warn: (words: string) => void,
): Skill | string {
  const folder = basename(dirname(path))
  const read = readUntrustedFile(path, longestBody, within)
  if (read === undefined) return 'it is a link to a file that does not exist'
  if (typeof read === 'string') return read
  const found = frontmatter(read.text)
  if (!found) return 'its frontmatter is not closed'
  const said = (name: string) => oneLineField(found.fields[name])
  const description = said('description')
  if (description === '') return 'it has no description'
  const name = [said('name'), folder].find((one) => usable.test(one))
  if (name === undefined) return 'its name may hold only letters, digits, "-", "_" and "."'
  const asked = said('name')
  if (asked !== folder || !standard.test(asked))
    warn(
      `${path}: the name ${JSON.stringify(asked)} should be that of its folder, in lower-case letters, digits and single "-"`,
    )
  if (description.length > longestDescription) warn(`${path}: the description is longer than ${longestDescription}`)
  const trigger = fitting(said('trigger'), 100)
  return defined<Skill>({
    name,
    description: fitting(description, longestDescription),
    trigger: trigger || undefined,
    path,
    from,
    unlisted: said('disable-model-invocation') === 'true' || undefined,
    modelOnly: said('user-invocable') === 'false' || undefined,
    body: () => bodyOf(name, path, within),
  })
}

const longestDescription = 1024
const usable = /^[\w.-]{1,64}$/
const standard = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** A field's value on one line. */
function oneLineField(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(', ').replaceAll(/\s+/g, ' ').trim()
}

function bodyOf(name: string, path: string, within: string | undefined): string {
  const read = readUntrustedFile(path, longestBody, within)
  if (typeof read !== 'object') throw new Error(`The skill ${name} cannot be read: ${read ?? 'it is gone'}.`)
  const rest = read.bytes > longestBody ? `\n[cut here: the rest is in ${path}]` : ''
  const text = frontmatter(read.text)?.body ?? read.text
  return tag('skill', ` name="${name}" folder="${attribute(dirname(path))}"`, `${text}${rest}`)
}

/** A loaded skill as a guide: no trim cuts it and no summary replaces it. */
export function skillGuide({ name, body }: Pick<Skill, 'name' | 'body'>): Guide {
  return { type: 'guide', name: `skill:${name}`, text: body() }
}

/** The slash commands that load a skill, without their slash: its trigger, if that is one word, and its name. */
export function commandsOf({ name, trigger, modelOnly }: Pick<Skill, 'name' | 'trigger' | 'modelOnly'>): string[] {
  if (modelOnly) return []
  const words = [trigger ?? '', name].flatMap((one) => /^\/?([\w-]+)$/.exec(one)?.[1] ?? [])
  return [...new Set(words)]
}

/** The most characters that the list of skills may take in every request. */
const longestList = 8 * 1024

const usage =
  'Instructions for special tasks. When a task clearly matches one that is not loaded yet, load it with load_skill first; a loaded skill comes before general instructions.'

/** The list of skills for the model: names, descriptions and triggers; a long list has shorter descriptions. */
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

/** A prompt that asks for a skill in a form that any agent understands. */
export function skillPrompt(name: string, request: string): string {
  return `Use the skill ${name}: ${request.trim()}`
}

/** The skill that a prompt asks for, in this form or with a slash command: it is loaded before the model asks for it. */
export function requestedSkill(prompt: string, skills: readonly Skill[]): Skill | undefined {
  const name = /^Use the skill ([\w.-]+):(?:\s|$)/.exec(prompt)?.[1]
  if (name !== undefined) return skills.find((skill) => skill.name === name)
  const command = /^\/([\w-]+)(?:\s|$)/.exec(prompt)?.[1]
  return command === undefined ? undefined : skills.find((skill) => commandsOf(skill).includes(command))
}
