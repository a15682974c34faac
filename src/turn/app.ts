import type { Budget } from '../core/work/budget.ts'
import type { LeftProcess } from '../base/process/left-processes.ts'
import type { Leash, Roster, WorkMode } from '../core/work/agent.ts'
import type { Blobs, Store } from '../core/talk/store.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Snapshots } from '../safety/snapshots/snapshots.ts'
import type { Io } from '../core/io.ts'
import type { Border } from '../safety/border.ts'
import type { NativeParts } from '../native/native-parts.ts'
import type { Place } from '../home/place.ts'
import type { SessionPlace } from '../core/talk/session-lines.ts'
import type { OpenSession, Project, SessionOptions } from '../home/project.ts'
import type { RosterParts } from './roster.ts'
import type { Settings } from '../settings/settings.ts'
import { existsSync } from 'node:fs'
import { changedSince } from '../base/changed-files.ts'
import { isAlive, ownerMark } from '../base/process/owner.ts'
import { Conversation } from '../core/work/conversation.ts'
import type { rotate } from './rotation/rotate.ts'
import { addableFolder, AddedFolders, setFolders } from '../native/added-folders.ts'
import { borderOf } from '../border/border.ts'
import { WarmProcesses } from '../agents/warm-processes.ts'
import { fileStore } from '../store/files/file-store.ts'
import { memoryStore } from '../store/memory-store.ts'
import { newNativeState } from '../native/native-parts.ts'
import { takeMovedProject } from './moved-project.ts'
import { folderIdentity, openProject, openSession } from '../home/project.ts'
import { openSnapshots } from './project-snapshots.ts'
import { openRoster } from './roster.ts'
import { loosestLeash } from '../settings/enabled-agents.ts'
import { inMode } from '../settings/work-mode.ts'
import { voiceOf } from '../core/io.ts'

export type AppOptions = SessionOptions & {
  ephemeral?: boolean
  budget: Budget
  mode?: WorkMode
  think?: Thinking
  thinkCalls?: number
  /** Folders that the person adds to the project for this run. */
  folders?: readonly string[]
  /** Whether agents' processes stay running between turns, until `warm` is closed. */
  keepsAgents?: true
}

/** The folder of a run, and the rules that apply in it. */
export type AppPlace = {
  io: Io
  place: Place
  /** The settings, as the mode changes them. */
  settings: Settings
  mode: WorkMode
  border: Border
  budget: Budget
  leash: Leash
  ephemeral: boolean
  /** Warnings to show before the first turn, beside those of the settings. */
  warnings: readonly string[]
}

/** The place of a run with its records: the conversation, what agents printed, and the states of the project's files. */
export type AppRecords = AppPlace & {
  store: Store
  project: Project
  session: OpenSession
  conversation: Conversation
  snapshots: Snapshots
  blobs: Blobs
}

/** Everything that the turns of one run need. It only joins parts of other rooms and has no logic of its own. */
export type App = AppRecords & {
  roster: Roster
  native: NativeParts
  /** How turns are thought through: as it was said for this run, and as it is set in this project. `calls`: the extra calls that were allowed for this run. */
  thinking: { said?: Thinking; project?: Thinking; agreed: boolean; calls?: number }
  /** Agents that are not installed or not logged in. Turns leave them out until this process ends. */
  out: Parameters<typeof rotate>[1]['out']
  /** The agents' processes that wait for their next turn, if this run keeps any. */
  warm?: WarmProcesses
  /** The processes that the last turn left running. */
  left: { processes: LeftProcess[] }
  /** Resolves once the workers of coordinators whose process died are stopped. */
  deadEnded: Promise<void>
}

