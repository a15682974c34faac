import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { App } from '../app.ts'
import type { TurnWishes } from '../turn.ts'
import { basename } from 'node:path'
import { relay } from '../../base/relay.ts'
import { wordsOf } from '../../base/words.ts'
import { failed } from '../../core/talk/outcome.ts'
import { readText } from '../../core/talk/store.ts'
import { consult } from '../../core/work/verbs.ts'
import { oneLine } from '../../base/table.ts'
import { documentIn, findDocument, writeDocument } from './agents-file.ts'
import { initInstructions } from './init-instructions.ts'
import { openBracket } from '../turn-snapshots.ts'
import { openConsultant } from '../rotation.ts'
import { shownTo } from '../turn.ts'

/**
 * An agent whose turn is an AGENTS.md: another one is consulted for it, the person sees what would change,
 * and after a yes it is written here. What was written is its answer, so the conversation knows it too.
 */
export function initAgent(advisor: Agent, { root, blobs }: { root: string; blobs: Blobs }): Agent {
  return {
    name: 'termaite',
    traits: { ...advisor.traits, steers: false },
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* investigate(advisor, root, blobs, turn)
      } catch (error) {
        outcome = failed('crash', `AGENTS.md was not written: ${wordsOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: () => advisor.close(),
  }
}

async function* investigate(advisor: Agent, root: string, blobs: Blobs, turn: Turn): AsyncGenerator<Event, Outcome> {
  // What stands in the way is told before anybody works for minutes.
  findDocument(root)
  const asked = consult(advisor, 'init', { ...turn, prompt: initInstructions, history: [], cwd: root })
  let by = advisor.name
  const outcome = yield* relay(asked, (inner) => {
    if (inner.event.type === 'reply') by = inner.event.by ?? by
    return inner
  })
  if (!outcome.ok) return outcome
  const answer = outcome.whole ? await readText(blobs, outcome.whole) : outcome.text
  const document = documentIn(answer)
  if (document === undefined)
    return failed('crash', `${by} gave no AGENTS.md, so nothing was written. It said: ${oneLine(answer, 300)}`)
  return yield* written(document, by, root, turn)
}

async function* written(document: string, by: string, root: string, turn: Turn): AsyncGenerator<Event, Outcome> {
  const found = findDocument(root)
  if (found.text === document) return { ok: true, text: 'AGENTS.md says all of it already; nothing was changed.' }
  const picks = await turn.ask(
    {
      about: 'permission',
      text:
        found.text === undefined
          ? `${by} wrote an AGENTS.md. Keep it?`
          : `${by} would change AGENTS.md like this. Do it?`,
      from: [],
      shows: [
        {
          type: 'diff',
          path: 'AGENTS.md',
          ...(found.text === undefined ? {} : { before: found.text }),
          after: document,
        },
      ],
      options: [
        { id: 'write', label: found.text === undefined ? 'Write it' : 'Write it, and keep a copy of the old one' },
        { id: 'leave', label: 'Leave the project as it is' },
      ],
    },
    turn.signal,
  )
  if (!picks?.includes('write')) return { ok: true, text: 'Nothing was written.' }
  if (findDocument(root).text !== found.text)
    return failed('crash', 'AGENTS.md was changed by somebody else meanwhile, so nothing was written; try again')
  const backup = writeDocument(found, document, turn.clock.now())
  yield { type: 'reply', text: document, by }
  yield {
    type: 'note',
    by: 'termaite',
    text: `${found.path} is written${backup ? `; the one before is ${basename(backup)}` : ''}`,
  }
  return { ok: true, text: document }
}

/** What the conversation keeps as the prompt: the instructions are not for whoever goes on. */
export const initPrompt = '/init: look through this project and write its AGENTS.md'

/** A turn like any other: kept, bracketed by snapshots so that it can be undone, and cancelled by its signal. */
export async function* runInit(
  app: App,
  { ask, signal, shown }: Pick<TurnWishes, 'ask' | 'signal' | 'shown'>,
): AsyncGenerator<Event> {
  // Nothing of the conversation is handed over, so nobody need be asked about sharing it.
  const agent = initAgent(openConsultant(app, []), { root: app.place.root, blobs: app.blobs })
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
