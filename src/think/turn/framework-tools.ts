import type { Leash, Turn } from '../../core/work/agent.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { FrameworkTools } from '../resources.ts'
import type { App } from '../../turn/app.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ToolSet } from '../../native/tools/all-tools.ts'
import type { NativeParts, NativeSeat } from '../../native/native-parts.ts'
import { openReal } from '../../base/files/held-folder.ts'
import { resolve } from 'node:path'
import { tighter } from '../../core/work/agent.ts'
import { newId } from '../../base/id.ts'
import { relay } from '../../base/relay.ts'
import { perform } from '../../core/work/perform.ts'
import { locatePath } from '../../safety/path-location.ts'
import { replTool } from '../../native/tools/repl.ts'
import { openTools, borderedTool } from '../../native/toolbox.ts'
import { policyFor } from '../../native/native-permissions.ts'
import { toolWithHooks } from '../../native/native-hooks.ts'
import { wallFacts } from '../../native/command-wall.ts'
import { agentShell } from '../../native/native-sandbox.ts'
import { isHeld } from '../../safety/rules/command-place.ts'
import { judgeCall } from '../../safety/rules/judged-call.ts'
import { enabledAgents, leashOf } from '../../settings/enabled-agents.ts'

/** Frameworks use tools under our own name, in addition to the agents' own. */
const name = 'termaite'

/** The tools that a framework itself uses, under the same rules, masking and audit as our own agent's. */
export function frameworkTools(app: App): FrameworkTools {
  const { native, place, settings } = app
  return {
    async *use(tool, input, whole) {
      const ask: Turn['ask'] = (question, withdrawn, id) => whole.ask({ agent: name, ...question }, withdrawn, id)
      const box = toolsOf(native)
      const found = box.tools.find((one) => one.name === tool)
      const leash = isTrusted(settings) ? whole.leash : await proposedLeash(found, input, whole, app)
      const turn = { ...whole, ask, leash }
      const seat = seatOf(turn)
      native.state.tools.seats.set(name, seat)
      const held = found && borderedTool(toolWithHooks(found, seat, native), native)
      const policy = await policyFor(seat, box.tools, box.own, native)
      const call = { id: newId(turn.clock.now()), tool: held, name: tool, input }
      return yield* relay(perform(call, turn, policy), (event) => ({ by: name, ...event }))
    },
    hidesMachine: async ({ leash }) =>
      (await wallFacts({ settings, leash: isTrusted(settings) ? leash : tighter(leash, 'edit') }, [], native)) !==
      undefined,
    async read(path) {
      const { real, inside, secret } = await locatePath(resolve(place.cwd, path), {
        root: place.root,
        home: app.io.env.HOME ?? place.home,
      })
      return inside && !secret ? beginningOf(real) : undefined
    },
  }

  function seatOf(turn: Turn): NativeSeat {
    const window = 200_000
    return { agent: { name, kind: 'native', contextWindowTokens: window }, settings, leash: turn.leash, window }
  }
}

/**
 * The leash for a call proposed by an agent that may only read. Behind a wall it reads without a question; the project's own programs,
 * such as its tests, may write in the same places as the actor, because builds do; everything else needs a question.
 */
async function proposedLeash(
  tool: Tool | undefined,
  input: unknown,
  { leash, cwd }: Turn,
  { native, settings }: App,
): Promise<Leash> {
  const asked = tighter(leash, 'ask')
  const wall = tool && (await wallFacts({ settings, leash: 'read' }, toolsOf(native).tools, native))
  if (!wall) return asked
  const bounds = { root: native.root, home: native.env.HOME ?? native.home, added: native.folders.now }
  const { parts, walled } = await judgeCall(tool, tool.parse(input), { ...bounds, cwd })
  if (!walled) return asked
  const isOwn = parts.some(({ class: kind }) => kind === 'runs')
  if (isOwn && (leash === 'edit' || leash === 'all'))
    return parts.every(({ class: kind }) => kind === 'reads' || kind === 'runs') ? 'edit' : asked
  return parts.every((part) => isHeld(part, 'read', bounds, wall)) ? 'read' : asked
}

/** Whether the person gave every agent the leash `all`. */
const isTrusted = (settings: Settings) => enabledAgents(settings).every((agent) => leashOf(settings, agent) === 'all')

/** Our own agent's tools and a REPL; they exist until the run ends. */
function toolsOf(native: NativeParts): ToolSet {
  const known = native.state.tools.toolboxes.get(name)
  if (known) return known.box
  const { clock, blobs, border } = native
  const { tools, close, ...rest } = openTools(name, native, [])
  const { env, interpreter } = agentShell(name, native, () => tools)
  const repl = replTool({ env, clock, blobs, mask: border.toward('work'), interpreter })
  const box = {
    ...rest,
    tools: [...tools, repl.tool],
    async close() {
      await Promise.all([close(), repl.close()])
    },
  }
  native.state.tools.toolboxes.set(name, { box, use: () => {} })
  return box
}

/** The most bytes of a file that frameworks quote from. */
const mostBytes = 1024 * 1024

async function beginningOf(path: string): Promise<string | undefined> {
  try {
    const file = await openReal(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0)
      return buffer.subarray(0, bytesRead).toString('utf8')
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}
