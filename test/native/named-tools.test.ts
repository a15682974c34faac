import type { Event } from '../../src/core/talk/entry.ts'
import type { Asked } from '../real/model/script.ts'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { WorkerBoard } from '../../src/crew/workers/board.ts'
import { workerTools } from '../../src/crew/workers/worker-tools.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { json } from '../real/model/script.ts'
import { modelServer } from '../real/model-server.ts'
import { goldenOf } from '../golden.ts'
import { nativeRig } from './native-rig.ts'

const golden = goldenOf(import.meta.filename)

/** The names of tools in a text: words with an underscore, and words that are marked as code and could be a tool. */
const namesIn = (text: string) => [
  ...new Set([...text.matchAll(/\b[a-z]+(?:_[a-z]+)+\b|(?<=`)[a-z]+(?=`)/g)].map(([name]) => name)),
]

/** The fields of a handoff, and the names of blocks, which a prompt names too. */
const noTools =
  /^(what_was_done|unresolved_risks|exact_next_step|not_merged|worker_|plan_mode_boundaries|tool_guidance|planning_process|quality_bar|output_format)/

const coordinator = {
  tools: workerTools({ board: {} as WorkerBoard, clock: realClock, agents: () => [] }),
  digest: async () => undefined,
  holdsBack: async () => undefined,
}

const sessions = {
  agent: {},
  plan: { mode: 'plan' as const },
  worker: { seat: { limits: {} } },
  coordinator: { coordinator },
}

for (const [name, { coordinator, ...given }] of Object.entries<
  Parameters<typeof nativeRig>[2] & { coordinator?: typeof sessions.coordinator.coordinator }
>(sessions))
  test(`every tool that the prompt of a session names is in its request: ${name}`, async (t) => {
    const server = await modelServer(() => ({ text: 'Done.' }))
    t.after(() => server.close())
    const { opened, parts, root } = await nativeRig(t, `${server.url}/v1`, given)
    if (coordinator) parts.state.turn.coordinator = coordinator
    await eventsOf(opened, turnOf({ cwd: root }))
    const { system, tools } = server.turns()[0]!.body as { system: { text: string }[]; tools: { name: string }[] }
    const described = new Set(tools.map((tool) => tool.name))
    const named = namesIn(system.map(({ text }) => text).join('\n')).filter((one) => !noTools.test(one))
    assert.deepEqual(
      { missing: named.filter((one) => !described.has(one)), todo: named.filter((one) => one.startsWith('todo')) },
      { missing: [], todo: todoNames[name]! },
    )
  })

/** The todo tools that a prompt names: a worker and a coordinator have none. */
const todoNames: Record<string, string[]> = {
  agent: ['todo_write', 'todo_update'],
  plan: ['todo_write', 'todo_read', 'todo_update'],
  worker: [],
  coordinator: [],
}

/** The tools for lists of the prompt, and the words by which a list names its tool. */
const listTools = { subagent: 'the tool subagent', load_skill: 'with load_skill' }

/** Which of the tools for lists of the prompt each request names in its prompt, and which it has. */
const listed = (asked: readonly Asked[]) =>
  asked.map(({ body }) => {
    const { system, tools } = body as { system: { text: string }[]; tools: { name: string }[] }
    const text = system.map((part) => part.text).join('\n')
    return {
      named: Object.entries(listTools).flatMap(([name, words]) => (text.includes(words) ? [name] : [])),
      there: Object.keys(listTools).filter((name) => tools.some((tool) => tool.name === name)),
    }
  })

