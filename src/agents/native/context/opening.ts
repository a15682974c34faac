import type { SystemParts } from '../prompt/system.ts'
import type { Skill } from '../skills/skill.ts'
import type { UserSubagent } from '../subagents/user.ts'
import type { Telling, Told } from './changed.ts'
import type { InstructionFile } from './instructions.ts'
import type { Ground } from './places.ts'
import { shortHash } from '../../../base/hash.ts'
import { systemText } from '../prompt/system.ts'
import { findSkills } from '../skills/find.ts'
import { skillLine, skillList } from '../skills/list.ts'
import { subagentList, userSubagents } from '../subagents/user.ts'
import { changedSince } from './changed.ts'
import { fileText, readInstructions } from './instructions.ts'

export type OpeningParts = Pick<SystemParts, 'mode' | 'date' | 'system' | 'meta' | 'role'>

/** What a session begins with: the text to freeze, what it told of what, and what can be called on from then on. */
export type Opening = {
  system: string
  told: Told[]
  skills: Skill[]
  subagents: UserSubagent[]
  warnings: string[]
}

export function opening(ground: Ground, parts: OpeningParts): Opening {
  const instructions = readInstructions(ground)
  const found = findSkills(ground)
  // Only the agent itself hands work on.
  const own = parts.mode === 'agent' ? userSubagents(ground.home) : { subagents: [], warnings: [] }
  const system = systemText({
    ...parts,
    cwd: ground.cwd,
    instructions: instructions.text,
    skills: skillList(found.skills),
    subagents: subagentList(own.subagents),
  })
  return {
    system,
    told: tellings(instructions.files, found.skills).map(({ about, hash }) => ({ about, hash })),
    skills: found.skills,
    subagents: own.subagents,
    warnings: [...instructions.warnings, ...found.warnings, ...own.warnings],
  }
}

/** What has changed since the model was told: each is appended as a message, and told from then on. */
export function changes(ground: Ground, told: readonly Told[]): Telling[] {
  return changedSince(told, tellings(readInstructions(ground).files, findSkills(ground).skills))
}

function tellings(files: readonly InstructionFile[], skills: readonly Skill[]): Telling[] {
  return [
    ...files.map((file) => telling(file.path, `Instructions as they are now:\n${fileText(file)}`)),
    ...skills
      .filter(({ unlisted }) => !unlisted)
      .map((skill) => telling(`skill ${skill.name}`, `A skill as it is now:\n${skillLine(skill)}`)),
  ]
}

const telling = (about: string, text: string): Telling => ({ about, hash: shortHash(text), text })
