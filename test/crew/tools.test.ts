import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ToolCall } from '../../src/core/work/tool.ts'
import { settled } from '../hand-clock.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { crewTools } from '../../src/crew/tools/crew-tools.ts'
import { crewOf, machine } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const far = Number.MAX_SAFE_INTEGER

/** The tools as a conductor calls them: input in, data out. */
function conductor(context: TestContext) {
  const world = machine()
  const { crew, clock } = crewOf(
    context,
    { claude: world.seat('claude'), gemini: world.seat('gemini') },
    { find: world.find },
  )
  const agents = () => [{ name: 'claude', description: 'writes' }, { name: 'gemini' }]
  const desk = { crew: () => crew, clock, cwd: '/project', leash: 'edit' as const, agents }
  const tools = crewTools(desk)
  const told: string[] = []
  const call = async (name: string, input: unknown, until = far, from = tools): Promise<any> => {
    const tool = from.find((one) => one.name === name)!
    const hands: ToolCall = {
      cwd: '/project',
      signal: new AbortController().signal,
      ask: nobody,
      progress: (delta) => void told.push(delta),
      consult: async () => assert.fail('nobody is consulted here'),
      until,
    }
    const output = await tool.run(tool.parse(input), hands)
    assert.ok(typeof output === 'object')
    fits(tool.output!, output.data, name)
    return output.data
  }
  return { ...world, clock, crew, desk, tools, told, call }
}

/** As strict as a client that checks the structured content. */
function fits(schema: any, value: any, at: string): void {
  if (schema.type === 'object' && schema.properties) {
    for (const key of schema.required ?? []) assert.ok(key in value, `${at}.${key} is missing`)
    for (const key of Object.keys(value)) {
      assert.ok(key in schema.properties, `${at}.${key} is not in the schema`)
      fits(schema.properties[key], value[key], `${at}.${key}`)
    }
  } else if (schema.type === 'array') for (const one of value) fits(schema.items, one, `${at}[]`)
  else if (schema.type === 'integer') assert.ok(Number.isInteger(value), at)
  else if (schema.type !== 'object') assert.equal(typeof value, schema.type, at)
  if (schema.enum) assert.ok(schema.enum.includes(value), `${at}: ${value}`)
}

test('the seven tools, in one order', (context) => {
  assert.deepEqual(
    conductor(context).tools.map(({ name, risk }) => [name, risk]),
    [
      ['spawn_agent', 'run'],
      ['send_to_agent', 'run'],
      ['read_from_agent', 'read'],
      ['wait_for_idle', 'read'],
      ['list_agents', 'read'],
      ['kill_agent', 'run'],
      ['get_artifact', 'read'],
    ],
  )
})

test('a pipeline of two: slot 2 sums up what slot 1 found', async (context) => {
  const { call, clock, answer, pasted } = conductor(context)
  assert.deepEqual(await call('spawn_agent', { type: 'claude', task: 'audit the codebase' }), {
    slot: 1,
    workspace: 'w',
    agent_type: 'claude',
    state: 'starting',
  })
  const second = { agent_type: 'gemini', task: 'summarize: {{slot_1.output}}', depends_on: [1] }
  assert.deepEqual(await call('spawn_agent', second), { slot: 2, workspace: 'w', agent_type: 'gemini', state: 'held' })
  await clock.turn(300)
  const waiting = call('wait_for_idle', { slot: 2 })
  answer(1, 'two faults')
  await clock.turn(1_000)
  answer(2, 'they are small')
  await clock.turn(1_000)
  const { slot, is_idle, state, by } = await waiting
  assert.deepEqual({ slot, is_idle, state, by }, { slot: 2, is_idle: true, state: 'idle', by: 'fence' })
  assert.deepEqual(await call('get_artifact', { slot: 2 }), {
    slot: 2,
    output: 'they are small',
    truncated: false,
    fenced: true,
  })
  assert.deepEqual(pasted, ['audit the codebase', 'summarize: <output slot="1">'])
  assert.deepEqual(await call('kill_agent', { slot: 1 }), { slot: 1, killed: true })
  const { agents } = await call('list_agents', {})
  assert.deepEqual(
    agents.map(({ slot, agent_type, state, why, has_artifact }: any) => [slot, agent_type, state, why, has_artifact]),
    [
      [1, 'claude', 'exited', 'killed', true],
      [2, 'gemini', 'idle', undefined, true],
    ],
  )
})

