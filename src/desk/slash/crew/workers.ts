import type { Command, CommandWorld, EarlierWork } from '../../../core/talk/command.ts'
import type { InnerWork } from '../../../core/work/inner-work.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { messageOf } from '../../../base/error-message.ts'
import { oneLine } from '../../../base/text/table.ts'
import { UsageError } from '../../../core/io.ts'
import { consentOptions } from '../../../core/talk/consent.ts'
import { roleLabel } from '../../../core/talk/framework.ts'
import { choose } from '../shared/choice.ts'

/** How many workers of earlier turns are listed. */
const mostKept = 100

const verbs = ['show', 'stop', 'attach'] as const
type Verb = (typeof verbs)[number]

/** Shows the agents that work inside the turn and those kept from earlier turns; stops one, or opens its terminal. */
export function workersCommand(controls: DeskControls): Command {
  return {
    name: 'workers',
    words: '[show|stop|attach <agent>]',
    help: 'Show the agents that work inside a turn; stop one, or go to its terminal.',
    complete: async (typed) => completions(controls, typed),
    async run(args, world) {
      const [, verb = '', role = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim())!
      if (verb === '') return listed(controls, world)
      if (!verbs.includes(verb as Verb) || role === '')
        throw new UsageError(
          `/workers: found "${oneLine(args, 60)}", allowed: ${verbs.join(', ')}, each with the name of an agent, such as /workers stop worker_1. /workers alone shows all of them.`,
        )
      if (verb === 'show') return shown(controls, role, world)
      const { name, work } = found(controls, role)
      await (verb === 'stop' ? stopped(name, work, world) : attached(controls, name, work, world))
    },
  }
}

async function completions(controls: DeskControls, typed: string): Promise<string[]> {
  const all = controls.inside().roles.flatMap((role) => [`stop ${role}`, `attach ${role}`])
  const kept = /^show\b/.test(typed) ? (await earlier(controls)).map(({ role }) => `show ${role}`) : []
  return [...verbs, ...all, ...kept].filter((words) => words.startsWith(typed.trimStart()) && words !== typed)
}

const earlier = async (controls: DeskControls): Promise<EarlierWork[]> => {
  const { keptWorkers } = await import('../../../app/coordinator/kept-workers.ts')
  return keptWorkers(controls.app(), mostKept)
}

async function listed(controls: DeskControls, world: CommandWorld): Promise<void> {
  const kept = await earlier(controls)
  const { roles } = controls.inside()
  if (kept.length === 0 && roles.length === 0 && !world.screen.board) return nothing(world)
  if (world.screen.board) return world.screen.board(kept) ? undefined : nothing(world)
  world.say(
    [
      ...kept.map(({ role, by, status, text }) => `${role} by ${by}: ${status}. ${oneLine(text, 160)}`),
      ...roles.map((role) => `${roleLabel(role)}: at work`),
    ].join('\n'),
    'note',
  )
}

const nothing = (world: CommandWorld) =>
  world.say(
    'No agent works inside a turn now, and no worker of an earlier turn is kept in this conversation. /coordinator has an agent send workers.',
    'note',
  )

async function shown(controls: DeskControls, role: string, world: CommandWorld): Promise<void> {
  const kept = await earlier(controls)
  const work = named(
    kept.map((one) => one.role),
    role,
  )
  const one = kept.find((each) => each.role === work)
  if (!one)
    throw new UsageError(
      `no worker "${oneLine(role, 60)}" is kept in this conversation. ${these(kept.map((each) => each.role))}`,
    )
  world.say(one.text, 'text')
}

/** The full name for a typed one: `worker_1` also means `worker_1 explorer`. */
const named = (known: readonly string[], typed: string): string | undefined =>
  known.find((role) => role === typed.trim() || roleLabel(role) === typed.trim()) ??
  known.find((role) => role.split(' ')[0] === typed.trim())

const these = (roles: readonly string[]) =>
  roles.length === 0
    ? 'No other one is kept either.'
    : `There are: ${roles.map((role) => oneLine(roleLabel(role), 60)).join(', ')}.`

function found(controls: DeskControls, typed: string): { name: string; work: InnerWork } {
  const inside = controls.inside()
  const role = named(inside.roles, typed)
  const work = role === undefined ? undefined : inside.get(role)
  if (role === undefined || !work)
    throw new UsageError(
      `"${oneLine(typed, 60)}" does not work inside a turn of this window. ${inside.roles.length === 0 ? 'No agent does now.' : these(inside.roles)}`,
    )
  return { name: oneLine(roleLabel(role), 60), work }
}

/** Stops an agent; asks first if its work would be lost. */
async function stopped(name: string, work: InnerWork, world: CommandWorld): Promise<void> {
  const loses = await work.loses()
  if (loses !== undefined) {
    const picked = await choose(
      world,
      `Stop ${name} (${work.agent})? ${loses}`,
      consentOptions({ once: { id: 'stop', label: 'Yes, stop it' }, no: { id: 'no', label: 'No, let it work' } }),
    )
    if (picked !== 'stop') return
  }
  try {
    await work.stop()
  } catch (error) {
    throw new UsageError(`${name} could not be stopped: ${messageOf(error)}`)
  }
}

async function attached(controls: DeskControls, name: string, work: InnerWork, world: CommandWorld): Promise<void> {
  const terminal = await work.terminal?.()
  if (!terminal) throw new UsageError(`${name} has no terminal: it works unseen. Ctrl+T shows what it does.`)
  const { attach } = await import('../../../wire/attach/attach-terminal.ts')
  const left = await world.screen.suspend(() => attach(terminal, controls.app().io))
  if (left === 'exited') world.say(`${name} has exited.`, 'note')
}
