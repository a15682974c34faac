import type { Shape } from '../../core/work/shape.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './desk.ts'
import { resolve } from 'node:path'
import { leashes } from '../../core/work/agent.ts'
import { CrewError } from '../error.ts'
import { seconds, slot, workspace } from './desk.ts'
import { about, boolean, either, list, oneOf, optional, parser, string } from '../../core/work/shape.ts'
import { objectOf, slotSchema, stateSchema, textSchema } from './shown.ts'

const output = objectOf({ slot: slotSchema, workspace: textSchema, agent_type: textSchema, state: stateSchema })

export function spawnAgent(desk: CrewDesk): Tool {
  const agents = desk.agents()
  const names = agents.map(({ name, description }) => (description ? `${name} (${description})` : name)).join(', ')
  const wish = <T>(description: string, field: Shape<T>) => optional(about(description, field))
  const input = parser({
    agent_type: wish(`Which agent: ${names === '' ? 'none is set up' : names}.`, string()),
    type: wish('The same as agent_type.', string()),
    task: wish(
      'Its first prompt; {{slot_N.output}} is replaced by the answer of slot N, if depends_on names N.',
      string(),
    ),
    cwd: wish('Folder it works in; default: this project.', string()),
    model: wish('Model for it, in the words of its CLI.', string()),
    spawn_mode: wish('A terminal window of its own, or a pane of the current one.', oneOf('window', 'pane')),
    depends_on: wish('Slots that must be idle first; until then the spawn is held.', list(slot)),
    depends_on_timeout: wish(
      'Seconds to be held at most; stands still while a dependency is at work. Default 300.',
      seconds,
    ),
    worktree: wish(
      'Work in a new git worktree from HEAD; true, or a name for it and its branch.',
      either(boolean(), string()),
    ),
    leash: wish('How much it may do: look only, ask before acting, edit files, everything.', oneOf(...leashes)),
    workspace,
  })
  return {
    name: 'spawn_agent',
    description:
      'Start an agent in a terminal of its own and give it a task. Returns its slot number at once; wait_for_idle tells when it is done, get_artifact gives its answer. With depends_on it is held until those slots are idle.',
    schema: input.schema,
    output,
    risk: 'run',
    parse: input.parse,
    async run(raw) {
      const wishes = raw as ReturnType<typeof input.parse>
      const agent = wishes.agent_type ?? wishes.type
      if (agent === undefined) throw new CrewError(`agent_type is missing; there are ${names}.`)
      const crew = desk.crew(wishes.workspace)
      const made = await crew.spawn({
        agent,
        ...(wishes.task === undefined ? {} : { task: wishes.task }),
        cwd: resolve(desk.cwd, wishes.cwd ?? '.'),
        leash: wishes.leash ?? desk.leash,
        ...(desk.person && wishes.leash ? { allowed: wishes.leash } : {}),
        ...(wishes.model === undefined ? {} : { model: wishes.model }),
        ...(wishes.spawn_mode === undefined ? {} : { mode: wishes.spawn_mode }),
        ...(wishes.depends_on === undefined ? {} : { dependsOn: wishes.depends_on }),
        ...(wishes.depends_on_timeout === undefined ? {} : { dependsOnTimeoutMs: wishes.depends_on_timeout * 1000 }),
        ...(wishes.worktree === undefined ? {} : { worktree: wishes.worktree }),
      })
      const data = { slot: made.id, workspace: crew.workspace, agent_type: agent, state: made.state }
      const held = made.state === 'held' ? `, held until slot ${made.needs.join(', ')} is idle` : ''
      return { text: `slot ${made.id}: ${agent} ${made.state}${held}`, data }
    },
  }
}
