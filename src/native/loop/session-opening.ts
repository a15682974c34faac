import type { Skill } from './skill.ts'
import type { Subagent } from './subagent-files.ts'
import type { ContextItem } from './context-changes.ts'
import type { InstructionFile, SessionPlace } from './instructions.ts'
import { shortHash } from '../../base/hash.ts'
import { findSkills } from './skill-search.ts'
import { skillLine, skillList } from './skill.ts'
import { findSubagents, subagentLine, subagentList } from './subagent-files.ts'
import { fileText, readInstructions } from './instructions.ts'
import { tag } from '../../core/talk/transcript.ts'
import { sourceText } from '../../base/source-text.ts'

type OpeningParts = Pick<SystemParts, 'mode' | 'date' | 'system' | 'meta' | 'role' | 'wall' | 'folders'> & {
  /** False if the session has no tool for delegating to a subagent, because it only advises. */
  delegates?: boolean
  /** False if the session has no tool for loading a skill. */
  loadsSkills?: boolean
}

/** The beginning of a session: the system text to freeze, the items in it, and the skills and subagents that it offers. */
export type Opening = {
  system: string
  /** Each item of the text, in the form in which a later change of it would be sent. */
  tells: ContextItem[]
  skills: Skill[]
  subagents: Subagent[]
  warnings: string[]
  /** Notes for the person about instruction files that are ignored. */
  untrusted?: string
}

export function opening(ground: SessionPlace, parts: OpeningParts): Opening {
  const instructions = readInstructions(ground)
  const found = findSkills(ground)
  // Plan mode and subagents do not delegate.
  const delegates = parts.mode === 'agent' && parts.delegates !== false
  const own = delegates ? findSubagents(ground) : { subagents: [], warnings: [] }
  const system = systemText({
    ...parts,
    cwd: ground.cwd,
    instructions: instructions.text,
    skills: parts.loadsSkills === false ? '' : skillList(found.skills),
    subagents: subagentList(own.subagents),
  })
  return {
    system,
    tells: [
      ...tellings(instructions.files, found.skills, own.subagents),
      ...wallTelling(parts.wall),
      ...foldersTelling(parts.folders),
    ],
    skills: found.skills,
    subagents: own.subagents,
    warnings: [...instructions.warnings, ...found.warnings, ...own.warnings],
    untrusted: instructions.untrusted,
  }
}

function tellings(
  files: readonly InstructionFile[],
  skills: readonly Skill[],
  subagents: readonly Subagent[],
): ContextItem[] {
  return [
    ...files.map((file) =>
      telling(file.path, `This instruction file has changed. Follow it as it is now:\n${fileText(file)}`),
    ),
    ...skills
      .filter(({ unlisted }) => !unlisted)
      .map((skill) =>
        // The path is included, because a session that began without skills has no tool to load one.
        telling(
          `skill ${skill.name}`,
          `This skill is new or has changed. Load it with load_skill, or read ${skill.path}:\n${skillLine(skill)}`,
        ),
      ),
    ...subagents.map((one) =>
      telling(
        `subagent ${one.name}`,
        `This subagent is new or has changed; call it with the tool subagent, through more_tools:\n${subagentLine(one)}`,
      ),
    ),
  ]
}

/** A session continues when the leash changes, and the limits on its commands change with the leash. */
function wallTelling(wall: string | undefined): ContextItem[] {
  return wall === undefined ? [] : [telling('sandbox', `The limits on your commands have changed. ${wall}`)]
}

/** The model sees the name of this item when the last added folder is removed. */
function foldersTelling(folders: string | undefined): ContextItem[] {
  if (folders === undefined) return []
  return [
    telling('the folders that were added to the project', `The folders beside the project have changed. ${folders}`),
  ]
}

const telling = (about: string, text: string): ContextItem => ({ about, hash: shortHash(text), text })

/** The kind of a session of our own agent, which determines the texts at the beginning of the session. */
export type SessionMode = 'agent' | 'plan' | 'subagent' | 'coordinator'

type SystemParts = {
  mode: SessionMode
  /** The day on which the session started, as YYYY-MM-DD; it is a parameter, so that the text stays the same in a long session. */
  date: string
  cwd: string
  /** The description of the machine. */
  system?: string
  /** The text of the instruction files. */
  instructions?: string
  skills?: string
  subagents?: string
  /** The instruction at the end of every turn. */
  meta?: string
  /** The role of a user's own subagent. */
  role?: string
  /** The limits of the commands, as one sentence. */
  wall?: string
  /** The folders that were added to the project, as text. */
  folders?: string
}

/**
 * The system text. The same parts give the same bytes, and parts that change more often come later, so that sessions of one project share
 * its beginning.
 */
export function systemText(parts: SystemParts): string {
  const { mode, date, cwd, system, instructions, skills, subagents, meta, role, wall, folders } = parts
  return [
    ...texts[mode].map(prompt),
    role ? tag('part', '', role) : '',
    meta,
    subagents,
    skills,
    instructions,
    system,
    wall,
    [`Project directory: ${cwd}`, ...(folders ? [folders] : []), `Today's date: ${date}`].join('\n'),
  ]
    .map((text) => text?.trim() ?? '')
    .filter((text) => text !== '')
    .join('\n\n')
}

const texts: Record<SessionMode, string[]> = {
  agent: ['agent', 'todos', 'conversation'],
  plan: ['planner', 'conversation'],
  subagent: ['agent', 'subagent'],
  coordinator: ['agent', 'conversation', 'coordinator'],
}

const prompt = (name: string) => sourceText(`native/loop/prompt/${name}.md`)
