import type { Leash, Strategy, WorkMode } from '../core/work/agent.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { App, AppOptions, AppRecords } from '../turn/app.ts'
import type { Io } from '../core/io.ts'
import type { Place } from '../home/place.ts'
import type { Settings } from '../settings/settings.ts'
import type { SessionOptions } from '../home/project.ts'
import type { ModelChoice } from '../settings/agent-settings.ts'
import type { FallbackAgent } from '../people/offers/fallback-agent.ts'
import { conversationOf, idleMsOf, openApp, rosterParts } from '../turn/app.ts'
import { setFolders } from '../native/added-folders.ts'
import { UsageError } from '../core/io.ts'
import { leaveSession } from '../native/native-parts.ts'
import { fallbackNative, withFallback } from '../people/offers/fallback-agent.ts'
import { openSession } from '../home/project.ts'
import { openRoster } from '../turn/roster.ts'
import { loosestLeash } from '../settings/enabled-agents.ts'
import { withChoice } from '../settings/agent-settings.ts'
import { inMode } from '../settings/work-mode.ts'
import { HistoryPages } from './history-pages.ts'

export type DeskAppParts = {
  io: Io
  place: Place
  settings: Settings
  wishes: AppOptions
  /** Reads the settings again. */
  read(): Promise<Settings>
  /** Called when another session is open. */
  entered?(session: string): void
}

/** `until`: the position of the log up to which a fork takes over this session. */
export type WantedSession = { fresh: true; name?: string } | { until: number } | { id: string } | { of: WorkMode }

