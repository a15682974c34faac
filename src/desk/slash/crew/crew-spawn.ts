import type { CommandWorld } from '../../../core/talk/command.ts'
import type { OpenCrew, Crews } from '../../../crew/machine/crews.ts'
import type { Io } from '../../../core/io.ts'
import type { Place } from '../../../home/place.ts'
import type { Settings } from '../../../settings/settings.ts'
import { noAgentForCrew } from '../../../crew/machine/crew-roster.ts'
import { leashes } from '../../../core/work/agent.ts'
import { UsageError } from '../../../core/io.ts'
import { choose } from '../shared/choice.ts'

/** The flags of `termaite crew spawn` that the chat has too; those without a value are switches. */
const flags = {
  leash: true,
  model: true,
  'spawn-mode': true,
  'depends-on': true,
  'depends-on-timeout': true,
  worktree: false,
  'worktree-name': true,
}

type Flag = keyof typeof flags

/** The words behind /crew spawn: the agent, flags, and everything after them as the task. */
export function spawnWish(typed: string): {
  agent?: string
  task: string
  values: Partial<Record<Flag, string | boolean>>
} {
  const values: Partial<Record<Flag, string | boolean>> = {}
  let agent: string | undefined
  let rest = typed.trim()
  const next = () => {
    const [, word = '', after = ''] = /^(\S*)\s*([^]*)$/.exec(rest)!
    rest = after
    return word
  }
  while (rest !== '' && (agent === undefined || rest.startsWith('--'))) {
    const word = next()
    // Everything after two dashes is the task.
    if (word === '--') break
    if (!word.startsWith('--')) {
      agent = word
      continue
    }
    const [, name = '', given] = /^--([^=]*)(?:=([^]*))?$/.exec(word)!
    if (!Object.hasOwn(flags, name))
      throw new UsageError(`/crew spawn: there is no flag --${name}; there are --${Object.keys(flags).join(', --')}.`)
    const value = flags[name as Flag] ? (given ?? next()) : true
    if (value === '') throw new UsageError(`/crew spawn: --${name} needs a value.`)
    if (name === 'leash' && !(leashes as readonly unknown[]).includes(value))
      throw new UsageError(`--leash: found "${String(value)}", allowed: ${leashes.join(', ')}.`)
    values[name as Flag] = value
  }
  return { ...(agent === undefined ? {} : { agent }), task: rest, values }
}

/** Starts an agent of the crew as the command line does; without a name, a card lists the agents. Returns whether one was started. */
export async function spawnAgent(
  parts: { io: Io; place: Place; settings: Settings; crews: Crews; open: OpenCrew },
  typed: string,
  world: CommandWorld,
): Promise<boolean> {
  const { agent: named, task, values } = spawnWish(typed)
  const names = parts.open.parts.names()
  if (named === undefined && names.length === 0) throw new UsageError(noAgentForCrew(parts.settings))
  const options = names.map((name) => ({ id: name, label: name }))
  const agent = named ?? (await choose(world, 'Which agent should join the crew?', options))
  if (agent === undefined) return false
  const { callVerb } = await import('../../crew/crew-call.ts')
  const { text, data } = await callVerb(parts, 'spawn', [agent, ...(task === '' ? [] : [task])], values)
  world.say(
    `Started ${text}. /crew read ${String(data.slot)} shows its screen, /crew attach ${String(data.slot)} opens it.`,
    'note',
  )
  return true
}
