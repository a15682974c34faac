import type { SystemParts } from '../prompt/system.ts'
import type { Skill } from '../skills/skill.ts'
import type { UserSubagent } from '../subagents/user.ts'
import type { Told } from './changed.ts'
import type { Ground } from './places.ts'
import { systemText } from '../prompt/system.ts'
import { findSkills } from '../skills/find.ts'
import { skillList } from '../skills/list.ts'
import { subagentList, userSubagents } from '../subagents/user.ts'
import { toldOf } from './changed.ts'
import { readInstructions } from './instructions.ts'

export type OpeningParts = Pick<SystemParts, 'mode' | 'date' | 'system' | 'meta' | 'role'>

/** What a session begins with: the text to freeze, what it told of which file, and what can be called on from then on. */
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
    told: toldOf(instructions.files),
    skills: found.skills,
    subagents: own.subagents,
    warnings: [...instructions.warnings, ...found.warnings, ...own.warnings],
  }
}
