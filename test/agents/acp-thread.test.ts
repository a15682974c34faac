import type { Entry } from '../../src/core/talk/entry.ts'
import type { AcpScript } from './acp-rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { ground, played } from './acp-rig.ts'

const entry = (turn: string, at: number, by: string, fact: object) =>
  ({ id: `${turn}-${at}`, at, by, session: 's', turn, ...fact }) as Entry

/** Two turns: the agent's own with its thread, and another's after it. */
const history: Entry[] = [
  entry('t1', 1, 'user', { type: 'prompt', text: 'first question' }),
  entry('t1', 2, 'sayer', { type: 'thread', key: 'thread-1' }),
  entry('t1', 3, 'sayer', { type: 'reply', text: 'first answer' }),
  entry('t1', 4, 'sayer', { type: 'end', outcome: { ok: true, text: '' } }),
  entry('t2', 5, 'user', { type: 'prompt', text: 'second question' }),
  entry('t2', 6, 'other', { type: 'reply', text: 'second answer' }),
  entry('t2', 7, 'other', { type: 'end', outcome: { ok: true, text: '' } }),
]

const script: AcpScript = { steps: [{ say: 'Here.' }], session: 'thread-2' }

/** The requests that the agent got, and the earlier words that were repeated to it. */
async function asked(over: Partial<AcpScript>) {
  await using it = await ground()
  const events = await played(it, { ...script, ...over }, { history, prompt: 'third question' })
  const sent = await it.sent()
  const prompt = sent.find(({ method }) => method === 'session/prompt').params
  const words = ['first question', 'first answer', 'second question', 'second answer', 'third question']
  return {
    methods: sent.flatMap(({ method }) => (method?.startsWith('session/') ? [method] : [])),
    session: prompt.sessionId,
    told: words.filter((text) => prompt.prompt[0].text.includes(text)),
    thread: events.flatMap((event) => (event.type === 'thread' ? [event.key] : [])),
    text: events.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join(''),
    end: events.at(-1),
  }
}

const end = { type: 'end', outcome: { ok: true, text: 'Here.' } }
const all = ['first question', 'first answer', 'second question', 'second answer', 'third question']
const news = ['second question', 'second answer', 'third question']

test('a thread is resumed where the agent can resume, and the agent is told only what it missed', async () => {
  assert.deepEqual(await asked({ resumes: true, loads: true, session: 'thread-1' }), {
    methods: ['session/resume', 'session/prompt'],
    session: 'thread-1',
    told: news,
    thread: ['thread-1'],
    text: 'Here.',
    end,
  })
})

test('an agent that can only load a session replays it: the replay is not shown again, also when it comes late', async () => {
  const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: 'text', text } })
  const replays = [chunk('user_message_chunk', 'first question'), chunk('agent_message_chunk', 'first answer')]
  assert.deepEqual(await asked({ loads: true, replays, session: 'thread-1' }), {
    methods: ['session/load', 'session/prompt'],
    session: 'thread-1',
    told: news,
    thread: ['thread-1'],
    text: 'Here.',
    end,
  })
})

test('a thread that is lost begins anew in the same process, with the whole view', async () => {
  const lost = { code: -32603, message: 'Internal error', data: { details: 'No previous sessions found.' } }
  for (const [way, method] of [
    [{ loads: true }, 'session/load'],
    [{ resumes: true }, 'session/resume'],
  ] as const)
    assert.deepEqual(await asked({ ...way, loadError: lost }), {
      methods: [method, 'session/new', 'session/prompt'],
      session: 'thread-2',
      told: all,
      thread: ['thread-2'],
      text: 'Here.',
      end,
    })
})

test('an agent that cannot go on with a thread gets the whole view, and no thread is kept', async () => {
  assert.deepEqual(await asked({}), {
    methods: ['session/new', 'session/prompt'],
    session: 'thread-2',
    told: all,
    thread: [],
    text: 'Here.',
    end,
  })
})

test('the MCP server of the turn is given to the session', async () => {
  const server = {
    name: 'termaite_turn',
    command: '/bin/node',
    args: ['termaite', 'mcp', 'turn', 'x'],
    env: { A: '1' },
  }
  const patient = { args: ['not', 'these'], ms: 1 }
  const lend = async () => ({ server: { ...server, patient }, folder: '/nowhere' })
  const given = [{ ...server, env: [{ name: 'A', value: '1' }] }]
  await using it = await ground()
  const agent = it.agent({ steps: [{ say: 'Here.' }] }, {}, 'ask', { lend })
  await eventsOf(agent, turnOf({ cwd: it.cwd }))
  await agent.close()
  const [session] = (await it.sent()).filter(({ method }) => method === 'session/new')
  assert.deepEqual(session.params.mcpServers, given)
})
