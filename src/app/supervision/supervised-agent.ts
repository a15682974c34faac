import { hubEnv } from './hub-wiring.ts'
import type { ScreenSpec } from '../../agents/screen/screen-spec.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { OpenCli } from '../../mind/supervise/supervision.ts'
import type { Io } from '../../core/io.ts'
import type { Ready, Plan } from './preflight.ts'
import type { Conversation } from '../../core/work/conversation.ts'
import type { TaskSource, TaskWorkspace } from '../../core/work/task-source.ts'
import type { Registration } from '../../hub/hub.ts'
import type { SessionState } from './supervised-session.ts'
import { screenAgent } from '../../agents/screen/screen-agent.ts'
import { composes } from '../../agents/screen/screen-spec.ts'
import { screenParts, specOf } from '../crew/crew-roster.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { conversationOf } from '../app.ts'
import { openProject, openSession, slugOf } from '../project.ts'
import { HubClient } from '../hub/hub-client.ts'
import { hubTaskSource } from '../../hub/hub-task-source.ts'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { worktreeParts } from '../crew/crews.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { say } from '../../core/io.ts'
import { plainWorkspace, worktreeWorkspace } from '../../worktrees/task-branches.ts'

/** A task may take a night; what falls silent is seen to by whoever keeps it at work. */
const longestTurnMs = 24 * 3_600_000

/** The agent as it runs here: what its profile composes, with the hub lent to it. */
export function supervisedSpec(io: Io, { agent, settings, hub, wiring }: Ready): ScreenSpec {
  const spec = specOf(agent, settings)
  return {
    ...spec,
    ...(wiring && spec.profile ? { profile: wiring.profile } : {}),
    env: { ...hubEnv(io, hub.place), ...spec.env },
    timeoutMs: longestTurnMs,
  }
}

/** Opens it in the terminal of its session; `lives`: whether it is there already. */
export function opener(
  io: Io,
  ready: Ready,
  spec: ScreenSpec,
  host: () => Promise<TerminalHost>,
  lives: boolean,
): OpenCli {
  const { session, agent, leash } = ready
  let found = lives
  return (resume) => {
    const seat = {
      cwd: session.state.cwd,
      leash,
      terminal: { id: session.state.terminal, title: agent.name, mode: 'window' as const },
      ...(resume === undefined ? {} : { resume }),
    }
    const how = found ? 'there' : resume !== undefined && composes(spec) ? 'resumed' : 'began'
    found = false
    return { agent: screenAgent(spec, seat, screenParts(io, { host })), how }
  }
}

/**
 * A session of the project's conversation, named as the agent is at the hub: what it was told and what it said, used and
 * failed at is found there like everybody else's. Our own agent keeps its turns itself.
 */
export async function conversationAt(io: Io, { place, agent, session }: Ready): Promise<Conversation | undefined> {
  if (agent.kind === 'native') return undefined
  const store = fileStore(place.home, { clock: io.clock })
  const project = openProject(store, place.root)
  const opened = await openSession(project, { name: session.state.hubId }, io.clock)
  const conversation = conversationOf(io, project, store.blobs(`projects/${project.slug}/output`), opened)
  await conversation.settle()
  return conversation
}

export type WorkWishes = { workspace: TaskWorkspace; capabilities: readonly string[] }

/** The agent as the hub knows it, and the work that comes from there. */
export function registered(
  io: Io,
  { place, agent, profile, hub, session }: Ready,
  { workspace, capabilities, warn }: WorkWishes & { warn(words: string): void },
): TaskSource {
  const { hubId: id, workflow: role } = session.state
  const as: Registration = {
    id,
    role,
    name: profile?.title ?? agent.name,
    capabilities: [...new Set([agent.name, ...(profile ? [profile.name] : []), ...capabilities])],
    workspace: place.root,
    source: 'CLI',
  }
  const client = new HubClient(hub.place)
  // Known at the hub from the start, so that its own first words to it are heard.
  if (hub.reachable) void client.register(as).catch(() => {})
  return hubTaskSource({ hub: client, as, clock: io.clock, workspace, tell: warn })
}

export type WorkPlace = Pick<SessionState, 'cwd' | 'worktree'> & { workspace: TaskWorkspace; notes: string[] }

/** A worktree of the agent's own, made anew at its place where it is gone; the project itself where none can be. */
export async function placeOfWork(io: Io, { place, settings, agent, state }: Plan, here: boolean): Promise<WorkPlace> {
  const store = fileStore(place.home, { clock: io.clock })
  const worktrees = here ? undefined : worktreesOf(worktreeParts(io, place, settings, store, slugOf(place.root)))
  if (!worktrees) return { cwd: place.cwd, workspace: plainWorkspace, notes: [`works in ${place.cwd} itself`] }
  const { worktree: before } = state
  if (before && existsSync(before.path))
    return {
      cwd: state.cwd,
      worktree: before,
      workspace: worktreeWorkspace(io, place.root, before, worktrees),
      notes: [],
    }
  try {
    const name = before ? basename(before.path) : `agent-${agent.name}`
    const { worktree, cwd, notes } = await worktrees.make(worktrees.plan(name), place.cwd)
    return { cwd, worktree, workspace: worktreeWorkspace(io, place.root, worktree, worktrees), notes }
  } catch (error) {
    say(io, `termaite: ${messageOf(error)}; ${agent.name} works in the project itself.`)
    return { cwd: place.cwd, workspace: plainWorkspace, notes: [] }
  }
}
