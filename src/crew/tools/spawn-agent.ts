import type { Shape } from '../../core/data/shape.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { resolve } from 'node:path'
import { isWithin, realOrSame } from '../../base/files/real-path.ts'
import { plainPrompt } from '../../core/talk/plain-prompt.ts'
import { leashes, tighter } from '../../core/work/agent.ts'
import { about, boolean, either, list, oneOf, optional, parser, string } from '../../core/data/shape.ts'
import { CrewError, stateWords } from '../slot.ts'
import { crewTool, seconds, slot, workspace } from './crew-desk.ts'
import { objectOf, slotSchema, stateSchema, textSchema } from './slot-view.ts'

const output = objectOf({ slot: slotSchema, workspace: textSchema, agent_type: textSchema, state: stateSchema })

export function spawnAgent(desk: CrewDesk): Tool {
  const agents = desk.agents()
  const names = agents.map(({ name, description }) => (description ? `${name} (${description})` : name)).join(', ')
  const wish = <T>(description: string, field: Shape<T>) => optional(about(description, field))
  const input = parser({
    agent_type: wish(`Which agent: ${names === '' ? 'none is set up' : names}.`, string()),
    type: wish('The same as agent_type.', string()),
    task: wish(
      'The first prompt. {{slot_N.output}} is replaced by the answer of slot N if depends_on names N.',
      string(),
    ),
    cwd: wish('The folder the agent works in. Default: this project.', string()),
    model: wish("The model, by the name that the agent's CLI uses.", string()),
    spawn_mode: wish('Open a new terminal window, or a pane in the current one.', oneOf('window', 'pane')),
    depends_on: wish('Slots that must have finished first; until then the agent waits (state held).', list(slot)),
    depends_on_timeout: wish(
      'How many seconds after this call the dependencies must have finished at the latest; else the agent fails. Default 300.',
      seconds,
    ),
    worktree: wish(
      'Work in a new git worktree made from HEAD: true, or a name for the worktree and its branch.',
      either(boolean(), string()),
    ),
    leash: wish(
      'How much the agent may do: read only, ask before acting, edit files, or everything.',
      oneOf(...leashes),
    ),
    workspace,
  })
  return crewTool({
    name: 'spawn_agent',
    description:
      'Start an agent in its own terminal and give it a task. Returns the slot number at once; call wait_for_idle to wait until the agent has finished, and get_artifact for its answer. With depends_on, the agent starts when those slots have finished.',
    schema: input.schema,
    output,
    risk: 'run',
    parse: input.parse,
    async run(wishes) {
      const agent = wishes.agent_type ?? wishes.type
      if (agent === undefined) throw new CrewError(`agent_type is missing. Agents: ${names}.`)
      const crew = desk.crew(wishes.workspace)
      const cwd = resolve(desk.cwd, wishes.cwd ?? '.')
      if (desk.within !== undefined && !isWithin(desk.within, realOrSame(cwd)))
        throw new CrewError(
          `cwd: ${cwd} is outside ${desk.within}. You run in a sandbox, and the agents that you start work in the same project.`,
        )
      const made = await crew.spawn({
        agent,
        task: wishes.task && (desk.person ? wishes.task : plainPrompt(wishes.task)),
        cwd,
        within: desk.within,
        // The slot outlives this process: another process that takes the slot must not read a looser leash from it.
        leash: tighter(wishes.leash ?? desk.leash, desk.leash),
        allowed: desk.person && desk.within === undefined ? wishes.leash : undefined,
        model: wishes.model,
        mode: wishes.spawn_mode,
        path: desk.path,
        dependsOn: wishes.depends_on,
        dependsOnTimeoutMs: wishes.depends_on_timeout && wishes.depends_on_timeout * 1000,
        worktree: wishes.worktree,
      })
      const data = { slot: made.id, workspace: crew.workspace, agent_type: agent, state: made.state }
      return { text: `slot ${made.id}: ${agent}, ${stateWords(made)}`, data }
    },
  })
}
