import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { AgentOptions, SupervisionPlan } from '../../../supervise/agent/preflight.ts'
import type { KeySource } from '../../../hub/client/hub-key-source.ts'
import type { LinkWishes } from '../../../hub/server/link/link-offers.ts'
import type { LinkNews } from '../../../hub/server/link/machine-link.ts'
import type { Settings } from '../../../settings/settings.ts'
import { join, resolve } from 'node:path'
import { defined } from '../../../base/defined.ts'
import { messageOf } from '../../../base/error-message.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { placeOf } from '../../../home/place.ts'
import { noteProcess } from '../../../border/running-processes.ts'
import { readSettings } from '../../../settings/settings.ts'
import { findHub, scanSettings } from '../../../supervise/agent/hub-discovery.ts'
import { openWorkPlace } from '../../../supervise/agent/supervised-agent.ts'
import { preflight } from '../../../supervise/agent/preflight.ts'
import { AgentKey } from '../../../hub/server/agent-key.ts'
import { machineNameOf } from '../../../hub/client/machine-identity.ts'
import { offeredWords, offersOf } from '../../../hub/server/link/link-offers.ts'
import { keepAtWork } from '../../agent/supervised-run.ts'
import { SupervisedSession, sessionsIn } from '../../../crew/machine/supervised-session.ts'
import { workOnHubTasks } from '../../../supervise/agent/slot-tasks.ts'
import { wire } from '../../../supervise/agent/hub-wiring.ts'
import { table } from '../../../base/text/table.ts'

export async function run(given: Io, { values, words }: Parsed): Promise<number> {
  const io = { ...given, env: { ...given.env, ...hubVariables(given, values) } }
  if (words.length > 0) {
    const { joinOrLeave } = await import('./agent-join.ts')
    return joinOrLeave(io, { values, words })
  }
  const wishes = wishesOf(values)
  if (values.slot !== undefined) return slot(io, wishes, String(values.slot), linkWishesOf(values))
  const plan = await preflight(io, wishes)
  try {
    return await begin(io, plan, wishes, defined({ ...linkWishesOf(values), machineName: plan.machineName }))
  } finally {
    plan.resumed?.release()
  }
}

/** Starts the agent of a plan and keeps it at work, or prints the plan. */
async function begin(io: Io, plan: SupervisionPlan, wishes: AgentOptions, linkWishes: LinkWishes): Promise<number> {
  const { place, profile, hub, state } = plan
  // A wrong option is reported before anything starts.
  offersOf(linkWishes, plan.settings)
  const folder = join(sessionsIn(place.root), state.id)
  const keyFile = join(folder, 'agent-key')
  // A resumed CLI gets the same arguments and settings that connected it to the hub before.
  const wiring = profile?.screen ? await wire(io, profile, hub, { ...wishes, folder, keyFile }) : undefined
  if (wishes.dry) {
    print(io, printedPlan(plan, wiring?.how))
    return 0
  }
  const { cwd, worktree, workspace, notes, isRemade = false } = await openWorkPlace(io, plan)
  for (const words of notes) say(io, `${plan.agent.name}: ${words}`)
  for (const words of stopWords(plan, io)) say(io, `${plan.agent.name}: ${words}`)
  const session = new SupervisedSession(place.root, { ...state, cwd, worktree }, io.clock)
  const hubKey = new AgentKey({ place: hub.now, name: state.hubId, file: keyFile, clock: io.clock })
  const terminal = { id: session.state.terminal, agent: plan.agent.name, root: place.root }
  const unnote = noteProcess(place.home, { process: 'agent', project: cwd, about: state.hubId, terminal }, io.clock)
  const linked = new AbortController()
  const link = keepLink(io, { hub, hubKey, settings: plan.settings, wishes: linkWishes }, linked.signal)
  try {
    return await keepAtWork(
      io,
      { ...plan, session, wiring, hubKey },
      {
        workspace,
        isRemade,
        capabilities: plan.capabilities,
        machine: machineNameOf(plan.machineName ?? plan.settings.link.name),
      },
    )
  } finally {
    linked.abort()
    await link
    await hubKey.end()
    unnote()
  }
}

