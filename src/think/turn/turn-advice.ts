import type { Io } from '../../core/io.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { AdviceAsk } from '../thinking-parts.ts'
import type { TurnAdvice, WithState } from '../../native/native-parts.ts'
import type { Place } from '../../home/place.ts'
import { thinkTool } from '../../native/tools/think.ts'
import { shapeOf, shortMs, TurnServer } from './turn-server.ts'

type TurnPlace = { io: Io; native: WithState<'turn'>; place: Place }

/** Offers advice to the agents of an app until the returned function is called. */
export function offerAdvice(app: TurnPlace, ask: AdviceAsk): () => void {
  const tool = thinkTool(ask, { patience: { clock: app.io.clock, ms: shortMs } })
  return offerTurnTools(app, [tool], { ask }).withdraw
}

/** `isUnused`: a CLI was given the server with the tools, but no CLI has started it. */
type OfferedTools = { withdraw(): void; isUnused(): boolean }

/**
 * Offers tools to the CLIs of an app until they are withdrawn; our own agent already has them. `told` is the text about them that is
 * added to a CLI's prompt. If the app keeps the processes of its CLIs, the server stays open between the turns.
 */
export function offerTurnTools(
  { io, native, place }: TurnPlace,
  tools: readonly Tool[],
  { ask, told }: Pick<TurnAdvice, 'ask' | 'told'>,
): OfferedTools {
  const { turn } = native.state
  const { kept } = turn
  const isFit = kept?.tools?.shape === shapeOf(tools)
  const server = (isFit ? kept?.tools : undefined) ?? new TurnServer(io, place.cwd, tools, kept !== undefined)
  if (kept && !isFit) {
    void kept.tools?.close()
    kept.tools = server
  }
  server.serve(tools)
  const advice: TurnAdvice = { ask, told, folder: server.folder, lend: () => server.lend() }
  turn.advice = advice
  return {
    withdraw() {
      if (turn.advice === advice) delete turn.advice
      if (kept) server.rest()
      else void server.close()
    },
    isUnused: () => server.isUnused,
  }
}