/** Holds the app of a desk, and replaces it when the session, settings, mode or leash change. */
export class DeskApp {
  app: App
  pages: HistoryPages
  #parts: DeskAppParts
  #read: Settings
  #said: {
    leash?: Leash
    strategy?: Strategy
    models: Map<string, ModelChoice>
    /** The person left plan mode: an approved plan is built even if the settings themselves choose plan mode. */
    builds?: boolean
  } = { models: new Map() }

  /** The native agent that is used when the mode needs one and none is configured. */
  #spare: FallbackAgent | undefined

  /** The mode to return to after plan mode. */
  #building: WorkMode

  private constructor(parts: DeskAppParts, app: App) {
    this.#parts = parts
    this.#read = parts.settings
    this.#building = app.mode === 'plan' ? 'chat' : app.mode
    this.app = app
    this.pages = pagesOf(app)
  }

  static async open(parts: DeskAppParts): Promise<DeskApp> {
    const { io, place, settings, wishes } = parts
    const spare = await fallbackNative(settings, wishes.mode ?? 'chat', parts)
    const deskApp = new DeskApp(parts, await openApp(io, place, withFallback(settings, spare), wishes))
    deskApp.#spare = spare
    return deskApp
  }

  /** Whether no agent can take a turn. */
  get nobody(): boolean {
    return this.app.roster.names().length === 0
  }

  async enter(wanted: WantedSession): Promise<void> {
    const { io, project, blobs } = this.app
    if ('id' in wanted) {
      const line = await this.#makeCurrent(wanted.id)
      // A session of the coordinator continues with the coordinator, and any other session without it.
      if ((line === 'coordinator') !== (this.app.mode === 'coordinator'))
        this.#use(line === 'coordinator' ? line : 'chat')
    }
    await this.app.warm?.drop()
    await leaveSession(this.app.native, 'id' in wanted ? 'resume' : 'clear')
    const { mode } = this.app
    const options: SessionOptions =
      'id' in wanted || 'of' in wanted
        ? {}
        : 'until' in wanted
          ? { fork: { session: this.app.session.id, until: wanted.until } }
          : wanted
    const session = await openSession(project, { ...options, mode }, io.clock)
    const native = { ...this.app.native, session: session.id }
    this.app = { ...this.app, session, native, conversation: conversationOf(io, project, blobs, session) }
    this.#use()
    this.pages = pagesOf(this.app)
    this.#parts.entered?.(session.id)
  }

  /** Gives the open session the name that it has by now. */
  rename(name: string): void {
    this.app = { ...this.app, session: { ...this.app.session, name } }
  }

  async reload(): Promise<void> {
    const read = await this.#parts.read()
    await this.app.warm?.drop()
    this.#use(this.app.mode, read)
    this.#read = read
    const { native, place, io, project } = this.app
    const { folders = [] } = await project.doc.read()
    native.folders.setAnew(setFolders([...read.additionalFolders, ...folders], { ...place, env: io.env }).folders)
    // An agent that could not answer may have been installed or logged in meanwhile.
    this.app.out.clear()
  }

  /** Sets the framework for this project and saves it. */
  async setThinking(how: Thinking): Promise<void> {
    const { said: _, ...thinking } = this.app.thinking
    this.app = { ...this.app, thinking: { ...thinking, project: how } }
    await this.app.project.doc.update((doc) => ({ ...doc, thinking: how }))
  }

  setLeash(leash: Leash): void {
    this.#said.leash = leash
    this.#use()
  }

  setModel(agent: string, choice: ModelChoice | undefined): void {
    if (choice) this.#said.models.set(agent, choice)
    else this.#said.models.delete(agent)
    this.#use()
  }

  /** Returns warnings. When no agent could work in that mode, it throws a UsageError and changes nothing. */
  async setMode(mode: WorkMode): Promise<string[]> {
    const known = this.#spare
    const before = this.app.mode
    this.#said.builds = false
    this.#spare ??= await fallbackNative(this.#read, mode, this.#parts)
    this.#use(mode)
    // The coordinator's conversation is separate from that of the other modes.
    if ((before === 'coordinator') !== (mode === 'coordinator')) await this.enter({ of: mode })
    if (mode !== 'plan') this.#building = mode
    return this.#spare && this.#spare !== known ? [this.#spare.words] : []
  }

  leavePlan(): void {
    this.#said.builds = true
    const hasAgents = this.#read.agents.some(({ enabled }) => enabled !== false)
    // Without a configured agent the spare one planned, and only it can build.
    this.#use(this.#building === 'chat' && !hasAgents ? 'agent' : this.#building)
  }

  setStrategy(strategy: Strategy): void {
    this.#said.strategy = strategy
    this.#use()
  }

  /** Creates the app again. Choices made at the desk override the settings files. */
  #use(mode = this.app.mode, read = this.#read): void {
    const { leash = read.leash, strategy = read.rotationStrategy, models, builds } = this.#said
    const { permissions } = read
    const rules = builds && permissions.mode === 'plan' ? { ...permissions, mode: 'default' as const } : permissions
    const agents = read.agents
      .map((agent) => withChoice(agent, models.get(agent.name)))
      .map((agent) => (this.#said.leash ? { ...agent, leash } : agent))
    const said = { ...read, leash, agents, rotationStrategy: strategy, permissions: rules }
    const needed =
      mode !== 'chat' &&
      !agents.some(({ kind, enabled }) => kind === 'native' || (mode === 'plan' && enabled !== false))
    const settings = inMode(needed ? withFallback(said, this.#spare) : said, mode)
    const { warm } = this.app
    if (warm) warm.idleMs = idleMsOf(settings)
    const roster = openRoster(settings, { ...rosterParts(this.app), warm })
    this.app = { ...this.app, settings, mode, roster, leash: loosestLeash(settings) }
  }

  async #makeCurrent(id: string): Promise<'current' | 'coordinator'> {
    let line: 'current' | 'coordinator' = 'current'
    await this.app.project.doc.update((now) => {
      if (!Object.hasOwn(now.sessions, id))
        throw new UsageError(`there is no session ${id} in this project. /sessions lists them.`)
      line = now.sessions[id]!.mode ?? 'current'
      return { ...now, [line]: id }
    })
    return line
  }
}

const pagesOf = ({ project, session }: AppRecords) => new HistoryPages(project.log, session)
