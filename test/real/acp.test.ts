import type { Event } from '../../src/core/talk/entry.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { person } from '../agents/acp-rig.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

const skip = skipped('gemini')
const write = (path: string) => ({ call: { tool: 'write_file', input: { file_path: path, content: `${path}\n` } } })
const shell = (command: string) => ({ call: { tool: 'run_shell_command', input: { command } } })
const twoFiles: Script = ({ count }) => [write('one.txt'), write('two.txt')][count - 1] ?? { text: 'That is all.' }

/** A conversation with Gemini over ACP, and a person who picks these. */
async function geminiAsked(script: Script, ...picks: (string[] | undefined)[]) {
  const { cards, ask } = person(...picks)
  return { cards, ...(await talk('gemini', script, { open: acpAgent, ask })) }
}

/** The events of a turn that are about its tools, without the ids that change. */
function acts(events: readonly Event[]): object[] {
  return events.flatMap((event): object[] => {
    if (event.type === 'call') return [{ tool: event.tool, input: event.input }]
    return event.type === 'result' ? [{ ok: event.ok, ...(event.data ? { data: event.data } : {}) }] : []
  })
}

const calls = (path: string) => ({ tool: 'edit', input: { path } })
const makes = (path: string) => ({ ok: true, data: [{ path, after: `${path}\n` }] })
const yes = ['proceed_once']

test('gemini over ACP asks before it writes, and does what was said', { skip }, async () => {
  const made = [calls('one.txt'), makes('one.txt'), calls('two.txt'), makes('two.txt')]
  const refused = [calls('one.txt'), { ok: false }, calls('two.txt'), { ok: false }]
  const denials = ['edit: one.txt', 'edit: two.txt']
  const all = { ok: true, text: 'That is all.' }
  for (const [how, picks, cards, did, outcome] of [
    ['allowed', [yes, yes], 2, made, all],
    ['always', [['proceed_always']], 1, made, all],
    ['denied', [['cancel'], ['cancel']], 2, refused, all],
    ['nobody', [undefined, undefined], 2, refused, { ...all, denials }],
  ] as const) {
    await using it = await geminiAsked(twoFiles, ...picks.map((pick) => pick && [...pick]))
    const events = await it.say('Make two files.', 'ask')
    assert.deepEqual(
      { how, cards: it.cards.length, did: acts(events), outcome: outcomeOf(events), left: await it.left() },
      { how, cards, did, outcome, left: [] },
    )
    assert.deepEqual(
      ['one.txt', 'two.txt'].map((file) => existsSync(join(it.place().cwd, file))),
      how === 'allowed' || how === 'always' ? [true, true] : [false, false],
    )
    assert.deepEqual(it.cards[0], {
      about: 'permission',
      agent: 'gemini',
      text: 'Writing to one.txt',
      from: [],
      shows: [{ type: 'diff', path: 'one.txt', after: 'one.txt\n' }],
      options: [
        { id: 'proceed_once', label: 'Allow', means: 'once' },
        {
          id: 'proceed_always',
          label: 'Yes, until the turn ends',
          means: 'always',
          grants: 'every edit in the project, until the turn ends',
        },
        { id: 'cancel', label: 'Reject', means: 'no' },
      ],
    })
  }
})

test('gemini over ACP is held by each leash', { skip }, async () => {
  const script: Script = ({ count }) => [write('a.txt'), shell('touch b.txt')][count - 1] ?? { text: 'That is all.' }
  const turn = async (leash: 'read' | 'edit' | 'all') => {
    await using it = await geminiAsked(script, yes)
    writeFileSync(join(it.place().cwd, 'a.txt'), 'before\n')
    const events = await it.say('Change it and look.', leash)
    const cards = it.cards.map(({ shows }) =>
      shows?.map((shown) => (shown.type === 'command' ? shown.command : shown.type)),
    )
    return { cards, text: readFileSync(join(it.place().cwd, 'a.txt'), 'utf8'), did: acts(events).slice(0, 2) }
  }
  const change = { path: 'a.txt', before: 'before\n', after: 'a.txt\n' }
  const changed = { text: 'a.txt\n', did: [calls('a.txt'), { ok: true, data: [change] }] }
  assert.deepEqual(await turn('edit'), { cards: [['touch b.txt']], ...changed })
  assert.deepEqual(await turn('all'), { cards: [], ...changed })
  const { cards, text } = await turn('read')
  assert.deepEqual({ cards, text }, { cards: [], text: 'before\n' })
})

test('gemini over ACP goes on with its own session, and shows nothing of it again', { skip }, async () => {
  await using it = await geminiAsked(({ count }) => ({ text: `Answer ${count}.` }))
  const first = await it.say('The first question.', 'ask')
  // Gemini names its files by the minute: a session that is loaded in the minute in which it began is overwritten by it.
  for (const file of globSync(join(it.place().root, 'home/.gemini/tmp/*/chats/session-*')))
    renameSync(file, file.replace(/session-\d{4}/, 'session-2020'))
  const second = await it.say('The second question.', 'ask')
  const keys = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'thread' ? [event.key] : []))
  const shown = second.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join('')
  assert.deepEqual(
    { keys: keys(second), shown, outcome: outcomeOf(second) },
    { keys: keys(first), shown: 'Answer 2.', outcome: { ok: true, text: 'Answer 2.' } },
  )
  const asked = it.server.turns()[1]!.text
  const times = ['The first question.', 'Answer 1.', 'The second question.'].map((text) => asked.split(text).length - 1)
  assert.deepEqual(times, [1, 1, 1])
  const usage = second.flatMap((event) => (event.type === 'usage' ? [[event.input, event.output, event.source]] : []))
  assert.deepEqual(usage, [[1200, 34, 'reported']])
})

test('gemini over ACP is cancelled, out of quota or not logged in, and says which', { skip }, async () => {
  await using hung = await geminiAsked(() => ({ hang: true }))
  const stop = new AbortController()
  const turn = hung.say('Hello.', 'ask', stop.signal)
  await hung.server.received(1)
  stop.abort()
  assert.deepEqual(outcomeOf(await turn), {
    ok: false,
    failure: { kind: 'aborted', message: 'gemini was cancelled' },
  })
  assert.deepEqual(await hung.left(), [])

  await using spent = await geminiAsked(() => ({ error: 'quota' }))
  assert.deepEqual(outcomeOf(await spent.say('Hello.', 'ask')), {
    ok: false,
    failure: { kind: 'quota', message: 'You have exhausted your daily quota on this model.' },
  })

  await using stranger = await geminiAsked(() => ({ text: 'Hello.' }))
  stranger.place().env.GEMINI_API_KEY = undefined
  assert.deepEqual(outcomeOf(await stranger.say('Hello.', 'ask')), {
    ok: false,
    failure: {
      kind: 'auth',
      message: 'gemini is not logged in (Gemini API key is missing or not configured.); log in with: gemini',
    },
  })
})
