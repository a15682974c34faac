import type { TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { Script } from '../../agents/scripted-agent.ts'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { Turn } from '../../../src/core/work/agent.ts'
import type { Tool } from '../../../src/core/work/tool.ts'
import type { TreeLimits } from '../../../src/core/work/tree-budget.ts'
import type { ModelScript } from '../../models/scripted-model.ts'
import { nativeAgent } from '../../../src/native/loop/native-loop.ts'
import { frameOf } from '../../../src/native/loop/model-messages.ts'
import { digestOf } from '../../../src/crew/workers/digest.ts'
import { FinalAnswer } from '../../../src/crew/workers/final-answer.ts'
import { coordinatingAgent } from '../../../src/crew/workers/coordinator.ts'
import { usualLimits } from '../../../src/core/work/tree-budget.ts'
import { workerTools } from '../../../src/crew/workers/worker-tools.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { turnOf } from '../../contract/agent.ts'
import { boardOf, wish } from './board-rig.ts'

/** `limits`: those of the turn's budget; `places`: how many agents may work at once. */
type CoordinatorRig = Omit<NonNullable<Parameters<typeof boardOf>[2]>, 'limits'> & {
  limits?: Partial<TreeLimits>
  places?: { perWorkspace: number; total: number }
}

/** A native coordinator with a scripted model and workers that play the script of their name. */
export function coordinator(
  context: TestContext,
  model: ModelScript[],
  workers: Record<string, Script> = {},
  { limits, places, ...part }: CoordinatorRig = {},
) {
  const rig = boardOf(context, workers, places ? { ...part, limits: places } : part)
  const scripted = scriptedModel(model)
  const final = new FinalAnswer(rig.board)
  const desk = { board: rig.board, clock: rig.clock, agents: () => [{ name: 'native' }] }
  const tools: Tool[] = workerTools(desk)
  const native = nativeAgent({
    name: 'native',
    model: scripted,
    tools,
    policy: async () => ({ verdict: 'yes', why: 'it is a test' }),
    frame: frameOf('Coordinate.', tools),
    aside: (_, messages) => digestOf(rig.board, rig.clock.now(), messages),
    ends: () => final.holdsBack(),
  })
  let closed = 0
  const agent = coordinatingAgent(
    native,
    async (_, host, tree) => {
      rig.lead.host = host
      rig.lead.tree = tree
      return {
        board: rig.board,
        final,
        async close() {
          closed++
          await rig.board.stopAll()
        },
      }
    },
    { ...usualLimits, ...limits },
  )
  const run = (signal = new AbortController().signal, turn: Partial<Turn> = {}) => {
    const events: Event[] = []
    const over = (async () => {
      for await (const event of agent.turn(turnOf({ id: 'turn', clock: rig.clock, signal, prompt: 'Do it.', ...turn })))
        events.push(event)
      const end = events.at(-1)!
      return end.type === 'end' ? end.outcome : assert.fail('no end')
    })()
    return { events, over }
  }
  return { ...rig, model: scripted, run, closed: () => closed }
}

export const call = (id: string, tool: string, input: unknown) => ({ type: 'call' as const, id, tool, input })
export const spawn = (...names: string[]) => [
  call('s', 'spawn_workers_batch', { workers: names.map((name) => wish(name)) }),
]
export const gather = [call('g', 'await_workers', {})]
