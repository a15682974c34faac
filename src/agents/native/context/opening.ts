import type { SystemParts } from '../prompt/system.ts'
import type { Skill } from '../skills/skill.ts'
import type { UserSubagent } from '../subagents/user.ts'
import type { Telling } from './changed.ts'
import type { InstructionFile } from './instructions.ts'
import type { Ground } from './places.ts'
import { shortHash } from '../../../base/hash.ts'
import { systemText } from '../prompt/system.ts'
import { findSkills } from '../skills/find.ts'
import { skillLine, skillList } from '../skills/list.ts'
import { subagentLine, subagentList, userSubagents } from '../subagents/user.ts'
import { fileText, readInstructions } from './instructions.ts'

export type OpeningParts = Pick<SystemParts, 'mode' | 'date' | 'system' | 'meta' | 'role'>

/** What a session begins with: the text to freeze, what it tells of what, and what can be called on from then on. */
export type Opening = {
  system: string
  /** Each thing it tells of, as it would be told later if it changed. */
  tells: Telling[]
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
    tells: tellings(instructions.files, found.skills, own.subagents),
    skills: found.skills,
    subagents: own.subagents,
    warnings: [...instructions.warnings, ...found.warnings, ...own.warnings],
  }
}

function tellings(
  files: readonly InstructionFile[],
  skills: readonly Skill[],
  subagents: readonly UserSubagent[],
): Telling[] {
  return [
    ...files.map((file) => telling(file.path, `This binds you as it is now:\n${fileText(file)}`)),
    ...skills
      .filter(({ unlisted }) => !unlisted)
      .map((skill) =>
        // A session that began without skills has no tool for them.
        telling(`skill ${skill.name}`, `A skill as it is now, by load_skill or in ${skill.path}:\n${skillLine(skill)}`),
      ),
    ...subagents.map((one) => telling(`subagent ${one.name}`, `A subagent as it is now:\n${subagentLine(one)}`)),
  ]
}

const telling = (about: string, text: string): Telling => ({ about, hash: shortHash(text), text })
