import type { ToolServerOptions } from '../../faces/mcp/tool-server.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import { openCrews } from '../crew/crews.ts'
import { crewResources } from '../crew/resources.ts'
import { say } from '../../core/io.ts'
import { readSettings } from '../../settings/settings.ts'
import { version } from '../version.ts'

export type Published = AsyncDisposable & { served: ToolServerOptions }

const instructions =
  'Agents in terminals of their own. spawn_agent starts one in a slot, wait_for_idle tells when it is done, get_artifact gives its answer, send_to_agent speaks to it again. Chain them with depends_on and {{slot_N.output}}.'

/** What a client of ours can call and read. Agents that a dead server left are taken up at once. */
export async function published(io: Io, place: Place): Promise<Published> {
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const warn = (why: string) => say(io, `termaite: ${why}`)
  const crews = openCrews(io, place, settings, { carries: true, warn })
  crews.of()
  const served: ToolServerOptions = {
    name: 'termaite',
    version,
    instructions,
    cwd: place.cwd,
    clock: io.clock,
    tools: crews.tools,
    resources: crewResources(crews),
  }
  return { served, [Symbol.asyncDispose]: () => crews.close() }
}
