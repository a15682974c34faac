import type { Profile } from '../../core/work/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { FoundHub } from './hub.ts'
import type { Wishes } from './preflight.ts'
import type { Session, SessionState } from './session.ts'
import type { Wiring } from './wiring.ts'
import type { Workflow } from './workflow.ts'
import { collect } from '../../base/collect.ts'
import { withoutGit } from '../../base/git.ts'
import { newId } from '../../base/id.ts'
import { isAlive, ownerMark, ownerPid } from '../../base/owner.ts'
import { say, UsageError } from '../../core/io.ts'
import { readSettings } from '../../settings/settings.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { findHub } from './hub.ts'
import { agentNamed, readyToStart, workspaceAt } from './preflight.ts'
import { scan } from './scan.ts'
import { latestSession } from './session.ts'
import { findWorkflow, usualWorkflow } from './workflow.ts'

export type AgentWishes = Wishes & {
  start?: string
  as?: string
  resume: boolean
  server?: string
  tmux: boolean
  here: boolean
  leash?: string
  capabilities: readonly string[]
}

/** Everything that is known before anything is started. */
export type Plan = {
  place: Place
  settings: Settings
  agent: AgentSettings
  profile: Profile | undefined
  leash: Leash
  workflow: Workflow
  hub: FoundHub
  /** As another run left it, or as this one begins it. */
  state: SessionState
  resumed: boolean
}

export type Ready = Plan & { session: Session; wiring: Wiring | undefined }

/** Looks whether everything is there, asks for what is not, and says what is wrong. */
export async function preflight(io: Io, wishes: AgentWishes): Promise<Plan> {
  const place = await workspaceAt(io, wishes)
  const overrides = { env: io.env, ...(wishes.leash === undefined ? {} : { leash: wishes.leash }) }
  const settings = await readSettings({ home: place.home, project: place.root }, overrides)
  for (const words of settings.warnings) say(io, `termaite: ${words}`)
  const before = wishes.resume ? await sessionBefore(io, place, wishes.start) : undefined
  const agent = agentNamed(io, settings, wishes.start ?? before?.agent)
  await readyToStart(io, place, agent, wishes)
  const workflow = await findWorkflow(io, place, wishes.as ?? before?.workflow ?? usualWorkflow, wishes)
  const found = scan(io, place)
  for (const words of found.plain) say(io, `termaite: ${words}; whoever can read that file can use it.`)
  const { server } = wishes
  const hub = await findHub(io, place, settings, { ...wishes, wired: found.hubs, ...(server ? { server } : {}) })
  const leash = agent.leash ?? settings.leash
  const state = before ?? freshState(io, place, agent, { workflow: workflow.name, tmux: wishes.tmux })
  return {
    place,
    settings,
    agent,
    profile: profileOf(agent),
    leash,
    workflow,
    hub,
    state,
    resumed: before !== undefined,
  }
}

async function sessionBefore(io: Io, { root }: Place, agent: string | undefined): Promise<SessionState | undefined> {
  const { state, warnings } = latestSession(root, agent, await trackedSessions(io, root))
  for (const words of warnings) say(io, `termaite: ${words}`)
  if (!state) return void say(io, 'termaite: there is no session to resume; a fresh one begins.')
  if (state.owner !== '' && state.owner !== ownerMark() && isAlive(state.owner))
    throw new UsageError(`--resume: ${state.agent} is at work already, in process ${ownerPid(state.owner)}.`, 1)
  return { ...state, owner: ownerMark() }
}

/** Sessions that git knows came from somebody else. */
async function trackedSessions(io: Io, root: string): Promise<Set<string>> {
  const args = ['ls-files', '-z', '--', '.termaite/sessions']
  const { code, out } = await collect('git', args, { cwd: root, env: withoutGit(io.env) })
  return new Set(
    code === 0
      ? out
          .toString()
          .split('\0')
          .map((path) => path.split('/')[2] ?? '')
      : [],
  )
}

function freshState(
  io: Io,
  { cwd }: Place,
  { name }: AgentSettings,
  { workflow, tmux }: { workflow: string; tmux: boolean },
): SessionState {
  const id = newId(io.clock.now())
  return {
    id,
    agent: name,
    workflow,
    lastOutput: '',
    timestamp: '',
    hubId: `${name}-${id.slice(-6)}`,
    terminal: crypto.randomUUID(),
    host: tmux ? 'tmux' : 'pty',
    cwd,
    tokens: 0,
    owner: ownerMark(),
  }
}
