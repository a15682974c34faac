import { windowOf } from '../../settings/enabled-agents.ts'
import { hubEnv } from './hub-wiring.ts'
import type { ScreenSpec } from '../../agents/screen/screen-spec.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { OpenCli } from '../supervision.ts'
import type { Io } from '../../core/io.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { ReadyAgent, SupervisionPlan } from './preflight.ts'
import type { Conversation } from '../../core/work/conversation.ts'
import type { TaskSource, TaskWorkspace } from '../../hub/model/tasks/task-source.ts'
import type { Registration } from '../../hub/engine/hub.ts'
import type { SupervisedSessionState } from '../../crew/machine/supervised-session.ts'
import { freeBytes } from '../../base/files/disk-space.ts'
import { screenAgent } from '../../agents/screen/screen-agent.ts'
import { composes } from '../../agents/screen/screen-spec.ts'
import { screenParts, specOf } from '../../crew/machine/crew-roster.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { wallAround } from '../../native/agent-wall.ts'
import { conversationOf } from '../../turn/app.ts'
import { openProject, openSession, slugOf } from '../../home/project.ts'
import { version } from '../../base/version.ts'
import { hubProtocol } from '../../hub/model/hub-protocol.ts'
import { borderOf } from '../../border/border.ts'
import { allowsAct, ownRecord, withRecordedAnswers } from '../../native/recorded-answers.ts'
import { HubClient } from '../../hub/client/hub-client.ts'
import { HubTaskSource } from '../../hub/engine/hub-task-source.ts'
import { askAtHub } from './hub-questions.ts'
import { taskChecks, vouching } from './task-checks.ts'
import { carrierFor } from './work-carrier.ts'
import { StatusReports } from './status-reports.ts'
import { taskFilesIn } from './task-files.ts'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { worktreeParts } from '../../crew/machine/crews.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { plainWorkspace, worktreeWorkspace } from '../../worktrees/task-branches.ts'

/** A task may take a whole night; the supervisor looks after a CLI that falls silent. */
const longestTurnMs = 24 * 3_600_000

/** How the agent is run: by the command of its profile, with the hub's tools. */
export function supervisedSpec(io: Io, { agent, settings, hub, hubKey, wiring }: ReadyAgent): ScreenSpec {
  const spec = specOf(agent, settings)
  return {
    ...spec,
    profile: spec.profile && (wiring?.profile ?? spec.profile),
    env: { ...hubEnv(io, hub, hubKey.file), ...spec.env },
    timeoutMs: longestTurnMs,
  }
}

/** Opens the agent in the terminal of its session; `lives` says whether it runs there already. */
export function cliOpener(
  io: Io,
  ready: ReadyAgent,
  spec: ScreenSpec,
  host: () => Promise<TerminalHost>,
  lives: boolean,
): OpenCli {
  const { session, agent, leash, place } = ready
  const store = fileStore(place.home, voiceOf(io))
  const record = ownRecord({ store, clock: io.clock, border: borderOf(io.env, place.home), project: place.root })
  let found = lives
  return (resume) => {
    const seat = {
      cwd: session.state.cwd,
      leash,
      terminal: { id: session.state.terminal, title: agent.name, mode: 'window' as const },
      resume,
    }
    const how = found ? 'there' : resume !== undefined && composes(spec) ? 'resumed' : 'began'
    found = false
    const parts = screenParts(io, { host })
    const enclose = wallAround(agent, { env: io.env, readable: () => [parts.temp] })
    const opened = screenAgent(spec, seat, { ...parts, enclose })
    // Our own agent records its answers itself.
    return { agent: agent.kind === 'native' ? opened : withRecordedAnswers(opened, record, allowsAct), how }
  }
}

/**
 * Opens a session of the project's conversation under the agent's name at the hub. It keeps the agent's prompts, answers,
 * usage and failures. Our own agent keeps its turns itself.
 */
export async function supervisedConversation(
  io: Io,
  { place, agent, session }: ReadyAgent,
): Promise<Conversation | undefined> {
  if (agent.kind === 'native') return undefined
  const store = fileStore(place.home, voiceOf(io))
  const project = openProject(store, place.root)
  const opened = await openSession(project, { name: session.state.hubId }, io.clock)
  const conversation = conversationOf(io, project, store.blobs(`projects/${project.slug}/output`), opened)
  await conversation.settle()
  return conversation
}

/** `machine` is the name of this machine at the hub; `isRemade` is that of the work place. */
export type TaskOptions = {
  workspace: TaskWorkspace
  capabilities: readonly string[]
  machine: string
  isRemade: boolean
}

/**
 * Registers the agent at the hub; returns the tasks that the hub gives it, how its dialogs are asked there, and how its status
 * is reported there.
 */
