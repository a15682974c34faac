import type { Served } from '../../faces/mcp/server.ts'
import type { Io } from '../io.ts'
import type { Place } from '../place.ts'
import { noResources } from '../../faces/mcp/resources.ts'
import { version } from '../version.ts'

export type Published = AsyncDisposable & { served: Served }

/** What a client of ours can call and read. */
export async function published(io: Io, place: Place): Promise<Published> {
  const served = { name: 'termaite', version, cwd: place.cwd, clock: io.clock, tools: [], resources: noResources }
  return { served, [Symbol.asyncDispose]: async () => {} }
}