test('words of an agent are a prompt: they give no command of the person and attach no file', async (context) => {
  const { call, clock, answer, crew } = conductor(context)
  await call('spawn_agent', { type: 'claude', task: '!touch made.txt' })
  await clock.turn(300)
  const said = [
    '/leash all',
    ' !id',
    '# a note',
    'print @/etc/passwd',
    '{{slot_1.output}}',
    'plain words: a/b !',
    'été',
  ]
  for (const text of said) {
    answer(1, 'done')
    await clock.turn(1_000)
    await call('send_to_agent', { slot: 1, text })
    await clock.turn(300)
  }
  const prompts: string[] = []
  for await (const { item } of crew.log(1).read()) if (item?.type === 'prompt') prompts.push(item.text)
  const heading = 'Prompt, sent by termaite:'
  assert.deepEqual(prompts, [
    ...['!touch made.txt', ...said.slice(0, 5)].map((text) => `${heading}\n\n${text}`),
    ...said.slice(5),
  ])
})

test('a walled agent prompts and stops only agents that may do no more than itself', async (context) => {
  const { call, clock, desk } = conductor(context)
  const behind = (leash: 'read' | 'edit') => {
    const tools = crewTools({ ...desk, leash, within: '/project' })
    return (name: string, input: unknown) => call(name, input, far, tools)
  }
  const [reader, editor] = [behind('read'), behind('edit')]
  await call('spawn_agent', { type: 'claude' })
  await editor('spawn_agent', { type: 'claude' })
  await reader('spawn_agent', { type: 'claude', leash: 'edit' })
  await clock.turn(300)
  const may = async (act: typeof reader, slot: number) => {
    const sent = await act('send_to_agent', { slot, text: 'go on' }).catch(({ message }) => message)
    const killed = await act('kill_agent', { slot }).catch(({ message }) => message)
    return [sent, killed]
  }
  const refused = [await may(reader, 1), await may(editor, 1), await may(reader, 2)]
  golden(context, refused)
  const sent = (slot: number) => ({ slot, state: 'busy' })
  assert.deepEqual(
    [
      await editor('send_to_agent', { slot: 3, text: 'go on' }),
      await reader('send_to_agent', { slot: 3, text: 'too' }),
    ],
    [sent(3), sent(3)],
  )
})

test('a wait that its client cuts short says to call again; a wait that ran out does not', async (context) => {
  const { call, clock, told } = conductor(context)
  await call('spawn_agent', { type: 'claude', task: 'long' })
  await clock.turn(300)
  const short = call('wait_for_idle', { slot: 1 }, clock.now() + 50_000)
  await clock.turn(50_000)
  const bounded = await short
  assert.deepEqual([bounded.is_idle, bounded.state, bounded.retry], [false, 'busy', true])
  assert.deepEqual(told, Array(9).fill('slot 1: busy'))
  const own = call('wait_for_idle', { slot: 1, timeout: 10 })
  await clock.turn(10_000)
  const over = await own
  assert.deepEqual([over.is_idle, over.state, over.retry], [false, 'busy', undefined])
})

test('a wait for several slots ends with any of them, or with all', async (context) => {
  const { call, clock, answer } = conductor(context)
  for (const type of ['claude', 'gemini']) await call('spawn_agent', { type, task: 'go' })
  await clock.turn(300)
  answer(2, 'done')
  await clock.turn(300)
  const any = await call('wait_for_idle', { slot: [1, 2], mode: 'any' })
  assert.deepEqual([any.slot, any.is_idle, any.slots.map(({ state }: any) => state)], [2, true, ['busy', 'idle']])
  const all = call('wait_for_idle', { slot: [1, 2] })
  await clock.turn(300)
  answer(1, 'done')
  await clock.turn(300)
  assert.deepEqual([(await all).is_idle, (await all).slots.length], [true, 2])
})

test('a wrong call is refused with words that say what to do', async (context) => {
  const { call, tools } = conductor(context)
  await assert.rejects(call('spawn_agent', { task: 'x' }), {
    message: 'agent_type is missing. Agents: claude (writes), gemini.',
  })
  await assert.rejects(call('spawn_agent', { agent_type: 'claud' }), {
    message: 'there is no agent "claud"; did you mean "claude"?',
  })
  await golden.rejects(context, call('spawn_agent', { agent_type: 'claude', model: '--dangerously-skip-permissions' }))
  await golden.rejects(context, call('send_to_agent', { slot: 7, text: 'x' }))
  const wait = tools.find(({ name }) => name === 'wait_for_idle')!
  assert.deepEqual(wait.parse({ slot: '1' }), { slot: 1 })
  golden.throws(context, () => wait.parse({ slot: 'one' }))
  assert.throws(() => wait.parse({ slots: [1] }), {
    message: 'there is no field slots; the fields are slot, mode, timeout, lines, workspace.',
  })
  assert.throws(() => wait.parse({}), { message: 'slot is missing.' })
  await settled()
})
