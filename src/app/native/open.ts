import type { Framed } from '../../agents/native/session-frame.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Model } from '../../core/work/model.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { dirname } from 'node:path'
import { opening } from '../../agents/native/session-opening.ts'
import { frozen } from '../../agents/native/session-frame.ts'
import { nativeAgent } from '../../agents/native/native-loop.ts'
import { frameOf } from '../../agents/native/model-messages.ts'
import { planTools } from '../../tools/all.ts'
import { beforeEach } from './before.ts'
import { boxOf, listed, offered } from './box.ts'
import { heldBy } from './hold.ts'
import { hookedTool, hookedTurn } from './hooked.ts'
import { machineTold } from './machine.ts'
import { maskedTool } from './masked.ts'
import { modelOf } from './model.ts'
import { serversOf } from './servers.ts'
import { subagentsOf } from './subagents.ts'

/** Our own agent on a provider's model, for one turn: its keys, its tools, its rules, and what its session begins with. */
export async function* openNative(
  seat: NativeSeat,
  parts: NativeParts,
  turn: Turn,
  trusted: boolean,
): AsyncGenerator<Event, Agent> {
  const { agent, settings } = seat
  const { blobs, clock, cwd, root, home, lasting } = parts
  const asked = Promise.withResolvers<void>()
  const model = toldWhenAsked(modelOf(seat, parts), asked.resolve)
  const mode = settings.permissions.mode === 'plan' ? 'plan' : 'agent'
  const wishes = { settings: settings.mcpServers, trusted, after: asked.promise }
  const [machine, servers] = await Promise.all([
    machineTold(parts, asked.promise),
    mode === 'plan' ? undefined : serversOf(parts, wishes),
  ])
  const date = new Date(clock.now()).toISOString().slice(0, 10)
  const meta = settings.metaInstruction === undefined ? {} : { meta: settings.metaInstruction }
  const opened = opening({ cwd, root, home, trusted }, { mode, date, system: machine.words, ...meta })
  const { box, use } = boxOf(agent.name, parts)
  const { own } = box
  const tools = offered([...box.tools, ...(servers?.tools() ?? [])], opened.skills).filter(
    ({ name }) => mode === 'agent' || planTools.includes(name),
  )
  const handing = { seat, parts, trusted, model, date, system: machine.words, subagents: opened.subagents, servers }
  use(subagentsOf(handing), listed(opened.skills))
  const readable = [...own, ...opened.skills.map(({ path }) => dirname(path))]
  const watched = (tool: Tool) => maskedTool(hookedTool(tool, seat, parts), parts)
  const watchedIf = (tool: Tool | undefined) => tool && watched(tool)
  const framed = yield* frozen(agent.name, turn, blobs, {
    key: `${mode} ${model.name}${machine.edition}`,
    async make(): Promise<Framed> {
      // A folder that is not trusted was told of before.
      if (trusted) lasting.notes.push(...opened.warnings)
      const told = opened.tells.map(({ about, hash }) => ({ about, hash }))
      return { frame: frameOf(opened.system, tools), told }
    },
  })
  return nativeAgent({
    name: agent.name,
    model,
    tools: tools.map(watched),
    ...hookedTurn(seat, parts),
    ...(servers ? { find: (name) => watchedIf(servers.find(name)) } : {}),
    policy: await heldBy(seat, readable, parts),
    frame: framed.frame,
    before: beforeEach({
      agent: agent.name,
      turn,
      framed,
      opened,
      servers,
      tell: (words) => void lasting.notes.push(words),
      window: () => Math.min(seat.window, model.window),
    }),
  })
}

/** Servers start once the first request is on its way: nobody waits for them who does not need them. */
function toldWhenAsked(model: Model, asked: () => void): Model {
  return {
    name: model.name,
    get window() {
      return model.window
    },
    stream(request, signal) {
      asked()
      return model.stream(request, signal)
    },
  }
}
