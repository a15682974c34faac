import type { Turn } from '../../core/work/agent.ts'
import type { FrameworkTools } from '../../mind/think/resources.ts'
import type { App } from '../app.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ToolSet } from '../../tools/all.ts'
import type { NativeParts, NativeSeat } from '../native/native-parts.ts'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { tighter } from '../../core/work/agent.ts'
import { newId } from '../../base/id.ts'
import { relay } from '../../base/relay.ts'
import { perform } from '../../core/work/perform.ts'
import { locatePath } from '../../safety/path-location.ts'
import { replTool } from '../../tools/repl.ts'
import { openTools, borderedTool } from '../native/toolbox.ts'
import { policyFor } from '../native/native-permissions.ts'
import { toolWithHooks } from '../native/native-hooks.ts'
import { sandboxedShell } from '../native/native-sandbox.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'

/** Frameworks use tools under our own name, beside any agent. */
const name = 'termaite'

/** The tools that a framework uses itself, under the same rules, masking and audit as our own agent's. */
export function frameworkTools(app: App): FrameworkTools {
  const { native, place, settings } = app
  return {
    async *use(tool, input, whole) {
      const ask: Turn['ask'] = (question, withdrawn, id) => whole.ask({ agent: name, ...question }, withdrawn, id)
      // The call was proposed by an agent that may have a tighter leash than the actor, so dangerous calls are asked about.
      const leash = isTrusted(settings) ? whole.leash : tighter(whole.leash, 'edit')
      const turn = { ...whole, ask, leash }
      const seat = seatOf(turn)
      native.state.seats.set(name, seat)
      const box = toolsOf(native)
      const found = box.tools.find((one) => one.name === tool)
      const held = found && borderedTool(toolWithHooks(found, seat, native), native)
      const policy = await policyFor(seat, box.tools, box.own, native)
      const call = { id: newId(turn.clock.now()), tool: held, name: tool, input }
      return yield* relay(perform(call, turn, policy), (event) => ({ by: name, ...event }))
    },
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

/** Whether the person gave every agent the leash `all`. */
const isTrusted = (settings: Settings) => enabledAgents(settings).every(({ leash = settings.leash }) => leash === 'all')

/** Our own agent's tools and a REPL; they last until the run ends. */
function toolsOf(native: NativeParts): ToolSet {
  const known = native.state.toolboxes.get(name)
  if (known) return known.box
  const { clock, blobs, border } = native
  const { tools, own, close } = openTools(name, native, [])
  const { env, shell } = sandboxedShell(name, native, () => tools)
  const repl = replTool({ env, clock, blobs, mask: border.toward('work'), shell })
  const box = {
    tools: [...tools, repl.tool],
    own,
    async close() {
      await Promise.all([close(), repl.close()])
    },
  }
  native.state.toolboxes.set(name, { box, use: () => {} })
  return box
}

/** Frameworks quote from no more than this of a file. */
const mostBytes = 1024 * 1024

async function beginningOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path)
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
