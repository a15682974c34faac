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
  if (values.slot !== undefined) return slot(io, wishes, Number(values.slot))
  const plan = await preflight(io, wishes)
  const { place, profile, hub, state } = plan
  const folder = join(sessionsIn(place.root), state.id)
  const keyFile = join(folder, 'agent-key')
  // A CLI that is resumed was wired, if it was, by the same words: they are made anew.
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

/** Says, before an agent starts that nobody watches, what its leash makes it wait for or fail at. */
function stopWords({ agent, leash, state }: SupervisionPlan, io: Io): string[] {
  const attended = io.in.isTTY === true && io.out.isTTY === true && state.host === 'pty'
  if (attended) return []
  if (leash === 'read') return ['may only read (leash read): a task that changes files will fail. Use --leash edit.']
  if (leash !== 'ask') return []
  return [
    'asks before it edits a file or runs a command (leash ask), and waits at each question until somebody answers it.',
    'shows its questions in: termaite task list. Answer one with: termaite task answer <id> <number>',
    `works without these questions with: termaite agent --start=${agent.name} --leash edit`,
  ]
}

/** An agent that is in a terminal already: nothing is started, and it only needs its work. */
async function slot(io: Io, wishes: AgentOptions, id: number): Promise<number> {
  if (!Number.isInteger(id)) throw new UsageError('--slot: allowed: the number of a slot; `termaite crew` shows them.')
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

/** What would be done. */
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
    ['tools', how ?? 'no tools of the hub'],
    ['works in', state.here ? place.cwd : 'a worktree of its own'],
    ['terminal', state.host === 'tmux' ? 'a tmux window, which stays open when termaite ends' : 'this one'],
    ['session', resumed ? `${state.id}, of ${state.timestamp}` : 'a fresh one'],
  ])
}
