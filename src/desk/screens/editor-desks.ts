import type { McpServer } from '@agentclientprotocol/sdk'
import type { ListedSession, EditorDesk, EditorDesks } from '../../acp/editor-desk.ts'
import type { WorkMode } from '../../core/work/agent.ts'
import type { Io } from '../../core/io.ts'
import type { Settings } from '../../settings/settings.ts'
import { RunningTurns } from '../../core/turns/running-turns.ts'
import { noBudget } from '../../core/work/budget.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { openIndex } from '../../store/index/conversation-index.ts'
import { ProjectDesk } from '../project-desk.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { setFolders } from '../../native/added-folders.ts'
import { serveTurns } from '../../wire/peer/peers.ts'
import { homeOf, placeOf } from '../../home/place.ts'
import { openProject, slugOf } from '../../home/project.ts'
import { enabledAgents, noAgentWords } from '../../settings/enabled-agents.ts'
import { title } from '../session-lookup.ts'
import { readSettings } from '../../settings/settings.ts'
import { slashCommands } from '../slash/slash-commands.ts'
import { leashKeyCommand } from '../slash/agents/leash.ts'
import { setupCommand } from '../slash/setup.ts'
import { workModes } from '../../settings/work-mode.ts'
import { DeskApp } from '../desk-app.ts'

/** The most sessions that are listed for an editor. */
const mostListed = 100

/** The desks of an editor, one for each of its threads. */
export class ProjectEditorDesks implements EditorDesks {
  #io: Io
  #turns = new RunningTurns()
  #served: ReturnType<typeof serveTurns>
  #noted: (sessions: string[]) => void
  #desks = new Set<ProjectDesk>()

  /** `noted` gets the sessions that are open, whenever they change. */
  constructor(io: Io, noted: (sessions: string[]) => void = () => {}) {
    this.#io = io
    this.#noted = noted
    this.#served = serveTurns(homeOf(io.env), this.#turns, io.clock)
  }

  begin(cwd: string, servers: readonly McpServer[], folders?: readonly string[]): Promise<EditorDesk> {
    return this.#open(cwd, servers, folders)
  }

  async resume(
    cwd: string,
    session: string,
    servers: readonly McpServer[],
    folders?: readonly string[],
  ): Promise<EditorDesk | undefined> {
    const { home, root } = placeOf(this.#io, cwd)
    const { sessions } = await openProject(fileStore(home, voiceOf(this.#io)), root).doc.read()
    return Object.hasOwn(sessions, session) ? this.#open(cwd, servers, folders, session) : undefined
  }

  async list(cwd: string | undefined): Promise<ListedSession[]> {
    const io = this.#io
    const index = openIndex(homeOf(io.env), voiceOf(io))
    try {
      await index.catchUp()
      const of = cwd === undefined ? {} : { project: slugOf(placeOf(io, cwd).root) }
      const found = await index.sessions(of)
      return found.slice(0, mostListed).flatMap((session) => {
        const { id, path, last, cli } = session
        // An editor resumes a session by its id; an imported session can only be read.
        return path === undefined || cli !== undefined ? [] : [{ session: id, cwd: path, title: title(session), last }]
      })
    } finally {
      await index.close()
    }
  }

  async close(): Promise<void> {
    await this.#served.close()
  }

  async #open(
    cwd: string,
    servers: readonly McpServer[],
    folders: readonly string[] = [],
    session?: string,
  ): Promise<EditorDesk> {
    const io = this.#io
    const place = placeOf(io, cwd)
    const read = async (): Promise<Settings> => {
      const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
      return { ...settings, mcpServers: { ...settings.mcpServers, ...serversOf(servers) } }
    }
    const settings = await read()
    if (enabledAgents(settings).length === 0) throw new UsageError(noAgentWords(settings))
    // An editor sends all folders of its workspace: a folder that cannot be added does not prevent the session from opening.
    const added = setFolders(folders, { ...place, env: io.env })
    for (const warning of added.warnings) say(io, `termaite: ${warning}`)
    const wishes = { fresh: session === undefined, budget: noBudget, folders: added.folders }
    const note = () => this.#noted([...this.#desks].map((one) => one.app().session.id))
    const deskApp = await DeskApp.open({ io, place, settings, read, wishes, entered: note })
    const desk = new ProjectDesk(deskApp, {
      commands: (controls, warn, changed) => slashCommands(controls, warn, changed, ({ screen }) => !screen),
      firstStart: setupCommand,
      leashKey: leashKeyCommand,
      turns: this.#turns,
    })
    if (session !== undefined) await desk.controls.open({ id: session })
    this.#desks.add(desk)
    note()
    const opened = await this.#begun(desk)
    return {
      session: desk.app().session.id,
      cwd: place.cwd,
      desk,
      opened,
      modes: modesOf(settings),
      async setMode(mode) {
        await desk.controls.setMode(mode)
      },
      setNextAgent: (agent) => desk.controls.aim(agent),
      get busy() {
        return desk.busy
      },
      idle: () => desk.idle(),
      close: async () => {
        desk.leave()
        await desk.idle()
        await desk.close()
        this.#desks.delete(desk)
        note()
      },
    }
  }

  /** The first page of a desk. Its opening notes are dropped, because they are not part of the thread. */
  async #begun(desk: ProjectDesk): Promise<EditorDesk['opened']> {
    const looked = new AbortController()
    const heard = desk.events(looked.signal)
    await desk.begun()
    looked.abort()
    let opened: EditorDesk['opened'] = { entries: [], more: false }
    for await (const happening of heard) {
      if (happening.type === 'opened') opened = happening
      if (happening.type === 'said' && happening.how === 'error') say(this.#io, `termaite: ${happening.text}`)
    }
    return opened
  }
}

const names: Record<WorkMode, string> = { chat: 'Chat', agent: 'Agent', plan: 'Plan', coordinator: 'Coordinator' }

/** The modes that some enabled agent can work in. */
function modesOf(settings: Settings): EditorDesk['modes'] {
  const own = enabledAgents(settings).some(({ kind }) => kind === 'native')
  return (Object.keys(workModes) as WorkMode[])
    .filter((mode) => mode === 'chat' || own || (mode === 'plan' && enabledAgents(settings).length > 0))
    .map((id) => ({ id, name: names[id], means: workModes[id] }))
}

type Named = readonly { name: string; value: string }[]

/** Turns an editor's MCP servers into the form of the settings. */
function serversOf(servers: readonly McpServer[]): Record<string, unknown> {
  return Object.fromEntries(servers.flatMap((server) => (written(server) ? [[server.name, written(server)]] : [])))
}

/** Undefined for a kind of server that termaite did not announce. */
function written(server: McpServer): object | undefined {
  if ('command' in server) return { command: server.command, args: server.args, env: mapOf(server.env) }
  return 'url' in server ? { type: server.type, url: server.url, headers: mapOf(server.headers) } : undefined
}

const mapOf = (rows: Named) => Object.fromEntries(rows.map(({ name, value }) => [name, value]))
