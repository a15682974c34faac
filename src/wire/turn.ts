import type { Event } from '../core/talk/entry.ts'
import type { App } from './app.ts'
import { openRotation } from './app.ts'
import { compactNow } from './compaction.ts'
import { touch } from './project.ts'

export type TurnWishes = { prompt: string; agent?: string; signal: AbortSignal }

/** One turn of the rotation, bracketed by snapshots of the project. */
export async function* runTurn(app: App, wishes: TurnWishes): AsyncGenerator<Event> {
  const { conversation, snapshots, io } = app
  const touched = app.ephemeral ? Promise.resolve() : touch(app.project, io.clock)
  touched.catch(() => {})
  const before = app.ephemeral ? { off: 'nothing is kept of this turn' } : await snapshots.take()
  const agent = openRotation(app, {
    ...(wishes.agent === undefined ? {} : { first: wishes.agent }),
    ...('tree' in before ? { changes: async () => () => snapshots.changed(before.tree) } : {}),
    compact: async () => ((await compactNow(app)).ok ? conversation.view() : undefined),
  })
  const at = io.clock.now()
  let turn = ''
  try {
    for await (const event of conversation.converse(agent, wishes.prompt, {
      cwd: app.place.cwd,
      leash: app.leash,
      signal: wishes.signal,
      budget: app.budget,
    })) {
      if (event.type === 'prompt' && 'turn' in event) turn = event.turn as string
      if ('tree' in before && turn !== '') {
        const kept = { before: before.tree, at, prompt: wishes.prompt.slice(0, 200) }
        // Kept at the start as well, so that a turn that is killed can be undone.
        if (event.type === 'prompt') await snapshots.keep(turn, kept)
        // Taken before the end is shown: whoever sees the end can undo it.
        if (event.type === 'end') {
          const after = await snapshots.take()
          if ('tree' in after) await snapshots.keep(turn, { ...kept, after: after.tree })
        }
      }
      yield event
    }
  } finally {
    await agent.close()
    await touched
  }
}