test('the tools that a list of skills or subagents names are in the request, and without the tool there is no list', async (t) => {
  const calls = [{ tool: 'subagent', input: { type: 'looker', task: 'look' } }]
  const server = await modelServer(() => {
    const call = calls.shift()
    return call ? { call } : { text: 'Done.' }
  })
  t.after(() => server.close())
  for (const seat of [{}, { advises: true }]) {
    const { opened, parts, root } = await nativeRig(t, `${server.url}/v1`, { seat })
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(parts.home, path)), { recursive: true })
      writeFileSync(join(parts.home, path), text)
    }
    put('skills/pdf/SKILL.md', '---\nname: pdf\ndescription: Reads them.\n---\nx')
    put('agents/looker.md', '---\nname: looker\ndescription: Looks.\ntools: Read\n---\nYou look.')
    await eventsOf(opened, turnOf({ cwd: root }))
  }
  const [lead, looker, , adviser] = listed(server.turns())
  assert.deepEqual(
    { lead, looker, adviser },
    {
      lead: { named: ['subagent', 'load_skill'], there: ['subagent', 'load_skill'] },
      looker: { named: [], there: [] },
      adviser: { named: ['load_skill'], there: ['load_skill'] },
    },
  )
})

type ChatBody = {
  tools: { function: { name: string } }[]
  messages: { tool_calls?: { function: { name: string } }[] }[]
}

/** The name of a call in the messages that the request does not describe, as strict gateways look for one. */
function undescribed({ body }: Asked): string | undefined {
  const { tools, messages } = body as ChatBody
  const known = new Set(tools.map((tool) => tool.function.name))
  return messages
    .flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.name))
    .find((name) => !known.has(name))
}

const refused = (message: string, code?: string) => ({
  raw: json(400, { error: { message, type: 'invalid_request_error', code } }),
})

const notes = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'note' ? [event.text] : []))

const groq = { model: 'groq/openai/gpt-oss-120b' }

/** Which of some tools each request describes. */
const described = (asked: readonly Asked[]) =>
  asked.map(({ body }) => {
    const names = (body as ChatBody).tools.map((tool) => tool.function.name)
    return ['more_tools', 'ls', 'glob', 'made_up'].filter((name) => names.includes(name)).join(' ')
  })

test('a server that refuses calls of tools which the request does not describe is told of them, once, and it is said', async (t) => {
  const calls = ['ls', 'made_up', 'glob']
  const server = await modelServer((asked) => {
    if (undescribed(asked) !== undefined) return refused('Invalid request: unknown function in tool_calls')
    const tool = calls.shift()
    return tool === undefined ? { text: 'Done.' } : { call: { tool, input: tool === 'glob' ? { pattern: '*' } : {} } }
  })
  t.after(() => server.close())
  const { opened, root } = await nativeRig(t, `${server.url}/v1`, groq)
  const events = await eventsOf(opened, turnOf({ cwd: root }))
  golden(t, { notes: notes(events), end: events.at(-1), described: described(server.turns()) })
})

test('a provider that refuses a call of its own model is told of the tool, and the next turn has it from the start', async (t) => {
  let asked = 0
  const server = await modelServer((request) => {
    asked++
    if (described([request])[0] === 'more_tools')
      return refused(
        "Tool call validation failed: tool call validation failed: attempted to call tool 'ls' which was not in request.tools",
        'tool_use_failed',
      )
    return asked === 2 ? { call: { tool: 'ls', input: {} } } : { text: 'Done.' }
  })
  t.after(() => server.close())
  const { opened, root } = await nativeRig(t, `${server.url}/v1`, groq)
  const events = await eventsOf(opened, turnOf({ cwd: root }))
  const own = { at: 0, by: 'native', session: 's', turn: 'turn-1' }
  const history = events.flatMap((event, at) => (event.type === 'frame' ? [{ ...event, ...own, id: `e${at}` }] : []))
  const next = await eventsOf(opened, turnOf({ cwd: root, history }))
  assert.deepEqual(notes(next), [])
  golden(t, { notes: notes(events), end: events.at(-1), described: described(server.turns()) })
})

test('a call that a provider cannot read is asked for again twice, and not for ten minutes', async (t) => {
  const server = await modelServer(() =>
    refused("Failed to call a function. See 'failed_generation'.", 'tool_use_failed'),
  )
  t.after(() => server.close())
  const { opened, root } = await nativeRig(t, `${server.url}/v1`, groq)
  const events = await eventsOf(opened, turnOf({ cwd: root }))
  const bodies = server.turns().map(({ text }) => text)
  assert.deepEqual([bodies.length, new Set(bodies).size, events.at(-1)?.type], [3, 1, 'end'])
})
