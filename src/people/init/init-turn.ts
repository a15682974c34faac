import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { App } from '../../turn/app.ts'
import type { TurnRequest } from '../../app/turn.ts'
import { basename } from 'node:path'
import { defined } from '../../base/defined.ts'
import { relay } from '../../base/relay.ts'
import { oneLine } from '../../base/text/table.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { readText } from '../../core/talk/store.ts'
import { consult } from '../../core/work/verbs.ts'
import { openConsultant } from '../../turn/rotation.ts'
import { runOpened } from '../../app/turn.ts'
import { openTurnSnapshots } from '../../turn/turn-snapshots.ts'
import { documentIn, findDocument, writeDocument } from './agents-file.ts'
import { initInstructions } from './init-instructions.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The prompt that the conversation stores: the agents of later turns do not need the long instructions. */
export const initPrompt = '/init: look through this project and write its AGENTS.md'

/** Runs the turn that writes AGENTS.md. This turn is stored, can be undone and can be cancelled like any other. */
export function runInit(
  app: App,
  { ask, signal, peers }: Pick<TurnRequest, 'ask' | 'signal' | 'peers'>,
): AsyncGenerator<Event> {
  const { place, blobs, budget } = app
  return runOpened(app, { prompt: initPrompt, peers }, async () => ({
    // No history is passed on, so there is no need to ask the person whether another vendor may see it.
    agent: initAgent(openConsultant(app, []), { root: place.root, blobs }),
    world: {
      cwd: place.root,
      leash: 'read',
      signal,
      budget,
      around: openTurnSnapshots(app, initPrompt),
      ask,
    },
  }))
}

/**
 * An agent whose turn writes AGENTS.md: it consults another agent for the text, shows the person what would change, and
 * writes the file after a yes. Its answer is the text that was written, so that the conversation knows it too.
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
        outcome = failed('crash', `AGENTS.md was not written: ${messageOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: () => advisor.close(),
  }
}

async function* investigate(advisor: Agent, root: string, blobs: Blobs, turn: Turn): AsyncGenerator<Event, Outcome> {
  // Throws before an agent works for minutes, if the file cannot be written anyway.
  findDocument(root)
  let by = advisor.name
  const asked = consult(advisor, 'init', { ...turn, prompt: initInstructions, history: [], cwd: root })
  const outcome = yield* relay(asked, (inner) => {
    if (inner.event.type === 'reply') by = inner.event.by ?? by
    return inner
  })
  if (!outcome.ok) return outcome
  const answer = outcome.whole ? await readText(blobs, outcome.whole) : outcome.text
  const document = documentIn(answer)
  if (document === undefined)
    return failed(
      'crash',
      `${by} did not answer with an AGENTS.md, so nothing was written. It said: ${oneLine(answer, 300)}`,
    )
  return yield* write(document, by, root, turn)
}

async function* write(document: string, by: string, root: string, turn: Turn): AsyncGenerator<Event, Outcome> {
  const found = findDocument(root)
  if (found.text === document) return { ok: true, text: 'AGENTS.md is already up to date; nothing was changed.' }
  const isNew = found.text === undefined
  const picks = await turn.ask(
    {
      about: 'permission',
      text: isNew ? `${by} wrote an AGENTS.md. Keep it?` : `${by} proposes these changes to AGENTS.md. Write them?`,
      from: [],
      shows: [defined({ type: 'diff' as const, path: 'AGENTS.md', before: found.text, after: document })],
      options: consentOptions({
        once: { id: 'write', label: isNew ? 'Yes, write it' : 'Yes, write it, and keep a copy of the old one' },
        no: { id: 'leave', label: 'No, leave the project as it is' },
      }),
    },
    turn.signal,
  )
  if (!picks?.includes('write')) return { ok: true, text: 'Nothing was written.' }
  if (findDocument(root).text !== found.text)
    return failed('crash', 'AGENTS.md was changed meanwhile, so nothing was written; try again')
  const backup = writeDocument(found, document, turn.clock.now())
  yield { type: 'reply', text: document, by }
  yield {
    type: 'note',
    by: 'termaite',
    text: `${found.path} was written${backup ? `; the previous version is in ${basename(backup)}` : ''}`,
  }
  return { ok: true, text: document }
}
