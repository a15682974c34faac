import type { Event } from '../../src/core/talk/entry.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { person } from '../agents/acp-rig.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

type Ways = { make: (path: string) => { tool: string; input: unknown }; yes: string; auth: string }

/** The agents beside Gemini that speak ACP of their own, in a model's turn of two steps. */
const all: Record<string, Ways> = {
  qwen: {
    make: (path) => ({ tool: 'write_file', input: { file_path: path, content: 'new\n' } }),
    yes: 'proceed_once',
    auth: '401 Incorrect API key provided',
  },
  copilot: {
    make: (path) => ({ tool: 'create', input: { path, file_text: 'new\n' } }),
    yes: 'allow_once',
    auth: 'Authentication failed with provider at',
  },
}

for (const [cli, { make, yes, auth }] of Object.entries(all)) {
  const skip = skipped(cli)

  /** Makes a file, and then only talks; what it asks beside the turn has no tools. */
  const script = (place: () => string): Script => {
    return ({ body }) => {
      if (!body.tools?.length) return { text: 'Aside.' }
      const told = JSON.stringify(body.messages)
      if (told.includes('The second question.')) return { text: 'Answer 2.' }
      return told.includes('"role":"tool"') ? { text: 'Answer 1.' } : { call: make(join(place(), 'new.txt')) }
    }
  }

  test(`${cli} over ACP asks, edits, and goes on with its own session`, { skip }, async () => {
    const { cards, ask } = person([yes])
    let place = () => ''
    await using it = await talk(
      cli,
      script(() => place()),
      { open: acpAgent, ask },
    )
    place = () => it.place().cwd
    const first = await it.say('Make new.txt.', 'ask')
    const second = await it.say('The second question.', 'ask')
    assert.deepEqual(
      {
        shows: cards.map(({ shows }) => shows),
        diffs: first.flatMap((event) => (event.type === 'result' ? [event.data] : [])),
        outcomes: [outcomeOf(first), outcomeOf(second)],
        sources: [...first, ...second].flatMap((event) => (event.type === 'usage' ? [event.source] : [])),
      },
      {
        shows: [[{ type: 'diff', path: 'new.txt', after: 'new\n' }]],
        diffs: [[{ path: 'new.txt', after: 'new\n' }]],
        outcomes: [
          { ok: true, text: 'Answer 1.' },
          { ok: true, text: 'Answer 2.' },
        ],
        sources: ['reported', 'reported'],
      },
    )
    const keys = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'thread' ? [event.key] : []))
    assert.deepEqual(keys(second), keys(first))
    const asked = it.server.asked.find(({ text, body }) => body.tools?.length && text.includes('The second question.'))
    assert.deepEqual(
      ['Make new.txt.', 'Answer 1.', 'The second question.'].map((text) => asked!.text.split(text).length - 1),
      [1, 1, 1],
    )
    assert.deepEqual(await it.left(), [])
  })

  test(`${cli} over ACP makes nothing on a leash to read, and says when its key is refused`, { skip }, async () => {
    let place = () => ''
    await using it = await talk(
      cli,
      script(() => place()),
      { open: acpAgent },
    )
    place = () => it.place().cwd
    assert.deepEqual(outcomeOf(await it.say('Make new.txt.', 'read')), { ok: true, text: 'Answer 1.' })
    assert.equal(existsSync(join(it.place().cwd, 'new.txt')), false)
    await using refused = await talk(cli, () => ({ error: 'key' }), { open: acpAgent })
    const outcome = outcomeOf(await refused.say('Hello.', 'ask'))
    assert.deepEqual(
      outcome?.ok === false ? { kind: outcome.failure.kind, known: outcome.failure.message.startsWith(auth) } : outcome,
      { kind: 'auth', known: true },
    )
  })
}
