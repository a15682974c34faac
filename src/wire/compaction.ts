import type { Entry, Event, Usage } from '../core/talk/entry.ts'
import type { Agent } from '../core/work/agent.ts'
import type { App } from './app.ts'
import { newId } from '../base/id.ts'
import { needsCompaction } from '../core/talk/compaction.ts'
import { nobody } from '../core/talk/question.ts'
import { consult, outcomeOf } from '../core/work/verbs.ts'
import { openRotation, rosterParts } from './app.ts'
import { openRoster, smallestWindow } from './roster.ts'

export type Compacted = Awaited<ReturnType<App['conversation']['compact']>>

/** Summarises the oldest half by whoever the rotation gives; what it used is kept, its words are not. */
export async function compactNow(app: App, signal = app.io.signal): Promise<Compacted> {
  const used: (Usage & { by?: string })[] = []
  const told = (await app.conversation.read()).entries
  const compacted = await app.conversation.compact((prompt) =>
    outcomeOf(
      consult(summariser(app, told), 'summary', {
        id: newId(app.io.clock.now()),
        prompt,
        history: [],
        attempts: [],
        cwd: app.place.cwd,
        leash: 'read',
        signal,
        clock: app.io.clock,
        ask: nobody,
        budget: app.budget,
        steer: async () => [],
      }),
      ({ event }) => collectUsage(event, used),
    ),
  )
  for (const { by, ...usage } of used) await app.conversation.append(usage, by ?? 'termaite')
  return compacted
}

/** A rotation whose answer is no part of the conversation: nobody is told how to close it, and who cannot be held to reading is out of it alone. */
function summariser(app: App, told: readonly Entry[]): Agent {
  const roster = openRoster({ ...app.settings, metaInstruction: undefined }, rosterParts(app))
  return openRotation(app, { consulted: true, roster, told, out: new Map(app.out) })
}

/** Makes room before a turn that would not fit; gives words for the person when it could not. */
export async function compactIfFull(app: App, view: readonly Entry[]): Promise<string | undefined> {
  if (!needsCompaction(view, smallestWindow(app.settings))) return undefined
  const compacted = await compactNow(app)
  return compacted.ok
    ? 'The oldest half of the conversation is now a summary.'
    : `The conversation is long, and it could not be summarised: ${compacted.why}. Nothing was changed.`
}

function collectUsage(event: Event, into: (Usage & { by?: string })[]): void {
  if (event.type === 'inner') collectUsage(event.event, into)
  if (event.type === 'usage') into.push(event)
}
