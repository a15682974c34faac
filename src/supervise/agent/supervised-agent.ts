import type { ScreenSpec } from '../../agents/screen/screen-spec.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { OpenCli, SupervisionEvent } from '../supervision.ts'
import type { Io } from '../../core/io.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { ReadyAgent, SupervisionPlan } from './preflight.ts'
import type { Conversation } from '../../core/work/conversation.ts'
import type { TaskSource, TaskWorkspace } from '../../hub/model/tasks/task-source.ts'
import type { Registration } from '../../hub/engine/hub.ts'
import type { SupervisedSessionState } from '../../crew/machine/supervised-session.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { AgentStatus } from '../../hub/model/tasks/agent-status.ts'
import type { RemoteHub } from '../../hub/engine/remote-hub.ts'
import { windowOf } from '../../settings/enabled-agents.ts'
import { hubEnv } from './hub-wiring.ts'
import { freeBytes } from '../../base/files/disk-space.ts'
import { screenAgent } from '../../agents/screen/screen-agent.ts'
import { composes } from '../../agents/screen/screen-spec.ts'
import { screenParts, specOf } from '../../crew/machine/crew-roster.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { wallAround } from '../../native/agent-wall.ts'
import { conversationOf } from '../../turn/app.ts'
import { openProject, openSession, slugOf } from '../../home/project.ts'
import { cliSessionRecord } from '../../home/cli-sessions.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { version } from '../../base/version.ts'
import { hubProtocol } from '../../hub/model/hub-protocol.ts'
import { borderOf } from '../../border/border.ts'
import { allowsAct, ownRecord, withRecordedAnswers } from '../../native/recorded-answers.ts'
import { HubClient } from '../../hub/client/hub-client.ts'
import { HubTaskSource } from '../../hub/engine/hub-task-source.ts'
import { askAtHub } from './hub-questions.ts'
import { taskChecks, vouching } from './task-checks.ts'
import { carrierFor } from './work-carrier.ts'
import { taskFilesIn } from './task-files.ts'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { worktreeParts } from '../../crew/machine/crews.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { plainWorkspace, worktreeWorkspace } from '../../worktrees/task-branches.ts'
import { defined } from '../../base/defined.ts'

/** A task may take a whole night; the supervisor handles a CLI that falls silent. */
const longestTurnMs = 24 * 3_600_000

/** How the agent runs: with the command of its profile and the hub's tools. */
export function supervisedSpec(io: Io, { agent, settings, hub, hubKey, wiring }: ReadyAgent): ScreenSpec {
  const spec = specOf(agent, settings)
  return {
    ...spec,
    profile: spec.profile && (wiring?.profile ?? spec.profile),
    env: { ...hubEnv(io, hub, hubKey.file), ...spec.env },
    timeoutMs: longestTurnMs,
  }
}

/** Opens the agent in the terminal of its session; `lives` says whether it already runs there. */
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
      began: cliSessionRecord(place.home, profileOf(agent), true),
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
 * Opens a session of the project's conversation under the agent's name at the hub. The session stores the agent's prompts, answers, usage
 * and failures. Our own agent stores its turns itself.
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

/** `machine` is the name of this machine at the hub; `isRemade` comes from the work place. */
export type TaskOptions = {
  workspace: TaskWorkspace
  capabilities: readonly string[]
  machine: string
  isRemade: boolean
}

/**
 * Registers the agent at the hub; returns the tasks that the hub gives it, a function that shows its dialogs there, and one that reports
 * its status.
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
  // The agent is registered before its first turn, so that the hub recognizes the CLI's own first call. If the hub is unreachable,
  // registering is tried again later.
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

type WorkPlace = Pick<SupervisedSessionState, 'cwd' | 'worktree'> & {
  workspace: TaskWorkspace
  notes: string[]
  /** Whether the session's worktree was missing and a new one was created. */
  isRemade?: boolean
}

/**
 * Opens the agent's working folder: a worktree of its own, created again if it is missing, or the project itself if that was requested or
 * there is no git.
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
    // Nobody may be watching while an unattended agent changes the person's own files.
    throw new UsageError(
      `no worktree could be made for ${agent.name}: ${messageOf(error)}. Fix this, or let ${agent.name} work in the project itself with --here.`,
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

/** The pause between two progress messages about a clone. */
const progressMs = 5_000

type StatusReportParts = {
  hub: Pick<RemoteHub, 'report'>
  as: Registration
  clock: Clock
  /** The size of the agent's context window in tokens. */
  window: number
  /** Returns the free bytes of the disk on which the agent works. */
  free(): number | undefined
}

/** The hub considers an agent gone after five minutes without a report. */
const paceMs = 120_000

/** Reports the status of a supervised agent to the hub: its machine, until when it is parked, and how much of its context and its disk is free. */
export class StatusReports {
  #parts: StatusReportParts
  #status: AgentStatus

  constructor(parts: StatusReportParts) {
    this.#parts = parts
    this.#status = { machine: parts.as.machine, parkedUntil: 0 }
  }

  /** Processes an event of the supervision, and reports the resulting changes. */
  see(event: SupervisionEvent): void {
    const parked = event.type === 'parked' ? { parkedUntil: event.until, parkedWhy: event.why } : { parkedUntil: 0 }
    if (parked.parkedUntil === this.#status.parkedUntil) return
    const { parkedUntil: _until, parkedWhy: _why, ...rest } = this.#status
    this.#status = { ...rest, ...parked }
    this.#send()
  }

  /** Processes the usage of a turn. A CLI whose journal does not list single requests has no number here. */
  used({ held }: Usage): void {
    if (held === undefined) return
    this.#status = { ...this.#status, contextLeft: Math.max(0, 1 - held / this.#parts.window) }
    this.#send()
  }

  /** Reports the status repeatedly until the signal aborts, even while the agent is silent in a long task or asks a question. */
  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#send()
      await this.#parts.clock.sleep(paceMs, signal)
    }
  }

  /**
   * Sends the whole status. A lost report does no harm, because the next one repeats it. An agent that the hub does not know registers
   * when it asks for work, and a report must not bring back an agent that the hub has removed.
   */
  #send(): void {
    const { hub, as, free } = this.#parts
    const bytes = free()
    const status = defined({ ...this.#status, diskFree: bytes === undefined ? undefined : roughly(bytes) })
    // An older hub rejects a report that contains the free disk, so the report is repeated without it.
    hub.report(as.id, status).catch(() => hub.report(as.id, this.#status).catch(() => {}))
  }
}

/** A number of bytes, rounded to two digits, so that a disk in use does not cause constant reports. */
function roughly(bytes: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, bytes))) - 1)
  return Math.floor(bytes / unit) * unit
}
