import type { OpenCrew, Crews } from '../../crew/machine/crews.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Values } from './crew-verbs.ts'
import { UsageError } from '../../core/io.ts'
import { failed } from '../../core/talk/outcome.ts'
import { nobody } from '../../core/talk/question.ts'
import { ensureKeeper } from '../../crew/machine/crew-keeper.ts'
import { toolVerbs } from './crew-verbs.ts'

/** The crew that a verb is called on. */
type CalledCrew = { io: Io; place: Place; crews: Crews; open: OpenCrew }

/** Runs a verb that is also an MCP tool. The keeper process finishes what the tool started. */
export async function callVerb(
  { io, place, crews, open }: CalledCrew,
  verb: string,
  words: readonly string[],
  values: Values,
): Promise<{ text: string; data: Record<string, unknown> }> {
  const { tool: name, input } = toolVerbs[verb]!
  const tool = crews.tools.find((one) => one.name === name)!
  const wishes = parseOrUsageError(() => tool.parse({ ...input(words, values), workspace: open.crew.workspace }))
  // A slot's state is up to date only while a keeper runs, and nothing can be sent to an agent that stopped with its keeper.
  if (verb === 'wait' || verb === 'send' || verb === 'artifact') await ensureKeeper(io, place, open)
  const result = await tool.run(wishes, {
    cwd: place.cwd,
    signal: io.signal,
    ask: nobody,
    progress: () => {},
    consult: async () => failed('missing', 'no agent can be consulted here'),
    until: Number.MAX_SAFE_INTEGER,
  })
  if (verb === 'spawn' || verb === 'send') await ensureKeeper(io, place, open)
  return result as { text: string; data: Record<string, unknown> }
}

function parseOrUsageError<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`crew: ${(error as Error).message}.`)
  }
}
