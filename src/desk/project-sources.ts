import type { App } from '../turn/app.ts'
import type { NamedResource, PastedPictures, PromptSources } from '../chat/desk/chat-desk.ts'
import { pastedPaths, pastedPicture } from '../turn/attachments/attachments.ts'
import { personServers } from '../native/person-servers.ts'
import { nativeAgents } from '../settings/enabled-agents.ts'
import { openFinder } from '../native/tools/file-finder.ts'
import { pastPrompts } from './history-pages.ts'

/** The files, resources, pictures and earlier prompts of the project that is open at a desk. */
export class ProjectSources implements PromptSources {
  #app: () => App
  #closed: AbortSignal
  #finder: ReturnType<typeof openFinder> | undefined

  /** `closed` aborts when the desk is closed. */
  constructor(app: () => App, closed: AbortSignal) {
    this.#app = app
    this.#closed = closed
  }

  files(typed: string, most: number, signal: AbortSignal): Promise<string[]> {
    const { place, io } = this.#app()
    this.#finder ??= openFinder(place.cwd, { env: io.env, clock: io.clock, signal: this.#closed })
    return this.#finder.find(typed, most, signal)
  }

  async resources(typed: string, signal: AbortSignal): Promise<NamedResource[]> {
    const { native, settings } = this.#app()
    // Without an agent of ours none of these servers was started, and an @ does not start them.
    if (!native.state.mcp.servers && nativeAgents(settings).length === 0) return []
    const servers = await (native.state.mcp.servers ?? personServers(this.#app()).open())
    return servers?.mentions(typed, signal) ?? []
  }

  keepPicture(bytes: Uint8Array, name: string): Promise<PastedPictures | undefined> {
    return pastedPicture(bytes, name, this.#app().blobs)
  }

  keepPastedPaths(readings: readonly (readonly string[])[]): Promise<PastedPictures | undefined> {
    const { place, io, blobs } = this.#app()
    return pastedPaths(readings, { cwd: place.cwd, home: io.env.HOME }, blobs)
  }

  sentPrompts(): Promise<string[]> {
    return pastPrompts(this.#app().project.log)
  }
}
