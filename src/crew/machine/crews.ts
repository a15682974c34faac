import type { Store } from '../../core/talk/store.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { KeeperParts, LastRows } from '../crew-parts.ts'
import type { CrewDesk } from '../tools/crew-desk.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Program } from '../../base/process/own-program.ts'
import { isAlive, ownerMark } from '../../base/process/owner.ts'
import { Crew } from '../crew.ts'
import { Keeper } from '../keeper.ts'
import { crewTools } from '../tools/crew-tools.ts'
import { SlotLedger, workspaceNamed } from '../slot-ledger.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { withoutModelKeys } from '../../core/profile/key-variables.ts'
import { namedKeys } from '../../border/agent-environment.ts'
import { slugOf } from '../../home/project.ts'
import { completeCard } from '../../border/cards.ts'
import { projectRoot } from '../../base/files/git.ts'
import { loosestLeash } from '../../settings/enabled-agents.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { crewRoster, lacking, spawnable } from './crew-roster.ts'
import { terminalsOf } from './crew-terminals.ts'
import { livingSlots } from './crew-workspaces.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { tighter } from '../../core/work/agent.ts'
import { allOf, CrewError } from '../slot.ts'
import { withinVariable } from '../../home/place.ts'
import { borderOf } from '../../border/border.ts'
import { ownRecord } from '../../native/recorded-answers.ts'
import { messageTool } from '../../border/vendor-border.ts'
import { say, voiceOf } from '../../core/io.ts'
import { pageAddress } from '../../hub/client/page-link.ts'
import { openNotify } from '../../hub/client/notify.ts'
import { spawn } from 'node:child_process'
import { shellWord } from '../../base/text/shell-word.ts'
import { withoutProject } from '../../base/process/program-path.ts'

/** `carries`: whether this process runs the crew's agents, as a server does; a shell command leaves that to a keeper. */
type CrewOptions = { carries: boolean; warn?(words: string): void }

export type OpenCrew = { crew: Crew; keeper?: Keeper; parts: KeeperParts }

/** The crews that a process works with; each is opened when it is first needed. */
export type Crews = {
  /** The crew of a workspace; without a name, that of the current project. */
  of(workspace?: string): OpenCrew
  desk: CrewDesk
  tools: Tool[]
  /** Detaches from the agents that outlive this process, and stops the others. */
  close(): Promise<void>
}

export function openCrews(io: Io, place: Place, settings: Settings, { carries, warn }: CrewOptions): Crews {
  const store = fileStore(place.home, voiceOf(io))
  const border = borderOf(io.env, place.home)
  const terminals = terminalsOf(io, settings, { lends: carries, warn })
  const record = ownRecord({ store, clock: io.clock, border, project: place.root })
  const roster = crewRoster(io, settings, terminals, { record })
  const open = new Map<string, OpenCrew>()
  const closed = new AbortController()
  const own = slugOf(place.root)
  const { desktop_window: desktopWindow } = settings.terminals
  const openWindow = (setting: string, slot: Parameters<typeof windowCommand>[1]) =>
    openDesktopWindow(io, windowCommand(setting, slot, thisProgram()), warn ?? (() => {}))
  const partsOf = (workspace: string): KeeperParts => {
    const worktrees = worktreesOf(worktreeParts(io, place, settings, store, workspace))
    return {
      store,
      workspace,
      clock: io.clock,
      owner: ownerMark(),
      alive: isAlive,
      isKeeper: carries,
      names: roster.names,
      lacks: (name) => lacking(settings, name),
      find: terminals.find,
      limits: settings.crew,
      elsewhere: async () =>
        (await livingSlots(place.home, io.clock)).filter((slot) => slot.workspace !== workspace).length,
      worktrees,
      lastRows: carries ? undefined : storedLastRows(store, workspace),
      roster,
      outlives: terminals.outlives,
      mask: border.toward('crew'),
      complete: (question, cwd) => completeCard(io, projectRoot(cwd), cwd, question),
      opened:
        desktopWindow === undefined ? undefined : ({ id, cwd }) => openWindow(desktopWindow, { workspace, id, cwd }),
    }
  }
  const of = (name = own): OpenCrew => {
    const workspace = workspaceNamed(name)
    const known = open.get(workspace)
    if (known) return known
    const parts = partsOf(workspace)
    const made = { crew: new Crew(parts), parts, keeper: carries ? new Keeper(parts) : undefined }
    open.set(workspace, made)
    // Notices are sent until the crews are closed; an error in them stops no agent.
    if (carries && settings.notify.length > 0) noticeAsks(io, place, settings, parts, closed.signal).catch(() => {})
    return made
  }
  const within = io.env[withinVariable]
  const desk: CrewDesk = {
    crew(workspace) {
      if (within !== undefined && workspace !== undefined && workspaceNamed(workspace) !== own)
        throw new CrewError(
          `workspace: you run in a sandbox and can use only the crew of your own project. Leave workspace out.`,
        )
      return of(workspace).crew
    },
    clock: io.clock,
    cwd: place.cwd,
    path: io.env.PATH,
    leash: within === undefined ? loosestLeash(settings) : tighter(loosestLeash(settings), settings.leash),
    within,
    person: !carries,
    agents: () =>
      spawnable(settings, io).map(({ name, description }) => (description ? { name, description } : { name })),
  }
  return {
    of,
    desk,
    tools: carries ? crewTools(desk).map((tool) => messageTool(tool, border.toward('crew'))) : crewTools(desk),
    async close() {
      closed.abort()
      await Promise.all([...open.values()].map(async ({ keeper }) => keeper?.leave()))
      await terminals.close()
    },
  }
}