export async function openApp(io: Io, place: Place, read: Settings, options: AppOptions): Promise<App> {
  const { mode = 'chat' } = options
  const settings = inMode(read, mode)
  const files = fileStore(place.home, voiceOf(io))
  const store = options.ephemeral ? { ...memoryStore(), doc: files.doc } : files
  const project = openProject(options.ephemeral ? memoryStore() : files, place.root)
  if (options.ephemeral) delete project.shown
  if (!options.ephemeral && existsSync(`${place.home}/worktrees/${project.slug}`))
    // If a worktree cannot be removed now, the next start finds it again.
    sweep(place.root, io).catch(() => {})
  const deadEnded =
    !options.ephemeral && existsSync(`${place.home}/crew/coordinators.json`)
      ? // If a worker cannot be stopped now, the next start finds it again.
        endWorkers(files, { io, place, settings, slug: project.slug }).catch(() => {})
      : Promise.resolve()
  const moved = options.ephemeral ? undefined : await takeMovedProject(io, place)
  const doc = await project.doc.read()
  if (!options.ephemeral && doc.deleting !== undefined)
    // If a deletion cannot be finished now, a later start finishes it.
    await finishKilledDeletions(io, { home: place.home, store, project }).catch(() => {})
  const folder = folderIdentity(place.root)
  if (!options.ephemeral && doc.current !== undefined && folder !== undefined && doc.folder !== folder)
    // If the identity cannot be stored now, the next start stores it.
    project.doc.update((now) => ({ ...now, folder })).catch(() => {})
  const session = await openSession(project, options, io.clock, doc)
  const blobs = store.blobs(`projects/${project.slug}/output`)
  const conversation = conversationOf(io, project, blobs, session)
  const border = borderOf(io.env, place.home)
  const around = { ...place, env: io.env }
  const said = (options.folders ?? []).map((folder) => addableFolder(folder, place.cwd, around))
  const set = setFolders([...settings.additionalFolders, ...(doc.folders ?? [])], around)
  const native: NativeParts = {
    ...place,
    folders: new AddedFolders(said, set.folders),
    env: io.env,
    clock: io.clock,
    store,
    blobs,
    session: session.id,
    project: project.doc,
    border,
    audited: !options.ephemeral,
    state: newNativeState(),
  }
  const snapshots = openSnapshots(io, place, project, native.folders)
  const undoneSince = (turn: string) => snapshots.undoneSince(turn)
  const warm = options.keepsAgents && new WarmProcesses({ clock: io.clock, idleMs: idleMsOf(settings), undoneSince })
  if (warm) native.state.turn.kept = {}
  return {
    io,
    place,
    settings,
    mode,
    store,
    project,
    session,
    conversation,
    roster: openRoster(settings, { ...rosterParts({ io, blobs, native }), warm }),
    warm,
    native,
    snapshots,
    blobs,
    border,
    budget: options.budget,
    leash: loosestLeash(settings),
    ephemeral: options.ephemeral ?? false,
    thinking: {
      said: options.think,
      project: doc.thinking,
      agreed: doc.thinkingAgreed === true,
      calls: options.thinkCalls,
    },
    out: new Map(),
    left: { processes: [] },
    deadEnded,
    warnings: [...(moved === undefined ? [] : [moved]), ...set.warnings],
  }
}

/**
 * Removes copies of the project that a killed process left, and copies older than a day. Turns do not wait for this, and its code is
 * loaded only if copies exist.
 */
async function sweep(root: string, { env, clock }: Io): Promise<void> {
  const { sweepWorktrees } = await import('../worktrees/copy-worktrees.ts')
  await sweepWorktrees({ root, env }, clock.now())
}

/** Finishes the deletions of sessions that a killed process had begun. Its code is loaded only if there are any. */
async function finishKilledDeletions(io: Io, at: { home: string; store: Store; project: Project }): Promise<void> {
  const { finishDeletions } = await import('./session-deletion.ts')
  await finishDeletions({ io, ...at })
}

/** Ends the workers of coordinators whose process died. Only a coordinator's turn waits for this. */
async function endWorkers(store: Store, at: { io: Io; place: Place; settings: Settings; slug: string }): Promise<void> {
  const { endWorkersOfDead } = await import('../crew/machine/dead-coordinators.ts')
  await endWorkersOfDead(store, at)
}

export function conversationOf(io: Io, project: Project, blobs: Blobs, session: SessionPlace): Conversation {
  return new Conversation({
    log: project.log,
    blobs,
    session: session.id,
    place: session,
    clock: io.clock,
    owner: ownerMark(),
    alive: isAlive,
    shown: project.shown,
    settling: project.settling,
  })
}

export function rosterParts({ io, blobs, native }: Pick<App, 'io' | 'blobs' | 'native'>): RosterParts {
  return { blobs, env: io.env, changed: changedSince, border: native.border, native, io }
}

/** How long a process of an agent waits for its next turn. */
export const idleMsOf = ({ idleAgentMinutes }: Settings): number => idleAgentMinutes * 60_000
