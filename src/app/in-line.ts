import type { Agent } from '../core/work/agent.ts'
import type { App } from './app.ts'
import type { Bracket } from './bracket.ts'
import { openBracket } from './bracket.ts'
import { say } from '../core/io.ts'
import { runningIn } from './running.ts'

const lookMs = 500

/** A bracket that opens when every turn of the project that was asked before this one is over. */
export function bracketInLine(app: App, prompt: string, signal: AbortSignal): Bracket {
  let bracket: Bracket | undefined
  return {
    get tree() {
      return bracket?.tree
    },
    async begin(turn) {
      await olderOver(app, turn, signal)
      if (signal.aborted) return []
      bracket = await openBracket(app, prompt)
      return bracket.begin(turn)
    },
    end: async (turn) => bracket?.end(turn) ?? [],
  }
}

/** What was said while a turn stood in line belongs to its history. */
export function readingLate(agent: Agent, { conversation }: App): Agent {
  const late: Agent['turn'] = async function* (turn) {
    const history = await conversation.view().catch(() => turn.history)
    yield* agent.turn({ ...turn, history })
  }
  // Not copied: its traits are found out only when somebody asks.
  return Object.create(agent, { turn: { value: late } }) as Agent
}

/** The order of the log decides, so of any number that wait only one goes on; what cannot be seen from here is not waited for. */
async function olderOver({ project, io }: App, turn: string, signal: AbortSignal): Promise<void> {
  for (let told = false; !signal.aborted; told = true) {
    const turns = await runningIn(project, io.clock.now())
    const place = turns.findIndex((one) => one.turn === turn)
    const seen = turns.slice(0, Math.max(0, place)).filter(({ pid }) => pid !== undefined)
    if (seen.length === 0) return
    if (!told) say(io, `Waiting for ${seen.length === 1 ? 'it' : `the ${seen.length} turns before this one`}.`)
    await io.clock.sleep(lookMs, signal)
  }
}