export function worktreeParts(
  io: Io,
  { root, home }: Place,
  { crew: { setup }, agents }: Settings,
  store: Store,
  slug: string,
) {
  const trusted = async () => (await new TrustBook(store, { clock: io.clock, own: home }).of(root)).state === 'trusted'
  return { root, home, slug, env: withoutModelKeys(io.env, namedKeys({ agents })), trusted, setup }
}

/** The last rows that shell commands read from each slot. They are stored, because every shell command is a separate process. */
function storedLastRows(store: Store, workspace: string): LastRows {
  const doc = store.doc<Record<string, string[]>>(`crew/${workspace}/seen`, {})
  return {
    get: async (slot) => (await doc.read())[slot] ?? [],
    async set(slot, rows) {
      await doc.update((now) => ({ ...now, [slot]: rows }))
    },
  }
}

/** Sends a notice about each question that an agent of the crew asks, until the signal aborts. */
async function noticeAsks(
  io: Io,
  { cwd, root, home }: Place,
  settings: Settings,
  { store, workspace, clock }: Pick<KeeperParts, 'store' | 'workspace' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const warn = (words: string) => say(io, `termaite: ${words}`)
  const page = () => pageAddress(io, settings, home)
  const notify = openNotify(settings, { io, cwd, mask: borderOf(io.env, home).toward('notice'), warn, page })
  const told = new Set<string>()
  for await (const slots of new SlotLedger(store, workspace, clock).watch(signal))
    for (const { id, agent, asks = [] } of allOf(slots))
      for (const { ask, question } of asks) {
        if (told.has(ask)) continue
        told.add(ask)
        const text = `slot ${id}: ${question.text} (termaite crew answer ${id})`
        // Sending never rejects, and the next question does not wait for it.
        void notify({ event: 'asking', agent, workspace: root, text })
      }
}

/** One agent of a crew, as `termaite crew attach` names it. */
type ShownSlot = { workspace: string; id: number; cwd: string }

/** The command line that shows a slot in a desktop window: our command replaces `{command}` in the setting, or is appended to it. */
function windowCommand(setting: string, { workspace, id, cwd }: ShownSlot, program: Program): string {
  const attach = [...program, 'crew', 'attach', String(id), `--workspace=${workspace}`, `--cwd=${cwd}`]
  const command = attach.map(shellWord).join(' ')
  return setting.includes('{command}') ? setting.replaceAll('{command}', command) : `${setting} ${command}`
}

/** Within this time, a failure of a window's command is still reported. */
const startMs = 2_000

/** Opens a desktop window for a slot's terminal. The window belongs to the person and outlives this process. */
function openDesktopWindow(io: Io, line: string, warn: (words: string) => void): void {
  const child = spawn('/bin/sh', ['-c', line], {
    env: withoutModelKeys(withoutProject(io.env)),
    stdio: 'ignore',
    detached: true,
  })
  const failed = (why: string) =>
    warn(`terminals.desktop_window: no window was opened: ${why}. The command was: ${line}`)
  const began = io.clock.elapsed()
  child.once('error', (error) => failed(error.message))
  child.once('exit', (code) => {
    if (code !== 0 && io.clock.elapsed() - began < startMs) failed(`the command ended with code ${code}`)
  })
  child.unref()
}
