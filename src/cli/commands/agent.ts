import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { AgentOptions, SupervisionPlan } from '../../app/supervision/preflight.ts'
import { join } from 'node:path'
import { print, say, UsageError } from '../../core/io.ts'
import { placeOf } from '../../app/place.ts'
import { noteProcess } from '../../app/running-processes.ts'
import { readSettings } from '../../settings/settings.ts'
import { findHub, scanSettings } from '../../app/supervision/hub-discovery.ts'
import { openWorkPlace } from '../../app/supervision/supervised-agent.ts'
import { preflight } from '../../app/supervision/preflight.ts'
import { AgentKey } from '../../app/hub/agent-key.ts'
import { keepAtWork } from '../agent/supervised-run.ts'
import { SupervisedSession, sessionsIn } from '../../app/supervision/supervised-session.ts'
import { workOnHubTasks } from '../../app/supervision/slot-tasks.ts'
import { wire } from '../../app/supervision/hub-wiring.ts'
import { table } from '../../base/table.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const wishes = wishesOf(values)
  if (values.slot !== undefined) return slot(io, wishes, String(values.slot))
  const plan = await preflight(io, wishes)
  const { place, profile, hub, state } = plan
  const folder = join(sessionsIn(place.root), state.id)
  const keyFile = join(folder, 'agent-key')
  // A resumed CLI gets the same arguments and settings again that connected it to the hub before.
  const wiring = profile?.screen ? await wire(io, profile, hub, { ...wishes, folder, keyFile }) : undefined
  if (wishes.dry) {
    print(io, planned(plan, wiring?.how))
    return 0
  }
  const { cwd, worktree, workspace, notes } = await openWorkPlace(io, plan)
  for (const words of notes) say(io, `${plan.agent.name}: ${words}`)
  for (const words of stopWords(plan, io)) say(io, `${plan.agent.name}: ${words}`)
  const session = new SupervisedSession(place.root, { ...state, cwd, worktree }, io.clock)
  const hubKey = new AgentKey({ place: hub.now, name: state.hubId, file: keyFile, clock: io.clock })
  const unnote = noteProcess(place.home, { process: 'agent', project: cwd, about: state.hubId }, io.clock)
  try {
    return await keepAtWork(io, { ...plan, session, wiring, hubKey }, { workspace, capabilities: wishes.capabilities })
  } finally {
    await hubKey.end()
    unnote()
  }
}

/** Warns before an unattended agent starts: at leash `ask` it will wait for answers, at leash `read` its changes will fail. */
function stopWords({ agent, leash, state }: SupervisionPlan, io: Io): string[] {
  const attended = io.in.isTTY === true && io.out.isTTY === true && state.host === 'pty'
  if (attended) return []
  if (leash === 'read') return ['may only read (leash read): a task that changes files will fail. Use --leash edit.']
  if (leash !== 'ask') return []
  return [
    'asks before it edits a file or runs a command (leash ask), and waits at each question until somebody answers it.',
    'lists its questions in: termaite task list. Answer one with: termaite task answer <id> <number>',
    `does not ask when it is started with: termaite agent --start=${agent.name} --leash edit`,
  ]
}

/** Gives the hub's tasks to an agent that already runs in a slot of the crew. */
async function slot(io: Io, wishes: AgentOptions, typed: string): Promise<number> {
  const id = Number(typed)
  if (!Number.isInteger(id))
    throw new UsageError(`--slot: found "${typed}", allowed: the number of a slot. \`termaite crew\` lists the slots.`)
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home }, { env: io.env })
  const hub = await findHub(io, place, settings, { ...wishes, wired: scanSettings(io, place).hubs })
  const unnote = noteProcess(place.home, { process: 'agent', project: place.cwd, about: `slot ${id}` }, io.clock)
  try {
    return await workOnHubTasks(io, place, { slot: id, hub, capabilities: wishes.capabilities })
  } finally {
    unnote()
  }
}

function wishesOf(values: Parsed['values']): AgentOptions {
  const text = (name: string) => (typeof values[name] === 'string' ? { [name]: values[name] } : {})
  return {
    ...text('start'),
    ...text('as'),
    ...text('server'),
    ...text('leash'),
    resume: values.resume === true,
    tmux: values.tmux === true,
    here: values.here === true,
    yes: values.yes === true,
    dry: values['dry-run'] === true,
    capabilities: Array.isArray(values.capability) ? values.capability : [],
  }
}

/** The plan that --dry-run prints. */
function planned({ place, agent, profile, leash, workflow, hub, state, resumed }: SupervisionPlan, how?: string) {
  const { cliSession: resume } = state
  const command = profile?.screen?.command({ leash, ...(resume === undefined ? {} : { resume }) })
  const hubWords = `${hub.place.url}${hub.caller ? '' : ', not running yet'}`
  return table([
    ['workspace', place.root],
    ['agent', `${agent.name}${profile ? ` (${profile.title})` : ''}, leash ${leash}`],
    ['command', (agent.kind === 'native' ? undefined : agent.command) ?? command ?? 'termaite’s own chat'],
    ['workflow', `${workflow.name}, ${workflow.from}`],
    ['hub', `${hubWords}; known there as ${state.hubId}`],
    ['hub tools', how ?? 'none'],
    ['works in', state.here ? place.cwd : 'a new git worktree'],
    ['terminal', state.host === 'tmux' ? 'a tmux window, which stays open when termaite ends' : 'this one'],
    ['session', resumed ? `${state.id}, from ${state.timestamp}` : 'a new one'],
  ])
}
