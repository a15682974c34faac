import type { Event } from '../../core/talk/entry.ts'
import type { App } from '../app.ts'
import type { TurnWishes } from '../turn.ts'
import { openBracket } from '../bracket.ts'
import { consultant } from '../consultant.ts'
import { shownTo } from '../shown.ts'
import { initAgent } from './agent.ts'

/** What the conversation keeps as the prompt: the instructions are not for whoever goes on. */
export const initPrompt = '/init: look through this project and write its AGENTS.md'

/** A turn like any other: kept, bracketed by snapshots so that it can be undone, and cancelled by its signal. */
export async function* runInit(
  app: App,
  { ask, signal, shown }: Pick<TurnWishes, 'ask' | 'signal' | 'shown'>,
): AsyncGenerator<Event> {
  // Nothing of the conversation is handed over, so nobody need be asked about sharing it.
  const agent = initAgent(consultant(app, []), { root: app.place.root, blobs: app.blobs })
  const around = await openBracket(app, initPrompt)
  const world = {
    cwd: app.place.root,
    leash: 'read' as const,
    signal,
    budget: app.budget,
    around,
    ...(ask ? { ask } : {}),
  }
  try {
    const events = app.conversation.converse(agent, initPrompt, world)
    yield* shown ? shownTo(shown, app.project.root, events) : events
  } finally {
    await agent.close().catch(() => {})
  }
}
