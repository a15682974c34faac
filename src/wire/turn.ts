import type { Event } from '../core/talk/entry.ts'
import type { App } from './app.ts'
import type { Bracket } from './bracket.ts'
import { openRotation } from './app.ts'
import { openBracket, orWords } from './bracket.ts'
import { compactNow } from './compaction.ts'
import { touch } from './project.ts'

/** `bracket` is one that was opened already, while there was time. */
export type TurnWishes = { prompt: string; agent?: string; signal: AbortSignal; bracket?: Promise<Bracket> }

/** One turn of the rotation, bracketed by snapshots of the project. */
export async function* runTurn(app: App, wishes: TurnWishes): AsyncGenerator<Event> {
  const { conversation, snapshots, io } = app
  const untouched = orWords(
    'that this project was used now is not remembered',
    app.ephemeral ? undefined : touch(app.project, io.clock),
  )
  const bracket = await (wishes.bracket ?? openBracket(app, wishes.prompt))
  const { tree } = bracket
  const agent = openRotation(app, {
    ...(wishes.agent === undefined ? {} : { first: wishes.agent }),
    ...(tree === undefined ? {} : { changes: async () => () => snapshots.changed(tree) }),
    compact: async () => ((await compactNow(app)).ok ? conversation.view() : undefined),
  })
  const around = {
    begin: bracket.begin,
    // Taken before the end is shown: whoever sees the end can undo it.
    end: async (turn: string) => [...(await bracket.end(turn)), ...(await untouched)],
  }
  const world = { cwd: app.place.cwd, leash: app.leash, signal: wishes.signal, budget: app.budget, around }
  try {
    yield* conversation.converse(agent, wishes.prompt, world)
  } finally {
    await agent.close().catch(() => {})
  }
}