export function openHubWork(
  io: Io,
  { place, settings, agent, leash, profile, hub, hubKey, session, workspaces, clones, push }: ReadyAgent,
  {
    workspace,
    capabilities,
    machine,
    warn,
    ticket,
  }: Omit<TaskOptions, 'isRemade'> & { warn(words: string): void; ticket(): string | undefined },
): { taskSource: TaskSource; ask: Ask; status: StatusReports } {
  const { hubId: id, workflow: role } = session.state
  const as: Registration = {
    id,
    role,
    name: profile?.title ?? agent.name,
    capabilities: [...new Set([agent.name, ...(profile ? [profile.name] : []), ...capabilities])],
    ...workspaces,
    version,
    protocol: hubProtocol,
    source: 'CLI',
    machine,
  }
  const border = borderOf(io.env, place.home).toward('hub')
  const client = new HubClient({ url: () => hub.now().url, key: hubKey, env: io.env }, border)
  // The agent is registered before its first turn, so that the CLI's own first call to the hub is known. Without a hub, registering is
  // tried again later.
  client.register(as).catch(() => {})
  const { clock } = io
  return {
    taskSource: new HubTaskSource({
      hub: client,
      as,
      clock,
      workspace,
      machine,
      checks: taskChecks(io, place, settings, leash),
      vouch: vouching(io, hub, border),
      files: taskFilesIn(session.state.cwd),
      carrier: carrierFor(io, hub, session.folder, { push, always: clones !== undefined }),
      tell: warn,
    }),
    ask: askAtHub({ hub: client, as, clock, ticket }),
    status: new StatusReports({ hub: client, as, clock, window: windowOf(agent), free: () => freeBytes(place.root) }),
  }
}

export type WorkPlace = Pick<SupervisedSessionState, 'cwd' | 'worktree'> & {
  workspace: TaskWorkspace
  notes: string[]
  /** Whether the session had a worktree that was gone, so that another one was made for it. */
  isRemade?: boolean
}

/**
 * Opens the folder that the agent works in: a worktree of its own, made again if it is gone, or the project itself if that was requested
 * or there is no git.
 */
export async function openWorkPlace(io: Io, plan: SupervisionPlan): Promise<WorkPlace> {
  const { place, settings, agent, state, clones } = plan
  if (clones) return clonedWorkPlace(io, plan, clones)
  const store = fileStore(place.home, voiceOf(io))
  const worktrees = state.here ? undefined : worktreesOf(worktreeParts(io, place, settings, store, slugOf(place.root)))
  if (!worktrees)
    return { cwd: place.cwd, workspace: plainWorkspace, notes: [`works in the project folder itself: ${place.cwd}`] }
  const { worktree: before } = state
  if (before && existsSync(before.path))
    return {
      cwd: state.cwd,
      worktree: before,
      workspace: worktreeWorkspace(io, place.root, before, worktrees, { remakes: true }),
      notes: [],
    }
  try {
    const name = before ? basename(before.path) : `agent-${agent.name}`
    const { worktree, cwd, notes } = await worktrees.make(worktrees.plan(name), place.cwd)
    const workspace = worktreeWorkspace(io, place.root, worktree, worktrees, { remakes: true })
    return { cwd, worktree, workspace, notes, isRemade: before !== undefined }
  } catch (error) {
    // Nobody may be there who would see an unattended agent change the person's own files.
    throw new UsageError(
      `no worktree could be made for ${agent.name}: ${messageOf(error)}. Put that right, or let ${agent.name} work in the project itself with --here.`,
      1,
    )
  }
}

/** The work place of an agent that clones: one folder for the agent, with a worktree for each task in it. */
async function clonedWorkPlace(
  io: Io,
  { place, agent }: SupervisionPlan,
  rules: readonly string[],
): Promise<WorkPlace> {
  const [{ clonedPlace }, { clonedWorkspace }] = await Promise.all([
    import('../../worktrees/clone-cache.ts'),
    import('../../worktrees/cloned-workspace.ts'),
  ])
  const folder = join(place.home, 'clones')
  let told = 0
  const progress = (words: string) => {
    const now = io.clock.elapsed()
    if (now - told < progressMs) return
    told = now
    say(io, `${agent.name}: ${words}`)
  }
  const { env, clock } = io
  const workspace = clonedWorkspace({
    env,
    folder: place.root,
    cloned: ({ workspace, origin }, signal) =>
      clonedPlace({ env, clock, signal, progress, folder, rules }, workspace, origin),
  })
  const notes = [
    `clones the repositories of its tasks into ${folder} (allowed: ${rules.join(', ')}), and works below ${place.root}`,
  ]
  return { cwd: place.root, workspace, notes }
}

/** The pause between two lines about a clone. */
const progressMs = 5_000
