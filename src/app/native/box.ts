import type { Tool } from '../../core/work/tool.ts'
import type { ToolSet } from '../../tools/all.ts'
import type { Skill } from '../../tools/parts.ts'
import type { Box, Consult, NativeParts } from './parts.ts'
import { isSecretName } from '../../safety/secret-files.ts'
import { nativeTools } from '../../tools/all.ts'
import { apart } from './apart.ts'
import { wallsOf } from './walls.ts'

/** The tools of one agent, as long as the run lasts: they remember what was read. */
export function boxOf(name: string, parts: NativeParts): Box {
  const { boxes } = parts.lasting
  const known = boxes.get(name)
  if (known) return known
  let consult: Consult | undefined
  const skills: Skill[] = []
  const made: Box = {
    box: toolsIn(name, parts, skills, async (task, call) => {
      if (!consult) throw new Error('nobody is there to take it')
      return consult(task, call)
    }),
    use(next, now) {
      consult = next
      skills.splice(0, Infinity, ...now)
    },
  }
  boxes.set(name, made)
  return made
}

type Unlisted = { unlisted?: true }

/** Those that a model may load by itself. */
export const listed = <S extends Unlisted>(skills: readonly S[]) => skills.filter(({ unlisted }) => !unlisted)

/** What goes into a frame: nobody is offered to load a skill where there is none. */
export function offered(tools: readonly Tool[], skills: readonly Unlisted[]): Tool[] {
  return listed(skills).length > 0 ? [...tools] : tools.filter(({ name }) => name !== 'load_skill')
}

/** Fresh tools; without `consult` there is no subagent among them. */
export function toolsIn(name: string, parts: NativeParts, skills: readonly Skill[], consult?: Consult): ToolSet {
  const { root, clock, blobs, mask, lasting } = parts
  const walls = wallsOf(name, parts)
  const sandboxed = apart(parts)
  const made = nativeTools({
    root,
    env: walls.env,
    clock,
    blobs,
    mask,
    skills,
    hides: isSecretName,
    ...(consult ? { consult } : {}),
    ...(sandboxed ? { sandboxed } : {}),
    shell: walls.shell,
    // Read when it is needed: the settings may change while the tools last.
    get web() {
      return lasting.held.get(name)?.settings.web ?? {}
    },
  })
  return { ...made, tools: made.tools.map(walls.told) }
}
