import type { Agent } from '../../core/work/agent.ts'
import type { Model } from '../../core/work/model.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { dirname } from 'node:path'
import { opening } from '../../agents/native/context/opening.ts'
import { frozen } from '../../agents/native/frame.ts'
import { nativeAgent } from '../../agents/native/loop.ts'
import { frameOf } from '../../agents/native/messages.ts'
import { openModel } from '../../models/open.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { openKeys } from '../../safety/keys.ts'
import { boxOf } from './box.ts'
import { heldBy } from './hold.ts'

/** Our own agent on a provider's model: its keys, its tools, its rules, and what its session begins with. */
export async function openNative(seat: NativeSeat, parts: NativeParts, trusted: boolean): Promise<Agent> {
  const { agent, settings } = seat
  const { blobs, clock, cwd, root, home } = parts
  const model = modelOf(seat, parts)
  const date = new Date(clock.now()).toISOString().slice(0, 10)
  const meta = settings.metaInstruction === undefined ? {} : { meta: settings.metaInstruction }
  const opened = opening({ cwd, root, home, trusted }, { mode: 'agent', date, ...meta })
  const { tools, own } = boxOf(agent.name, opened.skills, parts)
  const readable = [...own, ...opened.skills.map(({ path }) => dirname(path))]
  return nativeAgent({
    name: agent.name,
    model,
    tools,
    policy: await heldBy(settings.permissions, readable, parts),
    frame: (turn) =>
      frozen(agent.name, turn, blobs, {
        key: `agent ${model.name}`,
        make: async () => frameOf(opened.system, tools),
      }),
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
