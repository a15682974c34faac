import type { Agent } from '../../core/work/agent.ts'
import type { Model } from '../../core/work/model.ts'
import type { ToolSet } from '../../tools/all.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { opening } from '../../agents/native/context/opening.ts'
import { frozen } from '../../agents/native/frame.ts'
import { nativeAgent } from '../../agents/native/loop.ts'
import { frameOf } from '../../agents/native/messages.ts'
import { leashPolicy } from '../../core/work/policy.ts'
import { openModel } from '../../models/open.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { openKeys } from '../../safety/keys.ts'
import { nativeTools } from '../../tools/all.ts'

/** Our own agent on a provider's model: its keys, its tools, and what its session begins with. */
export async function openNative(seat: NativeSeat, parts: NativeParts): Promise<Agent> {
  const { agent, settings } = seat
  const { blobs } = parts
  const model = modelOf(seat, parts)
  const { tools } = boxOf(agent.name, parts)
  const ground = { cwd: parts.cwd, root: parts.root, home: parts.home, trusted: false }
  const make = async () => {
    const date = new Date(parts.clock.now()).toISOString().slice(0, 10)
    const meta = settings.metaInstruction === undefined ? {} : { meta: settings.metaInstruction }
    return frameOf(opening(ground, { mode: 'agent', date, ...meta }).system, tools)
  }
  return nativeAgent({
    name: agent.name,
    model,
    tools,
    policy: leashPolicy,
    frame: (turn) => frozen(agent.name, turn, blobs, { key: `agent ${model.name}`, make }),
  })
}

function modelOf({ agent, window }: NativeSeat, parts: NativeParts): Model {
  const { blobs, clock, session, home, env } = parts
  const name = agent.model ?? defaultModel
  const named = modelName(name)
  const keys = openKeys({ home, env })
  const variables = agent.apiKeyEnv ? [agent.apiKeyEnv] : 'wrong' in named ? [] : providerOf(named.provider).keys
  return openModel(
    { model: name, ...(agent.baseURL ? { baseURL: agent.baseURL } : {}), window },
    {
      blobs,
      clock,
      session,
      key: async () => ('wrong' in named ? undefined : (await keys.get(named.provider, variables))?.key),
    },
  )
}

function boxOf(name: string, { boxes, root, env, clock, blobs, mask }: NativeParts): ToolSet {
  const known = boxes.get(name)
  if (known) return known
  const box = nativeTools({ root, env, clock, blobs, mask })
  boxes.set(name, box)
  return box
}
