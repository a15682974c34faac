import type { Io } from '../core/io.ts'
import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { Crews } from '../crew/machine/crews.ts'
import type { Place } from '../home/place.ts'
import { isAbsolute } from 'node:path'
import { readSettings } from '../settings/settings.ts'
import { openCrews } from '../crew/machine/crews.ts'
import { placeOf } from '../home/place.ts'

/** The error for a client that has not said which project it works in. */
const whichFolder =
  'This server was started in /, so it does not know which project to work in. Call spawn_agent with cwd, the absolute path of the project folder; the other tools then use the crew of that project. Or set the folder once, in the settings of this MCP client: add "--cwd=<folder>" to the arguments after "mcp", "serve".'

/**
 * The crews of a server that was started in /, as desktop programs start their servers: an agent that works there could change the whole
 * machine. The first spawn names the project, or the client does with the folders (roots) that it works in.
 */
export class CrewsWithoutProject {
  readonly tools: Tool[]
  #io: Io
  #nowhere: Crews
  #open = new Map<string, Promise<Crews>>()
  #chosen: Promise<Crews> | undefined
  #warn: (words: string) => void

  private constructor(io: Io, nowhere: Crews, warn: (words: string) => void) {
    this.#io = io
    this.#nowhere = nowhere
    this.#warn = warn
    this.tools = nowhere.tools.map((tool) => ({ ...tool, run: (input, call) => this.#run(tool, input, call) }))
  }

  static async open(io: Io, place: Place, warn: (words: string) => void): Promise<CrewsWithoutProject> {
    const settings = await readSettings({ home: place.home }, { env: io.env })
    return new CrewsWithoutProject(io, openCrews(io, place, settings, { carries: true, warn }), warn)
  }

  /** The crews of the last named project; undefined if none was named yet. */
  get chosen(): Promise<Crews> | undefined {
    return this.#chosen
  }

  async close(): Promise<void> {
    const open = await Promise.allSettled(this.#open.values())
    await Promise.all(open.flatMap((one) => (one.status === 'fulfilled' ? [one.value.close()] : [])))
    await this.#nowhere.close()
  }

  async #run(tool: Tool, input: unknown, call: ToolCall) {
    const { cwd, workspace } = input as { cwd?: string; workspace?: string }
    const spawns = tool.name === 'spawn_agent'
    const folder = cwd !== undefined && isAbsolute(cwd) ? cwd : undefined
    if (folder !== undefined) this.#chosen = this.#at(folder)
    else if (!this.#chosen) {
      const [root] = (await call.folders?.()) ?? []
      if (root !== undefined) this.#chosen = this.#at(root)
    }
    // A named crew can be inspected from anywhere; an agent needs a folder.
    const crews = await (this.#chosen ?? (workspace !== undefined && !spawns ? this.#nowhere : undefined))
    if (!crews) throw new Error(whichFolder)
    return crews.tools.find(({ name }) => name === tool.name)!.run(input, call)
  }

  #at(folder: string): Promise<Crews> {
    const known = this.#open.get(folder)
    if (known) return known
    const opening = (async () => {
      const place = placeOf(this.#io, folder)
      const settings = await readSettings({ home: place.home, project: place.root }, { env: this.#io.env })
      const crews = openCrews(this.#io, place, settings, { carries: true, warn: this.#warn })
      crews.of()
      return crews
    })()
    this.#open.set(folder, opening)
    // A folder that cannot be used now may exist at the next call.
    opening.catch(() => {
      this.#open.delete(folder)
      this.#chosen = undefined
    })
    return opening
  }
}