/**
 * The files of --key-file and --ca, turned into the variables that name them everywhere else, for this process and the agent's own
 * programs.
 */
function hubVariables({ cwd, env }: Io, values: Parsed['values']): Io['env'] {
  const file = (name: string) => (typeof values[name] === 'string' ? resolve(cwd, values[name]) : undefined)
  const [key, ca] = [file('key-file'), file('ca')]
  if (key !== undefined && env.TERMAITE_HUB_KEY !== undefined)
    throw new UsageError(
      '--key-file: the variable TERMAITE_HUB_KEY holds a key too. Unset it, or leave --key-file out.',
    )
  return defined({ TERMAITE_HUB_KEY_FILE: key, TERMAITE_HUB_CA: ca })
}

type AgentLink = { hub: SupervisionPlan['hub']; hubKey: KeySource; settings: Settings; wishes: LinkWishes }

/**
 * Links this machine to a hub elsewhere while the agent runs. A hub on this machine needs no link, so with a hub at a loopback address
 * this only happens if the person specifies the machine's offers, because a tunnel may lead elsewhere. An agent also works without a
 * link.
 */
async function keepLink(io: Io, { hub, hubKey, settings, wishes }: AgentLink, signal: AbortSignal): Promise<void> {
  const { isHere, keepMachineLink } = await import('../../../hub/server/link/kept-link.ts')
  const isWished = wishes.offer !== undefined || settings.link.offer !== undefined
  if (isHere(hub.now().url) && !isWished) return
  const tell = (news: LinkNews, words: string) => {
    if (news === 'linked') say(io, `${words} ${offeredWords('this machine', offersOf(wishes, settings))}`)
    // If the hub is unreachable, the agent itself reports that.
    else if (news === 'refused') say(io, `termaite: ${words}`)
  }
  await keepMachineLink(io, { url: () => hub.now().url, key: hubKey, settings, wishes, tell }, signal).catch(
    (error: unknown) => say(io, `termaite: this machine is not linked to the hub: ${messageOf(error)}`),
  )
}

function linkWishesOf({ offer, 'machine-name': machineName }: Parsed['values']): LinkWishes {
  return defined({
    offer: typeof offer === 'string' ? offer : undefined,
    machineName: typeof machineName === 'string' ? machineName : undefined,
  })
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
async function slot(io: Io, wishes: AgentOptions, typed: string, { machineName }: LinkWishes): Promise<number> {
  const id = Number(typed)
  if (!Number.isInteger(id))
    throw new UsageError(`--slot: found "${typed}", allowed: the number of a slot. \`termaite crew\` lists the slots.`)
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home }, { env: io.env })
  const hub = await findHub(io, place, settings, { ...wishes, wired: scanSettings(io, place).hubs })
  const unnote = noteProcess(place.home, { process: 'agent', project: place.cwd, about: `slot ${id}` }, io.clock)
  try {
    const { capabilities, push } = wishes
    return await workOnHubTasks(io, place, defined({ slot: id, hub, capabilities, push, machineName }))
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
    ...linkWishesOf(values),
    resume: values.resume === true,
    tmux: values.tmux === true,
    here: values.here === true,
    push: values.push === true,
    clone: values.clone === true,
    yes: values.yes === true,
    dry: values['dry-run'] === true,
    capabilities: Array.isArray(values.capability) ? values.capability : [],
  }
}

/** The plan that --dry-run prints. */
function printedPlan(plan: SupervisionPlan, how?: string) {
  const { place, agent, profile, leash, workflow, hub, state, resumed, clones } = plan
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
    [
      'works in',
      clones ? `a worktree for each task below ${place.root}` : state.here ? place.cwd : 'a new git worktree',
    ],
    ...(clones ? [['may clone', clones.join(', ')]] : []),
    ['terminal', state.host === 'tmux' ? 'a tmux window, which stays open when termaite ends' : 'this one'],
    ['session', resumed ? `${state.id}, from ${state.timestamp}` : 'a new one'],
  ])
}
